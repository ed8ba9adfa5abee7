/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_BASE_URL_H
#define WEFT_BASE_URL_H

#include <stddef.h>
#include <string.h>

/* Of "http://user:password@host:4040/path" the "host:4040", of *ret_n bytes. */
static inline const char *url_server(const char *url, size_t *ret_n)
{
	const char *scheme_end = strstr(url, "://");
	const char *server = scheme_end ? scheme_end + 3 : url;
	const char *end = server + strcspn(server, "/?#");

	for (const char *at = server; at < end; at++)
		if (*at == '@')
			server = at + 1;
	*ret_n = (size_t)(end - server);
	return server;
}

#endif
