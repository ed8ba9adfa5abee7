// SPDX-License-Identifier: BSD-2-Clause
#include "worker/remote_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "worker/worker_sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 100
#define LATE_MAX  3
#define FORGET_NS (20 * SECOND_NS)
#define REAP_MS	  10

static _Noreturn void read_words(pid_t pid, const uint64_t *addrs, unsigned int n,
				 const uint32_t *before, int out)
{
	uint32_t words[REMOTE_READER_WORDS_MAX];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* what it holds open would live as long as it waits: the perf events, too */
	out = sandbox_files(out);
	memcpy(words, before, n * sizeof(*words));
	for (unsigned int i = 0; i < n; i++) {
		struct iovec here = { &words[i], sizeof(words[i]) };
		struct iovec there = { (void *)(uintptr_t)addrs[i], sizeof(words[i]) };

		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(words[i]))
			words[i] = before[i];
	}
	_exit(write(out, words, n * sizeof(*words)) < 0);
}

/* False: it is there still. */
static bool has_ended(pid_t child)
{
	return waitpid(child, NULL, WNOHANG) != 0;
}

static void reap_left(struct remote_reader *reader)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < reader->n_left; i++)
		if (!has_ended(reader->left[i]))
			reader->left[n++] = reader->left[i];
	reader->n_left = n;
}

/* A child that does not die of it at once is asked again before the next one. */
static void end_child(struct remote_reader *reader, pid_t child)
{
	kill(child, SIGKILL);
	for (int ms = 0; ms < REAP_MS; ms++) {
		if (has_ended(child))
			return;
		usleep(1000);
	}
	reader->left[reader->n_left++] = child;
}

static bool is_tired(const struct remote_reader *reader)
{
	return reader->full_ns > clock_now_ns() + (LATE_MAX - 1) * FORGET_NS;
}

static void note_late(struct remote_reader *reader, pid_t pid)
{
	uint64_t now = clock_now_ns();
	bool is_first = reader->full_ns <= now;

	reader->full_ns = (is_first ? now : reader->full_ns) + FORGET_NS;
	if (!is_first)
		return;
	log_warn("process %d can't be read in time: weft does not know which of its "
		 "async keys are set",
		 (int)pid);
}

bool remote_reader_read(struct remote_reader *reader, pid_t pid, const uint64_t *addrs,
			unsigned int n, uint32_t *ret)
{
	const size_t bytes = n * sizeof(*ret);
	struct pollfd answer = { .fd = -1, .events = POLLIN };
	int ends[2], ready;
	pid_t child;
	bool came;

	reap_left(reader);
	if (n > REMOTE_READER_WORDS_MAX || is_tired(reader) ||
	    reader->n_left >= REMOTE_READER_LEFT_MAX || pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		read_words(pid, addrs, n, ret, ends[1]);
	close(ends[1]);
	answer.fd = ends[0];
	ready = child > 0 ? poll(&answer, 1, ANSWER_MS) : -1;
	/* one write of less than a page: all of it or nothing */
	came = ready > 0 && read(ends[0], ret, bytes) == (ssize_t)bytes;
	close(ends[0]);
	if (child > 0)
		end_child(reader, child);
	if (!ready)
		note_late(reader, pid);
	return came;
}
