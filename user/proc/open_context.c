// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_context.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "proc/open_copy.h"
#include "proc/open_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CONTEXT_VERSION 2
#define TRIES		3
#define PAUSE_US	500
#define TRIED_MAX	8 /* mappings of this name */

_Static_assert(sizeof(struct context_header) == 32, "as it is published");

bool context_is_mapping(const char *line, uint64_t *ret_start)
{
	/* by the kernel's names for a memfd that was named, an anonymous mapping that
	 * was, and a memfd that could not be */
	static const char *const names[] = { "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
					     "/memfd:OTEL_CTX" };
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %*x:%*x %*u %n", ret_start, &name) != 1)
		return false;
	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(line + name, names[i], strlen(names[i])))
			return true;
	return false;
}

int context_check(const struct context_header *header)
{
	if (memcmp(header->signature, "OTEL_CTX", sizeof(header->signature)) != 0)
		return fail(-EBADMSG, "its process context has no signature");
	if (header->version != CONTEXT_VERSION)
		return fail(-EBADMSG, "its process context is of version %u, not %d",
			    header->version, CONTEXT_VERSION);
	if (!header->published_ns)
		return fail(-EAGAIN, "its process context is being written");
	if (header->payload_bytes > CONTEXT_BYTES_MAX)
		return fail(-EFBIG, "its process context has %u bytes",
			    header->payload_bytes);
	return 0;
}

static int read_memory(pid_t pid, uint64_t addr, void *into, size_t n)
{
	int err = open_memory(pid, addr, (struct iovec){ into, n }, n);

	return err == -EFAULT
		       ? fail(err, "its process context is not where its header says")
		       : err;
}

/* What was read is whole if the header is the same before and after. */
static int read_once(pid_t pid, uint64_t addr, void *payload, size_t *ret_n)
{
	struct context_header before, after;
	int err = read_memory(pid, addr, &before, sizeof(before));

	if (!err)
		err = context_check(&before);
	if (!err && before.payload_bytes)
		err = read_memory(pid, before.payload, payload, before.payload_bytes);
	if (!err)
		err = read_memory(pid, addr, &after, sizeof(after));
	if (err)
		return err;
	if (memcmp(&before, &after, sizeof(before)) != 0)
		return fail(-EAGAIN, "its process context changes");
	*ret_n = before.payload_bytes;
	return 0;
}

static int read_context(pid_t pid, uint64_t addr, void *payload, size_t *ret_n)
{
	int err = -EAGAIN;

	for (int i = 0; err == -EAGAIN && i < TRIES; i++) {
		if (i)
			usleep(PAUSE_US);
		err = read_once(pid, addr, payload, ret_n);
	}
	return err;
}

/* The first of that name that is one; others may be called so. */
static int find_context(FILE *maps, pid_t pid, void *payload, size_t *ret_n)
{
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	unsigned int tried = 0;
	int err = -ENOENT;

	for (unsigned int i = 0;
	     err && tried < TRIED_MAX && getline(&line, &room, maps) > 0; i++) {
		uint64_t start;

		if (i == CONTEXT_MAPPINGS_MAX)
			return fail(-EFBIG, "it has too many mappings to look for its "
					    "process context");
		if (!context_is_mapping(line, &start))
			continue;
		tried++;
		err = read_context(pid, start, payload, ret_n);
	}
	return err == -ENOENT ? fail(err, "it has no process context") : err;
}

int open_context(pid_t pid, int *ret_fd)
{
	AUTO_FREE char *payload = malloc(CONTEXT_BYTES_MAX);
	AUTO_FCLOSE FILE *maps = NULL;
	char path[64];
	size_t n = 0;
	int err;

	if (!payload)
		return fail(-ENOMEM, "no memory for a process context");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? fail(-ESRCH, "pid %d is gone", pid)
				       : fail_errno(-errno, "cannot read %s", path);
	err = find_context(maps, pid, payload, &n);
	return err ? err : open_copy_bytes(payload, n, ret_fd);
}
