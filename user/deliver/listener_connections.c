// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/listener_connections.h"

#include <string.h>
#include <sys/socket.h>

void connections_add(struct connections *all, const void *key, int fd)
{
	if (all->n < CONNECTIONS_MAX)
		all->items[all->n++] = (struct connection){ key, fd };
}

void connections_remove(struct connections *all, const void *key)
{
	for (unsigned int i = 0; i < all->n; i++) {
		if (all->items[i].key != key)
			continue;
		all->n--;
		memmove(&all->items[i], &all->items[i + 1],
			(all->n - i) * sizeof(all->items[0]));
		return;
	}
}

void connections_make_room(struct connections *all,
			   bool (*is_busy)(void *arg, const void *key), void *arg)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < all->n; i++)
		n += all->items[i].fd >= 0;
	for (unsigned int i = 0; i < all->n && n > CONNECTIONS_MAX - CONNECTIONS_KEPT;
	     i++) {
		struct connection *one = &all->items[i];

		if (one->fd < 0 || is_busy(arg, one->key))
			continue;
		shutdown(one->fd, SHUT_RDWR); /* libmicrohttpd sees its end, and closes */
		one->fd = -1;
		n--;
	}
}
