// SPDX-License-Identifier: BSD-2-Clause
#include "sym/packages.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LISTS	       "/var/lib/dpkg/info"
#define LIST_BYTES_MAX (8u << 20) /* of one package's; the longest has some 2 MB */
#define ALIKE_BYTES    3	  /* of a file's name, behind "lib" */
#define MERGED_USR     "/usr"	  /* what lies there was packaged without it, in part */

/* The whole of a small file, NUL terminated; NULL: it can't be read. */
static char *read_list(int folder, const char *name)
{
	AUTO_CLOSE int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size > LIST_BYTES_MAX)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	n = text ? read(fd, text, (size_t)st.st_size) : -1;
	if (n >= 0)
		text[n] = '\0';
	else
		free(text);
	return n >= 0 ? text : NULL;
}

/* Is it a line of the list? */
static bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at += n)
		if ((at == text || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
			return true;
	return false;
}

static bool lists_file(const char *text, const char *path)
{
	size_t n = strlen(MERGED_USR);

	return has_line(text, path) ||
	       (!strncmp(path, MERGED_USR "/", n + 1) && has_line(text, path + n));
}

/* "zlib1g:amd64.list" -> "zlib1g-dbgsym". The C library's are older than that custom. */
static void name_debug_package(const char *list, char ret[PACKAGE_BYTES])
{
	size_t n = strcspn(list, ":");

	if (!list[n])
		n = strlen(list) - strlen(".list");
	snprintf(ret, PACKAGE_BYTES, "%.*s-%s", (int)n, list,
		 n == 5 && !strncmp(list, "libc6", 5) ? "dbg" : "dbgsym");
}

/* How many of the files it lists, of those that none listed before. */
static size_t look_into(int folder, const char *list, struct packaged_file *files,
			size_t n)
{
	AUTO_FREE char *text = read_list(folder, list);
	size_t found = 0;

	for (size_t i = 0; text && i < n; i++) {
		if (files[i].package[0] || !lists_file(text, files[i].path))
			continue;
		name_debug_package(list, files[i].package);
		found++;
	}
	return found;
}

/* Only of a path that a package has: any other may be one that makes us wait. */
static bool is_ours(const struct packaged_file *file)
{
	struct stat st;

	return !stat(file->path, &st) && st.st_ino == file->ino &&
	       st.st_dev == makedev(file->maj, file->min);
}

/* A library's package mostly begins as it does, and so does a program's. */
static bool has_name_like(const char *list, const struct packaged_file *file)
{
	const char *base = strrchr(file->path, '/');
	size_t n;

	base = base ? base + 1 : file->path;
	n = strncmp(base, "lib", 3) ? ALIKE_BYTES : ALIKE_BYTES + 3;
	return !strncasecmp(list, base, n);
}

static bool has_name_like_any(const char *list, const struct packaged_file *files,
			      size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!files[i].package[0] && has_name_like(list, &files[i]))
			return true;
	return false;
}

/* Goes through the lists whose names are like those of files, or through the others;
 * returns how many of the files it found. */
static size_t look_into_lists(DIR *lists, bool alike, struct packaged_file *files,
			      size_t n, size_t left)
{
	struct dirent *entry;
	size_t found = 0;

	rewinddir(lists);
	while (found < left && (entry = readdir(lists))) {
		size_t length = strlen(entry->d_name);

		if (length > 5 && !strcmp(entry->d_name + length - 5, ".list") &&
		    has_name_like_any(entry->d_name, files, n) == alike)
			found += look_into(dirfd(lists), entry->d_name, files, n);
	}
	return found;
}

void packages_find_debug(struct packaged_file *files, size_t n)
{
	DIR *lists = n ? opendir(LISTS) : NULL;
	size_t left = n;

	for (size_t i = 0; i < n; i++)
		files[i].package[0] = '\0';
	if (lists) {
		left -= look_into_lists(lists, true, files, n, left);
		look_into_lists(lists, false, files, n, left);
		closedir(lists);
	}
	for (size_t i = 0; i < n; i++)
		if (files[i].package[0] && !is_ours(&files[i]))
			files[i].package[0] = '\0';
}
