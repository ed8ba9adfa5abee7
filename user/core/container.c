// SPDX-License-Identifier: BSD-2-Clause
/*
 * What runs in a container is told by its cgroup's path. Runtimes put 64 hex
 * digits there: docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope,
 * .../docker/ID, .../pod…/ID. LXC puts the container's name: lxc.payload.NAME,
 * lxc/NAME; what systemd runs in it lies below. Where there is neither, the last part
 * that systemd gave a name. Kubernetes has a folder for each pod: kubepods…/podUID, and
 * with systemd's driver kubepods-…-podUID.slice, where _ stands for the dashes of the
 * uid. A static pod's uid is a sum without dashes.
 */
#include "core/profile.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS    64
#define SHOWN_DIGITS 12
#define POD_DIGITS   32
#define POD_DASHES   4

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

/* The innermost, without what LXC puts before it. NULL: none. */
static const char *find_lxc(const char *cgroup)
{
	static const char *const before[] = { "/lxc.payload.", "/lxc.payload/", "/lxc/" };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		for (const char *s = cgroup; (s = strstr(s, before[i]));) {
			s += strlen(before[i]);
			if (*s && *s != '/' && s > found)
				found = s;
		}
	return found;
}

char *profile_container(char *out, size_t room, const char *cgroup)
{
	const char *id = find_id(cgroup);
	const char *lxc = find_lxc(cgroup);

	out[0] = '\0';
	if (id) {
		snprintf(out, room, "%.*s", SHOWN_DIGITS, id);
		return out;
	}
	if (lxc) {
		snprintf(out, room, "%.*s", (int)strcspn(lxc, "/"), lxc);
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

char *profile_container_id(char *out, size_t room, const char *cgroup)
{
	const char *id = find_id(cgroup);

	snprintf(out, room, "%.*s", ID_DIGITS, id ? id : "");
	return out;
}

/* How many bytes of it are a uid: 32 or 36, or 0. */
static size_t pod_bytes(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef-_");
	const char *end = s + n;

	if ((n != POD_DIGITS && n != POD_DIGITS + POD_DASHES) ||
	    (*end && *end != '/' && strncmp(end, ".slice", 6) != 0))
		return 0;
	return n;
}

char *profile_pod(char *out, size_t room, const char *cgroup)
{
	const char *s = strstr(cgroup, "kubepods");

	out[0] = '\0';
	while (s && (s = strstr(s, "pod")) != NULL) {
		size_t n = pod_bytes(s += strlen("pod"));

		if (!n)
			continue;
		snprintf(out, room, "%.*s", (int)n, s);
		for (char *c = out; *c; c++)
			*c = *c == '_' ? '-' : *c;
		break;
	}
	return out;
}

char *profile_service(char *out, size_t room, const char *cgroup)
{
	static const char ending[] = ".service", user[] = "user@";

	out[0] = '\0';
	for (const char *s = cgroup; *s;) {
		size_t n = strcspn(s, "/");

		if (ends_with(s, n, ending) && strncmp(s, user, strlen(user)) != 0)
			snprintf(out, room, "%.*s", (int)(n - strlen(ending)), s);
		s += n ? n : 1;
	}
	return out;
}
