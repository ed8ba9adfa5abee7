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
#define FILES_MS     60000
#define FETCHED_MAX  (256ULL << 20) /* bytes of one file */
#define LATE_MS	     1000	    /* for who answers when its time is over */
#define FAILURES_MAX 2		    /* of a server */
#define SHOWN_BYTES  40		    /* of a file's name */

struct debuginfod {
	struct debuginfod_config config;
	struct supervisor supervisor;
	int sock; /* -1: none is there */
	char urls[DEBUGINFOD_URLS_MAX][DEBUGINFOD_URL_BYTES];
	unsigned int failures[DEBUGINFOD_URLS_MAX];
	size_t n_urls;
	int64_t left_ns;
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

	for (; *urls && d->n_urls < DEBUGINFOD_URLS_MAX; urls += n) {
		char *url = d->urls[d->n_urls];

		urls += strspn(urls, " ");
		n = strcspn(urls, " ");
		if (n >= DEBUGINFOD_URL_BYTES || (strncmp(urls, "http://", 7) != 0 &&
						  strncmp(urls, "https://", 8) != 0))
			continue;
		memcpy(url, urls, n);
		for (size_t end = n; end && url[end - 1] == '/'; end--)
			url[end - 1] = '\0';
		d->n_urls++;
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

static void show(const struct debuginfod *d, const char *path, uint64_t bytes)
{
	const char *base = strrchr(path, '/');
	char line[128], name[SHOWN_BYTES];

	if (!d->config.progress)
		return;
	base = base ? base + 1 : path;
	str_clean(name, sizeof(name), base, strlen(base));
	snprintf(line, sizeof(line), "debuginfod: %-40s %8.1f MB", name,
		 (double)bytes / (1 << 20));
	d->config.progress(line);
}

/* A file that can't change, and no larger than it may be? */
static bool is_sealed(int fd)
{
	struct stat st;

	return fd >= 0 && open_is_copy(fd) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size <= FETCHED_MAX;
}

/* Until it is no longer under way: FETCH_FAILED also of who breaks the protocol. */
static enum fetch_state wait_for(struct debuginfod *d, const char *path,
				 uint64_t until_ns, int *ret_fd)
{
	for (;;) {
		struct pollfd answers = { .fd = d->sock, .events = POLLIN };
		struct fetch_answer answer = { 0 };
		AUTO_CLOSE int fd = -1;
		uint64_t now = clock_now_ns();

		if (now >= until_ns ||
		    (!poll(&answers, 1, (int)((until_ns - now) / NS_OF_MS) + 1)))
			return FETCH_RUNS;
		if (protocol_recv(d->sock, &answer, sizeof(answer), &fd, MSG_DONTWAIT) !=
			    (ssize_t)sizeof(answer) ||
		    answer.state >= N_FETCH_STATES)
			return FETCH_RUNS;
		answer.why[sizeof(answer.why) - 1] = '\0';
		show(d, path, answer.bytes);
		if (answer.state == FETCH_RUNS)
			continue;
		if (answer.state == FETCH_DONE && !is_sealed(fd))
			return FETCH_RUNS;
		if (answer.state >= FETCH_FAILED)
			log_verbose("debug file of %s: %s", path, answer.why);
		*ret_fd = GIVE_FD(fd);
		return (enum fetch_state)answer.state;
	}
}

static void make_url(struct fetch_request *request, const char *base,
		     const struct elf_info *info)
{
	size_t n =
		(size_t)snprintf(request->url, sizeof(request->url), "%s/buildid/", base);

	for (uint32_t i = 0; i < info->build_id_bytes; i++)
		n += (size_t)snprintf(request->url + n, sizeof(request->url) - n, "%02x",
				      info->build_id[i]);
	snprintf(request->url + n, sizeof(request->url) - n, "/debuginfo");
}

static enum fetch_state ask(struct debuginfod *d, const struct fetch_request *request,
			    const char *path, int *ret_fd)
{
	uint64_t until = clock_now_ns() + (request->timeout_ms + LATE_MS) * NS_OF_MS;
	enum fetch_state state = FETCH_RUNS;

	if (d->sock < 0 && start(d))
		return FETCH_FAILED;
	if (!protocol_send(d->sock, request, sizeof(*request), -1, MSG_DONTWAIT))
		state = wait_for(d, path, until, ret_fd);
	if (state != FETCH_RUNS)
		return state;
	log_verbose("debug file of %s: who asks for it does not answer", path);
	close(GIVE_FD(d->sock)); /* the next one's beginning ends it */
	return FETCH_LATE;
}

static void count_failure(struct debuginfod *d, size_t server, enum fetch_state state)
{
	if (state < FETCH_FAILED) {
		d->failures[server] = 0;
		return;
	}
	d->counts.failed++;
	d->failures[server] += state == FETCH_LATE ? FAILURES_MAX : 1;
	if (d->failures[server] >= FAILURES_MAX)
		log_warn("%s does not answer as it should: no more debug files are asked "
			 "of it (-v says why)",
			 d->urls[server]);
}

/* Of one server; takes its time from what is left for all. */
static int get_from(struct debuginfod *d, size_t server, const struct elf_info *info,
		    const char *path)
{
	struct fetch_request request = { .bytes_max = FETCHED_MAX };
	uint64_t begun_ns = clock_now_ns(), took_ns;
	enum fetch_state state;
	int fd = -1;

	if (d->failures[server] >= FAILURES_MAX || d->left_ns < (int64_t)NS_OF_MS) {
		d->counts.skipped++;
		return -1;
	}
	request.timeout_ms = d->left_ns < (int64_t)(FILE_MS * NS_OF_MS)
				     ? (uint32_t)(d->left_ns / (int64_t)NS_OF_MS)
				     : FILE_MS;
	make_url(&request, d->urls[server], info);
	show(d, path, 0);
	state = ask(d, &request, path, &fd);
	took_ns = clock_now_ns() - begun_ns;
	d->left_ns -= (int64_t)took_ns;
	d->counts.waited_ns += took_ns;
	d->counts.asked++;
	count_failure(d, server, state);
	return fd;
}

int debuginfod_get(struct debuginfod *d, const struct elf_info *info, const char *path)
{
	struct stat st;
	int fd = -1;

	if (info->build_id_bytes < 2 || info->build_id_bytes > BUILD_ID_MAX)
		return -1;
	for (size_t i = 0; fd < 0 && i < d->n_urls; i++)
		fd = get_from(d, i, info, path);
	error_clear();
	if (d->config.progress)
		d->config.progress(NULL);
	d->counts.found += fd >= 0;
	if (fd >= 0 && !fstat(fd, &st))
		d->counts.bytes += (uint64_t)st.st_size;
	return fd;
}

struct debuginfod_counts debuginfod_counts(const struct debuginfod *d)
{
	return d->counts;
}
