// SPDX-License-Identifier: BSD-2-Clause
/*
 * What --cgroup means: a path from here, one below the mount of cgroup v2, or the name
 * of a container as weft shows it, which is then looked for below the mount.
 */
#include "cli/check.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/str.h"
#include "core/profile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { SHOWN_BYTES = 256, DEPTH_MAX = 32 };

/* Where cgroup v2 is mounted: in a field of a line that ends "- cgroup2 …". */
static int find_cgroup_mount(char *ret, size_t room)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/self/mountinfo", "re");
	AUTO_FREE char *line = NULL;
	size_t line_room = 0;

	while (f && getline(&line, &line_room, f) > 0) {
		const char *type = strstr(line, " - cgroup2 ");
		char path[PATH_MAX];

		if (!type || sscanf(line, "%*d %*d %*s %*s %4095s", path) != 1)
			continue;
		if (strlen(path) >= room)
			continue;
		strcpy(ret, path);
		return 0;
	}
	fail(-EINVAL, "--cgroup: cgroup v2 is not mounted here");
	return fail_hint(-EINVAL, "mount -t cgroup2 none /sys/fs/cgroup/unified");
}

/* As given, or else below the mount. NULL: there is no such path. */
static char *resolve_cgroup(const char *path, const char *mount)
{
	AUTO_FREE char *below = NULL;
	char *real = realpath(path, NULL);

	if (real)
		return real;
	if (asprintf(&below, "%s/%s", mount, path) < 0) {
		below = NULL;
		return NULL;
	}
	return realpath(below, NULL);
}

struct container_search {
	const char *name;
	size_t mount_bytes;
	unsigned int n;
	char *found; /* owned: the first */
};

/* As weft shows it, or by all of its digits. */
static bool is_of_container(const struct container_search *search, const char *path)
{
	const char *below = path + search->mount_bytes;
	char container[SHOWN_BYTES];

	profile_container(container, sizeof(container), below);
	return *container && (!strcmp(container, search->name) ||
			      (strlen(search->name) > strlen(container) &&
			       !strncmp(container, search->name, strlen(container)) &&
			       strstr(below, search->name)));
}

/* What lies below a container's topmost cgroup is in the container, too. */
static void search_below(struct container_search *search, const char *path, int depth)
{
	DIR *folder = depth < DEPTH_MAX ? opendir(path) : NULL;
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		AUTO_FREE char *below = NULL;

		if (entry->d_type != DT_DIR || *entry->d_name == '.')
			continue;
		if (asprintf(&below, "%s/%s", path, entry->d_name) < 0) {
			below = NULL;
			break;
		}
		if (!is_of_container(search, below))
			search_below(search, below, depth + 1);
		else if (!search->n++)
			search->found = GIVE(below);
	}
	if (folder)
		closedir(folder);
}

/* *ret_path NULL: no container is called so. */
static int find_container(const char *name, const char *mount, char **ret_path)
{
	struct container_search search = { .name = name, .mount_bytes = strlen(mount) };
	char clean[SHOWN_BYTES];

	if (!strchr(name, '/') && *name)
		search_below(&search, mount, 0);
	if (search.n > 1) {
		free(search.found);
		fail(-EINVAL,
		     "--cgroup '%s': %u cgroups are of a container with that name",
		     str_clean(clean, sizeof(clean), name, strlen(name)), search.n);
		return fail_hint(-EINVAL, "give the path of one, below %s", mount);
	}
	*ret_path = search.found;
	return 0;
}

int check_cgroup(const char *path, char **ret_path)
{
	AUTO_FREE char *real = NULL;
	char mount[PATH_MAX], name[SHOWN_BYTES];
	struct statfs fs;
	struct stat st;
	int err = find_cgroup_mount(mount, sizeof(mount));

	if (err)
		return err;
	str_clean(name, sizeof(name), path, strlen(path));
	real = resolve_cgroup(path, mount);
	if (!real)
		err = find_container(path, mount, &real);
	if (err)
		return err;
	if (!real || stat(real, &st) || statfs(real, &fs)) {
		fail(-ENOENT, "--cgroup '%s': no such cgroup, and no such container",
		     name);
		return fail_hint(-ENOENT, "cgroups are the folders below %s", mount);
	}
	if (fs.f_type == CGROUP_SUPER_MAGIC) {
		fail(-EINVAL,
		     "--cgroup '%s': a version 1 cgroup, by which the kernel can't "
		     "filter samples",
		     name);
		return fail_hint(-EINVAL, "give a version 2 cgroup, a folder below %s",
				 mount);
	}
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode)) {
		fail(-EINVAL, "--cgroup '%s': not a cgroup", name);
		return fail_hint(-EINVAL, "cgroups are the folders below %s", mount);
	}
	*ret_path = GIVE(real);
	return 0;
}
