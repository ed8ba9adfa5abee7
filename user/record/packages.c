// SPDX-License-Identifier: BSD-2-Clause
#include "record/packages.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTS	       "/var/lib/dpkg/info"
#define LIST_BYTES_MAX (8u << 20) /* of one package's; the longest has some 2 MB */
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

static bool lists_file(int folder, const char *list, const char *path)
{
	AUTO_FREE char *text = read_list(folder, list);
	size_t n = strlen(MERGED_USR);

	return text && (has_line(text, path) || (!strncmp(path, MERGED_USR "/", n + 1) &&
						 has_line(text, path + n)));
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

bool packages_find_debug(const char *path, char ret[PACKAGE_BYTES])
{
	DIR *lists = opendir(LISTS);
	struct dirent *entry;
	bool found = false;

	while (lists && !found && (entry = readdir(lists))) {
		size_t n = strlen(entry->d_name);

		if (n <= 5 || strcmp(entry->d_name + n - 5, ".list") != 0)
			continue;
		found = lists_file(dirfd(lists), entry->d_name, path);
		if (found)
			name_debug_package(entry->d_name, ret);
	}
	if (lists)
		closedir(lists);
	return found;
}
