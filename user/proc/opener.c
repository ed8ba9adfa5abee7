// SPDX-License-Identifier: BSD-2-Clause
#include "proc/opener.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "proc/held.h"
#include "proc/opener_parts.h"
#include "worker/supervisor.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#define MS	     1000000ULL
#define PATIENCE_NS  (250 * MS) /* for one who holds us up */
#define HURRIED_NS   (50 * MS)
#define HURRIED_MAX  4		 /* misses after opener_hurry(): then nobody is asked */
#define STARVED_NS   (1000 * MS) /* more, for one that has not waited but for a CPU */
#define HELD_LOOK_MS 20

/* Beside errors, how an answer was missed: somebody held up the opener, or he, or it,
 * lacked a CPU. */
enum { HELD = 1, LACKED_CPU };

static int start(struct opener *opener)
{
	static const struct supervised openers = {
		.name = "weft-openers",
		.child_name = "weft-opener",
		.run = opener_run,
		.is_privileged = true,
	};
	int sock = supervisor_ask(&opener->supervisor, &openers, &opener->pid);

	if (sock < 0)
		return sock;
	opener->sock = sock;
	return 0;
}

int opener_new(struct opener **ret)
{
	AUTO(opener) opener = calloc(1, sizeof(*opener));
	int err;

	if (!opener)
		return fail(-ENOMEM, "no memory for an opener");
	opener->sock = -1;
	opener->supervisor = (struct supervisor){ -1, -1 };
	payer_ids_read(&opener->ids);
	err = start(opener);
	if (err)
		return err;
	*ret = GIVE(opener);
	return 0;
}

void opener_free(struct opener *opener)
{
	if (!opener)
		return;
	if (opener->sock >= 0)
		close(opener->sock);
	supervisor_end(&opener->supervisor);
	barred_free(&opener->barred);
	barred_free(&opener->barred_words);
	free(opener);
}

void opener_hurry(struct opener *opener)
{
	if (opener)
		opener->is_hurried = true;
}

struct opener_counts opener_counts(const struct opener *opener)
{
	return opener ? opener->counts : (struct opener_counts){ 0 };
}

/* Those that could end meanwhile make room. */
static bool may_leave_another(struct opener *opener)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < opener->n_left; i++)
		if (held_is_there(opener->left[i]))
			opener->left[n++] = opener->left[i];
	opener->n_left = n;
	return n < OPENER_LEFT_MAX;
}

/* Nobody waits for it; the supervisor ends it with the next one's beginning. */
static void leave(struct opener *opener)
{
	close(GIVE_FD(opener->sock));
	opener->counts.held++;
	opener->n_hurried += opener->is_hurried;
	if (may_leave_another(opener))
		opener->left[opener->n_left++] = opener->pid;
}

/* Who holds up one that reads his memory has a page that does not come, and his files are
 * read all the same. */
static struct barred *barred_from(struct opener *opener, enum opener_kind kind)
{
	bool is_memory = kind == OPENER_WORDS || kind == OPENER_HOTSPOT ||
			 kind == OPENER_HOTSPOT_VIEW || kind == OPENER_HOTSPOT_NAMES ||
			 kind == OPENER_CODE;

	return is_memory ? &opener->barred_words : &opener->barred;
}

static void tell_of_words(struct opener *opener, pid_t pid)
{
	void (*tell)(const char *fmt, ...) =
		opener->words_missed ? log_verbose : log_warn;

	tell("process %d can't be read in time: weft does not know which of its async "
	     "keys are set",
	     (int)pid);
	opener->words_missed = true;
}

/* Who wants a CPU and gets none holds his locks for as long, and so does who waits in the
 * kernel for such a one: he is accused only if he does it again. His user is counted all
 * the same: anybody can be slow. */
static void bar(struct opener *opener, const struct opener_request *request,
		const struct owner *owner, bool is_slow)
{
	pid_t pid = request->pid;
	enum barring barring = barred_add(barred_from(opener, request->kind), pid,
					  is_slow, owner, clock_now_ns());

	if (request->kind == OPENER_WORDS)
		tell_of_words(opener, pid);
	else if (is_slow)
		log_verbose("process %d, or who opens what it maps, gets no CPU: it is "
			    "read later",
			    (int)pid);
	else if (barring == BARRED_A_WHILE)
		log_warn("process %d kept who opens what it maps waiting: it is read "
			 "later",
			 (int)pid);
	else if (barring == BARRED_FOR_LIFE)
		log_warn("process %d holds up who opens what it maps and shows, again: "
			 "it is not read",
			 (int)pid);
}

/* 0: the answer comes, however long a busy machine keeps the opener from running; else
 * how it was missed. Whether the process ran or wanted to is looked at meanwhile: until
 * another opener says whose it is, which takes long where nobody has a CPU, it may have
 * had it. */
static int wait_for_answer(const struct opener *opener, pid_t pid)
{
	uint64_t begun = clock_now_ns(), passed = 0;
	uint64_t patience = opener->is_hurried ? HURRIED_NS : PATIENCE_NS;
	struct pollfd answer = { .fd = opener->sock, .events = POLLIN };
	struct held held = { .pid = opener->pid };
	unsigned int n_looks = 0, n_lacks = 0;

	while (passed < patience + STARVED_NS) {
		if (poll(&answer, 1, HELD_LOOK_MS) > 0)
			return 0;
		passed = clock_now_ns() - begun;
		n_looks++;
		n_lacks += held_lacks_cpu(pid);
		if (held_ns(&held) < patience)
			continue;
		if (poll(&answer, 1, 0) > 0) /* while it was looked at */
			return 0;
		return 2 * n_lacks >= n_looks ? LACKED_CPU : HELD;
	}
	return LACKED_CPU; /* nobody held the opener itself: it did not get to run */
}

/* ret NULL: of no interest. ret_fd NULL: none belongs to the answer. */
static int take(struct opener *opener, struct opener_answer *ret, int *ret_fd)
{
	struct opener_answer *answer = &opener->came.answer;
	AUTO_CLOSE int fd = -1;
	ssize_t n = protocol_recv(opener->sock, &opener->came, sizeof(opener->came), &fd,
				  MSG_DONTWAIT);

	if (n < (ssize_t)sizeof(*answer) || answer->err > 0 ||
	    (!answer->err && ret_fd && fd < 0)) {
		close(GIVE_FD(opener->sock));
		return fail(-EPIPE, "the opener has ended");
	}
	opener->n_text = (size_t)n - sizeof(*answer);
	answer->why[sizeof(answer->why) - 1] = '\0';
	if (answer->err)
		return fail(answer->err, "%s", answer->why);
	if (ret)
		*ret = *answer;
	if (ret_fd)
		*ret_fd = GIVE_FD(fd);
	return 0;
}

static int refuse(struct opener *opener, pid_t pid)
{
	opener->counts.refused++;
	return fail(-ETIMEDOUT, "what process %d maps is not read: it holds us up",
		    (int)pid);
}

static int put(struct opener *opener, const struct opener_request *request)
{
	size_t bytes = offsetof(struct opener_request, path) + strlen(request->path) + 1;
	int err = 0;

	if (opener->sock < 0)
		err = start(opener);
	if (err || !protocol_send(opener->sock, request, bytes, -1, MSG_DONTWAIT))
		return err;
	close(GIVE_FD(opener->sock)); /* somebody ended it */
	err = start(opener);
	return err ? err : protocol_send(opener->sock, request, bytes, -1, MSG_DONTWAIT);
}

/* Whoever this is. HELD, LACKED_CPU: the opener did not answer, and is left behind. */
static int exchange(struct opener *opener, const struct opener_request *request,
		    struct opener_answer *ret, int *ret_fd)
{
	int err;

	if (opener->n_hurried >= HURRIED_MAX ||
	    (opener->sock < 0 && !may_leave_another(opener)))
		return refuse(opener, request->pid);
	err = put(opener, request);
	if (err)
		return err;
	err = wait_for_answer(opener, request->pid);
	if (!err)
		return take(opener, ret, ret_fd);
	leave(opener);
	return err;
}

static bool pays_himself(const struct opener *opener, pid_t pid,
			 const struct owner *owner)
{
	return !owner->known || !owner->uid || payer_is_user(&opener->ids, pid);
}

/* Into another namespace only the opener looks: who is within an exec makes it wait. */
static int ask_payer(struct opener *opener, pid_t pid, struct owner *owner)
{
	const struct opener_request request = {
		.kind = OPENER_PAYER,
		.pid = pid,
		.kept = *owner,
	};

	struct opener_answer answer;
	int err;

	if (pays_himself(opener, pid, owner))
		return 0;
	err = exchange(opener, &request, &answer, NULL);
	if (!err)
		owner->payer = answer.number;
	return err;
}

/* Who has held us up before, or whose processes have. Before it is known whom its user's
 * namespace belongs to, that user himself is meant. ret: whose it is, if that was
 * asked. */
static bool is_barred(struct opener *opener, const struct opener_request *request,
		      struct owner *ret)
{
	struct barred *barred = barred_from(opener, request->kind);
	uint64_t now = clock_now_ns();
	int err;

	if (!barred->owners.n) /* as always, nearly */
		return false;
	if (barred_process(barred, request->pid, now))
		return true;
	*ret = open_user(request->pid);
	if (barred_owner(barred, ret, now))
		return true;
	err = ask_payer(opener, request->pid, ret);
	error_clear();
	if (err > 0)
		bar(opener, request, ret, err == LACKED_CPU);
	return err > 0 || barred_owner(barred, ret, now);
}

int opener_ask(struct opener *opener, const struct opener_request *request,
	       struct opener_answer *ret, int *ret_fd)
{
	struct owner owner = { 0 };
	int err;

	if (is_barred(opener, request, &owner))
		return refuse(opener, request->pid);
	err = exchange(opener, request, ret, ret_fd);
	if (err <= 0)
		return err;
	if (!owner.known) { /* since nobody has held us up; it may have ended meanwhile */
		owner = open_user(request->pid);
		if (request->kind != OPENER_PAYER &&
		    ask_payer(opener, request->pid, &owner))
			error_clear();
	}
	bar(opener, request, &owner, err == LACKED_CPU);
	return fail(-ETIMEDOUT, "process %d holds up who opens what it maps",
		    (int)request->pid);
}

struct owner opener_owner(struct opener *opener, pid_t pid)
{
	struct opener_request request = { .kind = OPENER_PAYER, .pid = pid };
	struct opener_answer answer = { .number = PAYER_UNKNOWN };
	struct owner owner;

	if (!opener)
		return open_owner(pid);
	owner = open_user(pid);
	if (pays_himself(opener, pid, &owner))
		return owner;
	request.kept = owner;
	if (opener_ask(opener, &request, &answer, NULL))
		error_clear();
	owner.payer = answer.number;
	return owner;
}
