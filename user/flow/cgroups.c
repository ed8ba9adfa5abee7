// SPDX-License-Identifier: BSD-2-Clause
#include "flow/cgroups.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define CGROUP_BYTES_MOST 4096
#define CGROUPS_MOST	  (1u << 20)

struct cgroups {
	struct intern *paths;
	VEC(uint32_t) by_process;
};

int cgroups_new(struct cgroups **ret)
{
	AUTO(cgroups) cgroups = calloc(1, sizeof(*cgroups));
	uint32_t none;
	int err = cgroups ? intern_new(&cgroups->paths, CGROUPS_MOST)
			  : fail(-ENOMEM, "no memory for cgroups");

	if (!err)
		err = intern_id(cgroups->paths, "", 0, &none);
	if (err)
		return err;
	*ret = GIVE(cgroups);
	return 0;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	intern_free(cgroups->paths);
	vec_free(&cgroups->by_process);
	free(cgroups);
}

/* "0::/path" of version 2, else that of the first hierarchy with a long one. */
static const char *find_path(char *text)
{
	const char *best = "";
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		const char *colon = strchr(line, ':');
		const char *path = colon ? strchr(colon + 1, ':') : NULL;

		if (!path)
			continue;
		if (!strncmp(line, "0::", 3) && strcmp(path + 1, "/") != 0)
			return path + 1;
		if (strlen(path + 1) > strlen(best))
			best = path + 1;
	}
	return best;
}

static const char *read_cgroup(uint32_t tgid, char *text, size_t room)
{
	char path[64];
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, room - 1);
	if (n <= 0)
		return "";
	text[n] = '\0';
	return find_path(text);
}

int cgroups_look(struct cgroups *cgroups, const struct profile *profile)
{
	char text[CGROUP_BYTES_MOST];
	int err = 0;

	while (err >= 0 && cgroups->by_process.n < intern_count(profile->processes)) {
		size_t bytes;
		const struct profile_process *process = intern_bytes(
			profile->processes, (uint32_t)cgroups->by_process.n, &bytes);
		const char *path =
			process->tgid ? read_cgroup(process->tgid, text, sizeof(text))
				      : "";
		uint32_t id;

		err = intern_id(cgroups->paths, path, strlen(path), &id);
		if (err == INTERN_FULL)
			id = 0;
		if (err >= 0)
			err = vec_push(&cgroups->by_process, id);
	}
	return err < 0 ? err : 0;
}

const char *cgroups_of(const struct cgroups *cgroups, uint32_t process)
{
	return process < cgroups->by_process.n
		       ? intern_string(cgroups->paths, cgroups->by_process.items[process])
		       : NULL;
}
