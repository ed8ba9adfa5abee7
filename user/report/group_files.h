/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile as many files in a folder, one for each group of its threads (core/tree.h),
 * named after the group: "nginx_1234.svg". Groups without samples have none. Names come
 * from foreign processes, so a file's name has letters, digits and -_. of theirs, and no
 * more.
 */
#ifndef WEFT_REPORT_GROUP_FILES_H
#define WEFT_REPORT_GROUP_FILES_H

#include "core/tree.h"
#include "format/writer.h"

#define GROUP_FILES_MAX 1000

struct group_files {
	const char *folder; /* made if it is not there */
	enum tree_group group;
	const struct writer *writer;
	struct writer_options how; /* the title is filled in */
};

/* Each is whole or not there. -E2BIG: they would be too many, and none was written. The
 * profile is as it was afterwards. */
int group_files_write(const struct group_files *files, struct profile *profile);

#endif
