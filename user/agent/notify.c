// SPDX-License-Identifier: BSD-2-Clause
#include "agent/notify.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_socket(struct notify *notify)
{
	const char *name = getenv("NOTIFY_SOCKET");
	size_t n = name ? strlen(name) : 0;

	if (n < 2 || n >= sizeof(notify->to.sun_path) || (*name != '/' && *name != '@'))
		return -1;
	notify->to.sun_family = AF_UNIX;
	memcpy(notify->to.sun_path, name, n);
	if (*name == '@')
		notify->to.sun_path[0] = '\0';
	notify->to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* 0 unless it is us that the watchdog means. */
static uint64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000;
}

void notify_begin(struct notify *notify)
{
	*notify = (struct notify){ 0 };
	notify->sock = find_socket(notify);
	if (notify->sock >= 0)
		notify->every_ns = watchdog_ns() / 2;
}

void notify_end(struct notify *notify)
{
	if (notify->sock >= 0)
		close(notify->sock);
	notify->sock = -1;
}

/* A manager that does not read must not hold us up, nor end us. */
static void say(const struct notify *notify, const char *text)
{
	if (notify->sock >= 0 &&
	    sendto(notify->sock, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (const struct sockaddr *)&notify->to, notify->to_bytes) < 0)
		errno = 0;
}

void notify_ready(const struct notify *notify, const char *status)
{
	char text[256];

	snprintf(text, sizeof(text), "READY=1\nSTATUS=%s\n", status);
	say(notify, text);
}

void notify_reloading(const struct notify *notify)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
		 clock_now_ns() / 1000);
	say(notify, text);
}

void notify_stopping(const struct notify *notify)
{
	say(notify, "STOPPING=1\n");
}

void notify_alive(struct notify *notify, uint64_t now_ns)
{
	if (!notify->every_ns || now_ns < notify->next_ns)
		return;
	notify->next_ns = now_ns + notify->every_ns;
	say(notify, "WATCHDOG=1\n");
}
