/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells a service manager how the agent is: the datagrams of sd_notify(3) to the socket
 * that $NOTIFY_SOCKET names, a path or, after '@', an abstract name. Without one nothing
 * is told. Also answers the manager's watchdog ($WATCHDOG_USEC).
 */
#ifndef WEFT_AGENT_NOTIFY_H
#define WEFT_AGENT_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int sock; /* -1: nobody wants to know */
	struct sockaddr_un to;
	socklen_t to_bytes;
	uint64_t every_ns, next_ns; /* 0: no watchdog */
};

void notify_begin(struct notify *notify);
void notify_end(struct notify *notify);

void notify_ready(const struct notify *notify, const char *status);
void notify_reloading(const struct notify *notify);
void notify_stopping(const struct notify *notify);

/* Is due twice in the time after which the watchdog bites. */
void notify_alive(struct notify *notify, uint64_t now_ns);

#endif
