// SPDX-License-Identifier: BSD-2-Clause
#include "base/signals.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/outfile.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int taken[SIGNALS_TAKEN] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };

static const struct sigaction usual = { .sa_handler = SIG_DFL };

static bool is_stop(int number)
{
	return number != SIGCHLD; /* that one says that the command has ended */
}

static unsigned int meaning(int number)
{
	if (number == SIGHUP)
		return SIGNALS_HANGUP;
	return is_stop(number) ? SIGNALS_STOP : 0;
}

/* write(2) says so, too. */
static void ignore_file_size(struct sigaction *before)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignored, before);
}

int signals_take(struct signals *ret)
{
	sigset_t set;

	sigemptyset(&set);
	ignore_file_size(&ret->file_size_before);
	for (int i = 0; i < SIGNALS_TAKEN; i++) {
		if (sigaction(taken[i], NULL, &ret->before[i]))
			return fail_errno(-errno, "cannot handle signal %d", taken[i]);
		if (taken[i] == SIGHUP && ret->before[i].sa_handler == SIG_IGN)
			continue; /* nohup */
		/* a shell's background job begins with SIGINT ignored, which would drop
		 * it */
		sigaction(taken[i], &usual, NULL);
		sigaddset(&set, taken[i]);
	}
	if (sigprocmask(SIG_BLOCK, &set, &ret->mask_before))
		return fail_errno(-errno, "cannot block signals");
	ret->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return ret->fd < 0 ? fail_errno(-errno, "cannot read signals") : 0;
}

void signals_close(struct signals *signals)
{
	close(signals->fd);
}

unsigned int signals_read(const struct signals *signals)
{
	struct signalfd_siginfo info;
	unsigned int said = 0;

	while (read(signals->fd, &info, sizeof(info)) == sizeof(info))
		said |= meaning((int)info.ssi_signo);
	return said;
}

bool signals_say_stop(const struct signals *signals)
{
	return signals_read(signals);
}

bool signals_pend(void)
{
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (int i = 0; i < SIGNALS_TAKEN; i++)
		if (is_stop(taken[i]) && sigismember(&pending, taken[i]) > 0)
			return true;
	return false;
}

/* timeout(1) stops what it runs and then all of its process group, so that one signal
 * comes twice; a key is easily hit twice. */
#define SAME_NS SECOND_NS

static const char *last_words;
static uint64_t let_go_ns;

static void end_at_once(int number)
{
	if (last_words && clock_now_ns() - let_go_ns < SAME_NS)
		return;
	outfile_abandon(last_words);
	sigaction(number, &usual, NULL);
	raise(number); /* for when we return */
}

void signals_let_go(const char *what_ends)
{
	const struct sigaction end = { .sa_handler = end_at_once,
				       .sa_flags = SA_RESTART };
	struct sigaction now;
	sigset_t set;

	last_words = what_ends;
	let_go_ns = clock_now_ns();
	ignore_file_size(NULL);
	sigemptyset(&set);
	for (int i = 0; i < SIGNALS_TAKEN; i++) {
		if (!is_stop(taken[i]))
			continue;
		/* a shell's background job, which a report stays */
		if (!sigaction(taken[i], NULL, &now) && now.sa_handler == SIG_IGN)
			continue;
		sigaction(taken[i], &end, NULL);
		sigaddset(&set, taken[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_restore(const struct signals *signals)
{
	for (int i = 0; i < SIGNALS_TAKEN; i++)
		sigaction(taken[i], &signals->before[i], NULL);
	sigaction(SIGXFSZ, &signals->file_size_before, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}
