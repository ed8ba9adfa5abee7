/* SPDX-License-Identifier: BSD-2-Clause */
/* libcurl, loaded when a process first needs it: only those that talk to servers do. */
#ifndef WEFT_BASE_LIBCURL_H
#define WEFT_BASE_LIBCURL_H

#include <curl/curl.h>

#define LIBCURL_FUNCTIONS(X)                                                             \
	X(curl_global_init)                                                              \
	X(curl_easy_init)                                                                \
	X(curl_easy_setopt)                                                              \
	X(curl_easy_perform)                                                             \
	X(curl_easy_getinfo)                                                             \
	X(curl_easy_strerror)                                                            \
	X(curl_easy_cleanup)                                                             \
	X(curl_slist_append)                                                             \
	X(curl_slist_free_all)

/* its header makes macros of some, which check types for who calls them by name */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct libcurl {
	void *handle;
#define X(name) __typeof__(name) *name;
	LIBCURL_FUNCTIONS(X)
#undef X
};

/* NULL: it can't be loaded. One thread. */
const struct libcurl *libcurl_load(void);

/* Why not. */
const char *libcurl_missing(void);

#endif
