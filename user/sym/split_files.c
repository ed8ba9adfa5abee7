// SPDX-License-Identifier: BSD-2-Clause
#include "sym/split_files.h"

#include "base/error.h"
#include "base/log.h"

#include <string.h>
#include <unistd.h>

struct split_found {
	struct split_search *search;
	struct split_files *files;
};

static int on_split(void *arg, size_t index, const char *path, uint64_t id)
{
	const struct split_found *found = arg;
	struct debug_query *query = &found->search->query;
	struct split_files *files = found->files;
	int fd = -1;

	files->missing++;
	if (files->n == SPLIT_FILES_MAX || strlen(path) >= sizeof(query->split))
		return 0;
	strcpy(query->split, path);
	query->first = open_debug_first_split();
	if (opener_debug(found->search->opener, query, found->search->path, &query->first,
			 &fd)) {
		error_clear();
		return 0;
	}
	files->missing--;
	files->files[files->n++] = (struct split_file){ id, fd };
	return 0;
}

void split_files_find(struct split_files *ret, struct split_search *search)
{
	struct split_found found = { search, ret };

	ret->n = ret->missing = 0;
	if (worker_names(search->worker, &search->asked, on_split, &found))
		error_clear();
	if (ret->missing)
		log_verbose("%lu .dwo files of %s: not found", ret->missing,
			    search->path);
}

void split_files_close(struct split_files *files)
{
	while (files->n)
		close(files->files[--files->n].fd);
}
