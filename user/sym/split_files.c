// SPDX-License-Identifier: BSD-2-Clause
#include "sym/split_files.h"

#include "base/error.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOT_SOUGHT (-2)

struct split_found {
	struct split_search *search;
	struct split_files *files;
	int package; /* of all of them, beside the module */
};

static int open_at(struct split_search *search)
{
	int fd;

	search->query.first = open_debug_first_split();
	if (!opener_debug(search->opener, &search->query, search->path,
			  &search->query.first, &fd))
		return fd;
	error_clear();
	return -1;
}

static int open_of_package(struct split_found *found)
{
	struct split_search *search = found->search;
	struct debug_query *query = &search->query;
	int n;

	if (found->package == NOT_SOUGHT) {
		n = snprintf(query->split, sizeof(query->split), "%s.dwp", search->path);
		found->package = n < (int)sizeof(query->split) ? open_at(search) : -1;
	}
	return found->package < 0 ? -1 : fcntl(found->package, F_DUPFD_CLOEXEC, 0);
}

static int on_split(void *arg, size_t index, const char *path, uint64_t id)
{
	struct split_found *found = arg;
	struct debug_query *query = &found->search->query;
	struct split_files *files = found->files;
	int fd;

	files->missing++;
	if (files->n == SPLIT_FILES_MAX || strlen(path) >= sizeof(query->split))
		return 0;
	strcpy(query->split, path);
	fd = open_at(found->search);
	if (fd < 0)
		fd = open_of_package(found);
	if (fd < 0)
		return 0;
	files->missing--;
	files->files[files->n++] = (struct split_file){ id, fd };
	return 0;
}

void split_files_find(struct split_files *ret, struct split_search *search)
{
	struct split_found found = { search, ret, NOT_SOUGHT };

	ret->n = ret->missing = 0;
	if (worker_names(search->worker, &search->asked, on_split, &found))
		error_clear();
	if (found.package >= 0)
		close(found.package);
	if (ret->missing)
		log_verbose("%lu .dwo files of %s: not found", ret->missing,
			    search->path);
}

void split_files_close(struct split_files *files)
{
	while (files->n)
		close(files->files[--files->n].fd);
}
