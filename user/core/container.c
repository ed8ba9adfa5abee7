// SPDX-License-Identifier: BSD-2-Clause
/*
 * What runs in a container is told by its cgroup's path. Runtimes put 64 hex
 * digits there: docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope,
 * .../docker/ID, .../pod…/ID. Where there are none, the last part that systemd
 * gave a name.
 */
#include "core/profile.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS    64
#define SHOWN_DIGITS 12

/* The last run of exactly 64 hex digits. */
static const char *find_id(const char *cgroup)
{
	const char *found = NULL;

	for (const char *s = cgroup; *s;) {
		size_t n = strspn(s, "0123456789abcdef");

		if (n == ID_DIGITS)
			found = s;
		s += n ? n : 1;
	}
	return found;
}

static bool ends_with(const char *s, size_t n, const char *ending)
{
	size_t m = strlen(ending);

	return n > m && !memcmp(s + n - m, ending, m);
}

char *profile_container(char *out, size_t room, const char *cgroup)
{
	const char *id = find_id(cgroup);

	out[0] = '\0';
	if (id) {
		snprintf(out, room, "%.*s", SHOWN_DIGITS, id);
		return out;
	}
	for (const char *s = cgroup; *s;) {
		size_t n = strcspn(s, "/");

		if (ends_with(s, n, ".service") || ends_with(s, n, ".scope"))
			snprintf(out, room, "%.*s", (int)n, s);
		s += n ? n : 1;
	}
	return out;
}
