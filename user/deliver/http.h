/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One POST by libcurl, which is loaded when it is first used: the other commands of
 * weft start faster without it. Only the sender's process uses this.
 */
#ifndef WEFT_DELIVER_HTTP_H
#define WEFT_DELIVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_ANSWER_BYTES 8192 /* of what the server says, the rest is not kept */
#define HTTP_HEADERS_MAX  16

/* NULL strings: none. */
struct http_target {
	const char *url;
	const char *headers[HTTP_HEADERS_MAX]; /* "Name: value"; NULL ends them */
	const char *bearer_token;
	const char *user, *password;
	/* what is in files of PEM */
	const char *ca_text;		  /* instead of the system's list */
	const char *cert_text, *key_text; /* who we are */
	const char *proxy;		  /* NULL: as the environment says */
	long timeout_ms;		  /* for all of it */
};

struct http_answer {
	long status;		      /* 0: none came */
	long retry_after_s;	      /* as the server asks; 0: it does not */
	char text[HTTP_ANSWER_BYTES]; /* its body, or why there is none */
	size_t n;
};

struct http_body {
	const char *content_type;
	bool is_packed; /* in gzip */
	const void *bytes;
	size_t n;
};

/* 0 when an answer came, whatever it says; else a negative errno, and ret->text says
 * why. -ENOSYS: there is no libcurl. */
int http_post(const struct http_target *target, const struct http_body *body,
	      struct http_answer *ret);

#endif
