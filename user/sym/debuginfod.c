// SPDX-License-Identifier: BSD-2-Clause
#include "sym/debuginfod.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "proc/open_copy.h"
#include "sym/debuginfod_child.h"
#include "worker/supervisor.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define NS_OF_MS     1000000ULL
#define FILE_MS	     20000
#define PATIENT_MS   300000
#define FILES_MS     60000
#define REST_NS	     600000000000ULL
#define LATE_MS	     1000 /* for who answers when its time is over */
#define FAILURES_MAX 2	  /* of a server */
#define SHOWN_BYTES  40	  /* of a file's name */

struct server {
	char url[DEBUGINFOD_URL_BYTES];
	unsigned int failures;
	uint64_t rests_until_ns;
	bool is_reported; /* that it fails */
};

/* What is under way. */
struct fetch_under_way {
	struct fetch_request request;
	struct build_id id;
	char name[SHOWN_BYTES + 1];
	size_t server;
	uint64_t begun_ns, until_ns;
	bool runs, is_unsure; /* one did not say whether it has the file */
};

struct debuginfod {
	struct debuginfod_config config;
	struct supervisor supervisor;
	int sock; /* -1: none is there */
	struct server servers[DEBUGINFOD_URLS_MAX];
	size_t n_servers;
	struct fetch_under_way asked;
	int64_t left_ns; /* of who waits for all files */
	struct debuginfod_counts counts;
};

static int start(struct debuginfod *d)
{
	static const struct supervised fetchers = {
		.name = "weft-fetchers",
		.child_name = "weft-fetcher",
		.run = fetcher_run,
	};
	pid_t child;
	int sock = supervisor_ask(&d->supervisor, &fetchers, &child);

	if (sock < 0)
		return sock;
	d->sock = sock;
	return 0;
}

/* Those of other kinds (file:, ima:) are other programs' to understand. */
static void split_urls(struct debuginfod *d, const char *urls)
{
	size_t n;

	for (; *urls && d->n_servers < DEBUGINFOD_URLS_MAX; urls += n) {
		char *url = d->servers[d->n_servers].url;

		urls += strspn(urls, " ");
		n = strcspn(urls, " ");
		if (n >= DEBUGINFOD_URL_BYTES || (strncmp(urls, "http://", 7) != 0 &&
						  strncmp(urls, "https://", 8) != 0))
			continue;
		memcpy(url, urls, n);
		for (size_t end = n; end && url[end - 1] == '/'; end--)
			url[end - 1] = '\0';
		d->n_servers++;
	}
}

int debuginfod_new(struct debuginfod **ret, const struct debuginfod_config *config)
{
	AUTO(debuginfod) d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return fail(-ENOMEM, "no memory for debuginfod");
	d->config = *config;
	d->supervisor = (struct supervisor){ -1, -1 };
	d->sock = -1;
	d->left_ns = (int64_t)(FILES_MS * NS_OF_MS);
	split_urls(d, config->urls);
	err = start(d);
	if (err)
		return err;
	*ret = GIVE(d);
	return 0;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->sock >= 0)
		close(d->sock);
	supervisor_end(&d->supervisor);
	free(d);
}

static void show(const struct debuginfod *d, uint64_t bytes)
{
	char line[128];

	if (!d->config.progress)
		return;
	snprintf(line, sizeof(line), "debuginfod: %-40s %8.1f MB", d->asked.name,
		 (double)bytes / (1 << 20));
	d->config.progress(line);
}

static uint64_t bytes_max(const struct debuginfod *d)
{
	return d->config.is_patient ? DEBUGINFOD_PATIENT_BYTES : DEBUGINFOD_BYTES;
}

/* A file that can't change, and no larger than it may be? */
static bool is_sealed(const struct debuginfod *d, int fd)
{
	struct stat st;

	return fd >= 0 && open_is_copy(fd) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size <= bytes_max(d);
}

static void make_url(struct fetch_request *request, const char *base,
		     const struct build_id *id)
{
	char text[BUILD_ID_HEX];

	snprintf(request->url, sizeof(request->url), "%s/buildid/%s/debuginfo", base,
		 build_id_hex(id, text));
}

/* How long a file may take; 0: no time is left for it. */
static uint32_t timeout_ms(const struct debuginfod *d)
{
	if (d->config.is_patient)
		return PATIENT_MS;
	if (d->left_ns < (int64_t)NS_OF_MS)
		return 0;
	return d->left_ns < (int64_t)(FILE_MS * NS_OF_MS)
		       ? (uint32_t)(d->left_ns / (int64_t)NS_OF_MS)
		       : FILE_MS;
}

static bool may_ask(const struct debuginfod *d, const struct server *server, uint64_t now)
{
	return server->failures < FAILURES_MAX ||
	       (d->config.is_patient && now >= server->rests_until_ns);
}

static void rest(struct debuginfod *d, struct server *server)
{
	server->rests_until_ns = clock_now_ns() + REST_NS;
	if (server->is_reported)
		return;
	server->is_reported = true;
	log_warn("%s does not answer as it should: %s (-v says why)", server->url,
		 d->config.is_patient ? "weft asks it again in 10 minutes"
				      : "no more debug files are asked of it");
}

static void count_answer(struct debuginfod *d, enum fetch_state state)
{
	struct server *server = &d->servers[d->asked.server];
	uint64_t took_ns = clock_now_ns() - d->asked.begun_ns;

	d->left_ns -= (int64_t)took_ns;
	d->counts.waited_ns += d->config.is_patient ? 0 : took_ns;
	d->counts.asked++;
	if (state < FETCH_FAILED) {
		server->failures = 0;
		server->is_reported = false;
		return;
	}
	d->asked.is_unsure = true;
	d->counts.failed++;
	server->failures += state == FETCH_LATE ? FAILURES_MAX : 1;
	if (server->failures >= FAILURES_MAX)
		rest(d, server);
}

static bool send_request(struct debuginfod *d)
{
	struct fetch_under_way *asked = &d->asked;

	asked->request.bytes_max = bytes_max(d);
	asked->begun_ns = clock_now_ns();
	asked->until_ns =
		asked->begun_ns + (asked->request.timeout_ms + LATE_MS) * NS_OF_MS;
	make_url(&asked->request, d->servers[asked->server].url, &asked->id);
	show(d, 0);
	return (d->sock >= 0 || !start(d)) &&
	       !protocol_send(d->sock, &asked->request, sizeof(asked->request), -1,
			      MSG_DONTWAIT);
}

/* From this server on, the first that may be asked. */
static void ask_next(struct debuginfod *d)
{
	struct fetch_under_way *asked = &d->asked;

	for (; asked->server < d->n_servers; asked->server++) {
		asked->request.timeout_ms = timeout_ms(d);
		if (!asked->request.timeout_ms ||
		    !may_ask(d, &d->servers[asked->server], clock_now_ns())) {
			asked->is_unsure = true;
			d->counts.skipped++;
			continue;
		}
		if (send_request(d))
			return;
		if (d->sock >= 0)
			close(GIVE_FD(d->sock));
		count_answer(d, FETCH_FAILED);
	}
	asked->runs = false;
	if (d->config.progress)
		d->config.progress(NULL);
}

int debuginfod_begin(struct debuginfod *d, const struct build_id *id, const char *path)
{
	const char *base = strrchr(path, '/');
	struct fetch_under_way *asked = &d->asked;

	if (!build_id_is_there(id))
		return -EINVAL;
	*asked = (struct fetch_under_way){ .id = *id, .runs = true };
	base = base ? base + 1 : path;
	str_clean(asked->name, sizeof(asked->name), base, strlen(base));
	ask_next(d);
	return 0;
}

/* One message: FETCH_RUNS also if there was none; FETCH_LATE of who breaks the protocol,
 * whom the next one's beginning ends. */
static enum fetch_state receive(struct debuginfod *d, int wait_ms, int *ret_fd)
{
	struct pollfd answers = { .fd = d->sock, .events = POLLIN };
	struct fetch_answer answer = { 0 };
	AUTO_CLOSE int fd = -1;
	uint64_t now = clock_now_ns();

	if (now >= d->asked.until_ns)
		return FETCH_LATE;
	if (!poll(&answers, 1, wait_ms))
		return FETCH_RUNS;
	if (protocol_recv(d->sock, &answer, sizeof(answer), &fd, MSG_DONTWAIT) !=
		    (ssize_t)sizeof(answer) ||
	    answer.state >= N_FETCH_STATES ||
	    (answer.state == FETCH_DONE && !is_sealed(d, fd))) {
		log_verbose("debug file of %s: who asks for it fails", d->asked.name);
		d->asked.until_ns = 0;
		return FETCH_LATE;
	}
	answer.why[sizeof(answer.why) - 1] = '\0';
	show(d, answer.bytes);
	if (answer.state >= FETCH_FAILED)
		log_verbose("debug file of %s: %s", d->asked.name, answer.why);
	*ret_fd = GIVE_FD(fd);
	return (enum fetch_state)answer.state;
}

/* Nobody waits longer than a file may take. */
static int wait_at_most_ms(const struct debuginfod *d, int wait_ms)
{
	uint64_t now = clock_now_ns();
	uint64_t left_ms =
		now < d->asked.until_ns ? (d->asked.until_ns - now) / NS_OF_MS : 0;

	return left_ms < (uint64_t)wait_ms ? (int)left_ms + 1 : wait_ms;
}

int debuginfod_step(struct debuginfod *d, int wait_ms, int *ret_fd)
{
	struct fetch_under_way *asked = &d->asked;
	enum fetch_state state;
	struct stat st;

	*ret_fd = -1;
	if (!asked->runs)
		return asked->is_unsure ? DEBUGINFOD_UNSURE : DEBUGINFOD_DONE;
	state = receive(d, wait_at_most_ms(d, wait_ms), ret_fd);
	if (state == FETCH_RUNS)
		return DEBUGINFOD_RUNS;
	if (state == FETCH_LATE && clock_now_ns() >= asked->until_ns)
		close(GIVE_FD(d->sock));
	count_answer(d, state);
	asked->server = state == FETCH_DONE ? d->n_servers : asked->server + 1;
	ask_next(d);
	if (state != FETCH_DONE)
		return DEBUGINFOD_RUNS;
	d->counts.found++;
	if (!fstat(*ret_fd, &st))
		d->counts.bytes += (uint64_t)st.st_size;
	return DEBUGINFOD_DONE;
}

int debuginfod_get(struct debuginfod *d, const struct build_id *id, const char *path)
{
	int fd = -1;

	if (!debuginfod_begin(d, id, path))
		while (debuginfod_step(d, FILE_MS, &fd) == DEBUGINFOD_RUNS)
			;
	error_clear();
	return fd;
}

struct debuginfod_counts debuginfod_counts(const struct debuginfod *d)
{
	return d->counts;
}
