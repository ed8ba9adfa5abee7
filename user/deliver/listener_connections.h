/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is connected to the listener, in the order in which they came. Anybody of the
 * machine may connect and never say what he wants, byte by byte, so that no time limit of
 * idle connections ends it. So the last places are kept for who comes: whoever is there
 * for longest without a request that the agent works on goes.
 */
#ifndef WEFT_DELIVER_LISTENER_CONNECTIONS_H
#define WEFT_DELIVER_LISTENER_CONNECTIONS_H

#include <stdbool.h>

#define CONNECTIONS_MAX	 64U
#define CONNECTIONS_KEPT 16U /* places, for who comes */

struct connections { /* {0} */
	struct connection {
		const void *key; /* libmicrohttpd's */
		int fd;		 /* borrowed; -1: it was told to go */
	} items[CONNECTIONS_MAX];
	unsigned int n;
};

void connections_add(struct connections *all, const void *key, int fd);
void connections_remove(struct connections *all, const void *key);

/* Ends connections until there are places for who comes, or all are busy. */
void connections_make_room(struct connections *all,
			   bool (*is_busy)(void *arg, const void *key), void *arg);

#endif
