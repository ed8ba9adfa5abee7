// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_debug.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/str.h"
#include "proc/open.h"
#include "proc/open_below.h"
#include "proc/open_copy.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define FOLDER "/usr/lib/debug"

enum {
	BY_BUILD_ID,
	AS_MODULE,
	BESIDE,
	IN_FOLDER_BESIDE,
	IN_FOLDER,
	IN_DWZ,
	AS_SPLIT,
	SPLIT_BESIDE,
	N_FORMS
};
enum { BELOW_SYMFS, BELOW_THEIRS, BELOW_OURS, N_ROOTS }; /* of each form in this order */

uint32_t open_debug_first_by_link(void)
{
	return BESIDE * N_ROOTS;
}

uint32_t open_debug_first_split(void)
{
	return AS_SPLIT * N_ROOTS;
}

/* module: up to the end of its folder. */
static void add_split(struct str *path, const struct debug_query *query, int form,
		      const char *module, size_t n)
{
	const char *slash = strrchr(query->split, '/');

	if (form == AS_SPLIT && *query->split == '/')
		str_add(path, query->split);
	if (form == AS_SPLIT || !*query->split)
		return;
	str_add_bytes(path, module, n);
	str_add(path, slash ? slash + 1 : query->split);
}

static void add_build_id(struct str *path, const struct debug_query *query)
{
	if (query->build_id_bytes < 2 || query->build_id_bytes > DEBUG_ID_BYTES)
		return;
	str_addf(path, FOLDER "/.build-id/%02x/", query->build_id[0]);
	for (uint32_t i = 1; i < query->build_id_bytes; i++)
		str_addf(path, "%02x", query->build_id[i]);
	str_add(path, ".debug");
}

/* Empty if the place is none of this one's. */
static void make_path(struct str *path, const struct debug_query *query,
		      const char *module, uint32_t place)
{
	int form = (int)place / N_ROOTS;
	const char *slash = strrchr(module, '/');

	str_clear(path);
	if (form == BY_BUILD_ID)
		add_build_id(path, query);
	if (form == AS_MODULE && place % N_ROOTS == BELOW_SYMFS && !*query->dwz)
		str_add(path, module);
	if (form == IN_DWZ && *query->dwz)
		str_addf(path, FOLDER "/%s", query->dwz);
	if (form >= AS_SPLIT && slash)
		add_split(path, query, form, module, (size_t)(slash - module) + 1);
	if (form < BESIDE || form >= IN_DWZ || !slash || !*query->link)
		return;
	if (form == IN_FOLDER)
		str_add(path, FOLDER);
	str_add_bytes(path, module, (size_t)(slash - module) + 1);
	if (form == IN_FOLDER_BESIDE)
		str_add(path, ".debug/");
	str_add(path, query->link);
}

static bool may_be_read(const struct stat *st, const struct owner *owner)
{
	return st->st_mode & S_IROTH || (owner->known && st->st_uid == owner->uid);
}

/* A file system that answers as it likes tells any owner, too; but what lies in our
 * folder of debug files an administrator put there, or mounted. */
static bool is_believed(int fd, const struct debug_query *query, uint32_t place)
{
	int form = (int)place / N_ROOTS;

	if (!open_can_wait(fd, query->pid))
		return true;
	return place % N_ROOTS == BELOW_OURS &&
	       (form == BY_BUILD_ID || form == IN_FOLDER || form == IN_DWZ);
}

static bool is_taken(int fd, const struct debug_query *query, const struct owner *owner)
{
	struct stat st;

	if (fstat(fd, &st) || open_is_made_up(fd) || !may_be_read(&st, owner))
		return false;
	if (!st.st_uid)
		return !(st.st_mode & (S_IWGRP | S_IWOTH));
	return st.st_uid == query->module_uid && !(st.st_mode & S_IWOTH);
}

/* Without what lets us read others' files: who runs weft may not be root. */
static int open_as_user(const char *root, const char *path)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct kept[2], less[2];
	int fd;

	if (!getuid())
		return open_below(root, path, 0);
	if (syscall(SYS_capget, &head, kept))
		return -errno;
	memcpy(less, kept, sizeof(less));
	less[0].effective &=
		~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER);
	if (syscall(SYS_capset, &head, less))
		return -errno;
	fd = open_below(root, path, 0);
	syscall(SYS_capset, &head, kept);
	return fd;
}

/* What lies at a place, if it is taken; or -1. */
static int open_place_of(const struct debug_query *query, const char *path,
			 uint32_t place, const struct owner *owner)
{
	AUTO_CLOSE int fd = -1;
	char root[32];

	if (place % N_ROOTS == BELOW_SYMFS) {
		fd = *query->symfs ? open_as_user(query->symfs, path) : -1;
		return fd < 0 || open_is_made_up(fd) ? -1 : GIVE_FD(fd);
	}
	snprintf(root, sizeof(root), "/proc/%d/root", query->pid);
	fd = open_below(place % N_ROOTS == BELOW_OURS ? "/" : root, path, 0);
	if (fd < 0 || !is_believed(fd, query, place) || !is_taken(fd, query, owner))
		return -1;
	return GIVE_FD(fd);
}

int open_debug(const struct debug_query *query, const char *path, uint32_t *ret_place,
	       int *ret_fd)
{
	const struct owner owner = open_owner(query->pid);
	AUTO_STR candidate = { 0 };

	for (uint32_t place = query->first; place < N_ROOTS * N_FORMS; place++) {
		int fd;

		make_path(&candidate, query, path, place);
		if (candidate.failed)
			return str_error(&candidate);
		fd = candidate.n ? open_place_of(query, candidate.s, place, &owner) : -1;
		if (fd < 0)
			continue;
		*ret_place = place;
		*ret_fd = fd;
		return 0;
	}
	return fail(-ENOENT, "no debug file of %s", path);
}
