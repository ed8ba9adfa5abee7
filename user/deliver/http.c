// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/http.h"

#include "base/cleanup.h"
#include "base/libcurl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONNECT_MS 10000L

/* A text that has a path, as long as this process has it open. */
struct text_file {
	int fd;
	char path[32];
};

enum { CA_FILE, CERT_FILE, KEY_FILE, N_FILES };

struct post {
	const struct libcurl *lib;
	CURL *curl;
	struct curl_slist *headers;
	bool failed;
	struct http_answer *answer;
	struct text_file files[N_FILES];
	char error[CURL_ERROR_SIZE];
};

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
	struct http_answer *answer = arg;
	size_t room = sizeof(answer->text) - 1 - answer->n;
	size_t taken = size * n < room ? size * n : room;

	memcpy(answer->text + answer->n, bytes, taken);
	answer->n += taken;
	return size * n;
}

#define SET(post, option, value)                                                         \
	((post)->failed |=                                                               \
	 (post)->lib->curl_easy_setopt((post)->curl, option, value) != CURLE_OK)

static void add_header(struct post *post, const char *text)
{
	struct curl_slist *more = post->lib->curl_slist_append(post->headers, text);

	post->failed |= !more;
	if (more)
		post->headers = more;
}

static void set_headers(struct post *post, const struct http_target *target,
			const struct http_body *body)
{
	char text[256];

	snprintf(text, sizeof(text), "Content-Type: %s", body->content_type);
	add_header(post, text);
	if (body->is_packed)
		add_header(post, "Content-Encoding: gzip");
	add_header(post, "Expect:"); /* no round trip before the body */
	for (size_t i = 0; i < HTTP_HEADERS_MAX && target->headers[i]; i++)
		add_header(post, target->headers[i]);
	SET(post, CURLOPT_HTTPHEADER, post->headers);
}

static bool text_file_make(struct text_file *file, const char *text)
{
	size_t n = strlen(text);

	file->fd = memfd_create("weft-pem", MFD_CLOEXEC);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	return file->fd >= 0 && write(file->fd, text, n) == (ssize_t)n;
}

/* libcurl over GnuTLS takes paths alone, and this process may not open the files. */
static void set_certificates(struct post *post, const struct http_target *target)
{
	const struct {
		const char *text;
		CURLoption option;
	} files[N_FILES] = {
		[CA_FILE] = { target->ca_text, CURLOPT_CAINFO },
		[CERT_FILE] = { target->cert_text, CURLOPT_SSLCERT },
		[KEY_FILE] = { target->key_text, CURLOPT_SSLKEY },
	};

	for (int i = 0; i < N_FILES; i++) {
		if (!files[i].text)
			continue;
		post->failed |= !text_file_make(&post->files[i], files[i].text);
		SET(post, files[i].option, post->files[i].path);
	}
}

static void set_credentials(struct post *post, const struct http_target *target)
{
	if (target->bearer_token) {
		SET(post, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		SET(post, CURLOPT_XOAUTH2_BEARER, target->bearer_token);
	} else if (target->user) {
		SET(post, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(post, CURLOPT_USERNAME, target->user);
		SET(post, CURLOPT_PASSWORD, target->password ? target->password : "");
	}
	set_certificates(post, target);
	if (target->proxy)
		SET(post, CURLOPT_PROXY, target->proxy);
}

static void set_up(struct post *post, const struct http_target *target,
		   const struct http_body *body)
{
	SET(post, CURLOPT_URL, target->url);
	SET(post, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(post, CURLOPT_USERAGENT, "weft/" WEFT_VERSION);
	SET(post, CURLOPT_NOSIGNAL, 1L);
	SET(post, CURLOPT_CONNECTTIMEOUT_MS,
	    target->timeout_ms < CONNECT_MS ? target->timeout_ms : CONNECT_MS);
	SET(post, CURLOPT_TIMEOUT_MS, target->timeout_ms);
	SET(post, CURLOPT_ERRORBUFFER, post->error);
	SET(post, CURLOPT_WRITEFUNCTION, on_body);
	SET(post, CURLOPT_WRITEDATA, post->answer);
	SET(post, CURLOPT_POST, 1L);
	SET(post, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->n);
	SET(post, CURLOPT_POSTFIELDS, body->bytes);
}

static int perform(struct post *post)
{
	struct http_answer *answer = post->answer;
	curl_off_t wait = 0;
	CURLcode code = post->lib->curl_easy_perform(post->curl);

	post->lib->curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	post->lib->curl_easy_getinfo(post->curl, CURLINFO_RETRY_AFTER, &wait);
	answer->retry_after_s = (long)wait;
	answer->text[answer->n] = '\0';
	if (code == CURLE_OK)
		return 0;
	answer->status = 0; /* it did not say all of it */
	snprintf(answer->text, sizeof(answer->text), "%s",
		 *post->error ? post->error : post->lib->curl_easy_strerror(code));
	return -EIO;
}

int http_post(const struct http_target *target, const struct http_body *body,
	      struct http_answer *ret)
{
	struct post post = { .lib = libcurl_load(), .answer = ret };
	int err = -ENOMEM;

	for (int i = 0; i < N_FILES; i++)
		post.files[i].fd = -1;
	*ret = (struct http_answer){ 0 };
	if (!post.lib) {
		snprintf(ret->text, sizeof(ret->text), "%s", libcurl_missing());
		return -ENOSYS;
	}
	post.curl = post.lib->curl_easy_init();
	if (post.curl) {
		set_up(&post, target, body);
		set_headers(&post, target, body);
		set_credentials(&post, target);
		err = post.failed ? -ENOMEM : perform(&post);
		post.lib->curl_easy_cleanup(post.curl);
	}
	post.lib->curl_slist_free_all(post.headers);
	for (int i = 0; i < N_FILES; i++)
		if (post.files[i].fd >= 0)
			close(post.files[i].fd);
	if (err == -ENOMEM)
		snprintf(ret->text, sizeof(ret->text), "libcurl takes no such request");
	return err;
}
