// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks servers for files. It runs as nobody and holds nothing; what it hands over is a
 * file in memory that nobody can change any more. It believes a server in nothing: the
 * parse worker says whether the file is the one that was asked for.
 */
#include "sym/debuginfod_child.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/libcurl.h"
#include "base/str.h"
#include "proc/open_copy.h"
#include "worker/network_sandbox.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define SAY_NS	       300000000ULL
#define REDIRECTS_MAX  5L
#define CONNECT_MS_MAX 5000L
#define SLOW_BYTES     1024L /* a second; for so long: it does not come */
#define SLOW_S	       4L

struct fetch {
	const struct libcurl *lib;
	CURL *curl;
	const struct fetch_request *request;
	int sock, fd;
	uint64_t bytes, said_ns;
	bool is_too_large, failed;
	char error[CURL_ERROR_SIZE];
};

static void say_progress(struct fetch *fetch)
{
	const struct fetch_answer answer = { .state = FETCH_RUNS, .bytes = fetch->bytes };
	uint64_t now = clock_now_ns();

	if (now - fetch->said_ns < SAY_NS)
		return;
	fetch->said_ns = now;
	protocol_send(fetch->sock, &answer, sizeof(answer), -1, 0);
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
	struct fetch *fetch = arg;

	n *= size;
	fetch->is_too_large = n > fetch->request->bytes_max - fetch->bytes;
	if (fetch->is_too_large || write(fetch->fd, bytes, n) != (ssize_t)n)
		return 0;
	fetch->bytes += n;
	say_progress(fetch);
	return n;
}

#define OPTION(fetch, option, value)                                                     \
	((fetch)->failed |=                                                              \
	 (fetch)->lib->curl_easy_setopt((fetch)->curl, option, value) != CURLE_OK)

static void set_options(struct fetch *fetch)
{
	OPTION(fetch, CURLOPT_URL, fetch->request->url);
	OPTION(fetch, CURLOPT_PROTOCOLS_STR, "http,https");
	OPTION(fetch, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	OPTION(fetch, CURLOPT_FOLLOWLOCATION, 1L);
	OPTION(fetch, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	OPTION(fetch, CURLOPT_USERAGENT, "weft/" WEFT_VERSION);
	OPTION(fetch, CURLOPT_NOSIGNAL, 1L);
	OPTION(fetch, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS_MAX);
	OPTION(fetch, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
	OPTION(fetch, CURLOPT_LOW_SPEED_TIME, SLOW_S);
	OPTION(fetch, CURLOPT_TIMEOUT_MS, (long)fetch->request->timeout_ms);
	OPTION(fetch, CURLOPT_ERRORBUFFER, fetch->error);
	OPTION(fetch, CURLOPT_WRITEFUNCTION, on_bytes);
	OPTION(fetch, CURLOPT_WRITEDATA, fetch);
}

static void fail_fetch(struct fetch_answer *answer, const char *why)
{
	answer->state = FETCH_FAILED;
	str_clean(answer->why, sizeof(answer->why), why, strlen(why));
}

static void perform(struct fetch *fetch, struct fetch_answer *answer)
{
	CURLcode code = fetch->lib->curl_easy_perform(fetch->curl);
	long status = 0;
	char text[32];

	fetch->lib->curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
	answer->state = FETCH_DONE;
	answer->bytes = fetch->bytes;
	snprintf(text, sizeof(text), "HTTP %ld", status);
	if (fetch->is_too_large)
		fail_fetch(answer, "the file is too large");
	else if (code != CURLE_OK)
		fail_fetch(answer, *fetch->error ? fetch->error
						 : fetch->lib->curl_easy_strerror(code));
	if (code == CURLE_OPERATION_TIMEDOUT)
		answer->state = FETCH_LATE;
	if (code != CURLE_OK || fetch->is_too_large)
		return;
	if (status == 404)
		answer->state = FETCH_NONE;
	else if (status != 200)
		fail_fetch(answer, text);
}

/* *ret_fd: the file if it is whole. */
static void fetch_one(const struct fetch_request *request, int sock,
		      struct fetch_answer *answer, int *ret_fd)
{
	AUTO_CLOSE int file = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct fetch fetch = {
		.lib = libcurl_load(), .request = request, .sock = sock, .fd = file
	};

	*ret_fd = -1;
	if (!fetch.lib) {
		fail_fetch(answer, libcurl_missing());
		return;
	}
	fetch.curl = file < 0 ? NULL : fetch.lib->curl_easy_init();
	if (!fetch.curl) {
		fail_fetch(answer, "no memory for a download");
		return;
	}
	set_options(&fetch);
	if (fetch.failed)
		fail_fetch(answer, "libcurl takes no such request");
	else
		perform(&fetch, answer);
	fetch.lib->curl_easy_cleanup(fetch.curl);
	if (answer->state == FETCH_DONE && open_copy_seal(file))
		fail_fetch(answer, error_sentence());
	if (answer->state == FETCH_DONE)
		*ret_fd = GIVE_FD(file);
}

static int answer_one(int sock)
{
	struct fetch_answer answer = { 0 };
	struct fetch_request request;
	AUTO_CLOSE int fd = -1;

	if (protocol_recv(sock, &request, sizeof(request), NULL, 0) !=
	    (ssize_t)sizeof(request))
		return -EPIPE;
	request.url[sizeof(request.url) - 1] = '\0';
	fetch_one(&request, sock, &answer, &fd);
	return protocol_send(sock, &answer, sizeof(answer), fd, 0);
}

void fetcher_run(int sock)
{
	network_sandbox();
	while (!answer_one(sock))
		;
	_exit(0);
}
