// SPDX-License-Identifier: BSD-2-Clause
#include "base/libcurl.h"

#include "base/library.h"

#include <stdbool.h>
#include <stddef.h>

/* One thread: the only one of a process that talks to servers. */
static struct libcurl library;

const struct libcurl *libcurl_load(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	bool all = true;

	for (size_t i = 0; !library.handle && i < sizeof(names) / sizeof(*names); i++)
		library.handle = library_load(names[i]);
	if (!library.handle)
		return NULL;
	if (library.curl_easy_perform)
		return &library;
#define X(name)                                                                          \
	library.name = (__typeof__(name) *)library_function(library.handle, #name);      \
	all &= library.name != NULL;
	LIBCURL_FUNCTIONS(X)
#undef X
	if (!all || library.curl_global_init(CURL_GLOBAL_DEFAULT)) {
		library.curl_easy_perform = NULL;
		return NULL;
	}
	return &library;
}

const char *libcurl_missing(void)
{
	return library_can_load() ? "libcurl.so.4 cannot be loaded: install libcurl"
				  : "this static weft can't load libcurl";
}
