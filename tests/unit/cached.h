/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables looked up as a recording does, with a worker and a cache in a folder of
 * the test's. What comes is compared with what user/obj makes of the file at once.
 */
#ifndef WEFT_TESTS_CACHED_H
#define WEFT_TESTS_CACHED_H

#include "publish/table_loader.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <dirent.h>

struct looked_up {
	bool done;
	int err;
	uint32_t n;
	union unwind_page *pages;
	struct unwind_stats stats;
	struct table_loader_counts counts;
};

static const char cached_source_c[] =
	"int g(int);\n"
	"int f(int n) { char a[n]; return n > 1 ? g(n - 1) + f(n - 2) + a[0] : 1; }\n"
	"int h(int n) { return g(n) + f(n); }\n";

/* Two files with different tables. */
static inline UNUSED int cached_setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", cached_source_c, strlen(cached_source_c));
	return shell("gcc -w -O2 -shared -fPIC s.c -o one.so && "
		     "gcc -w -O1 -fno-omit-frame-pointer -shared -fPIC s.c -o two.so");
}

/* Each test has a cache of its own. */
static inline UNUSED int cached_begin(void **state)
{
	return shell("rm -rf cache");
}

/* Tables that were made, read from the cache, and kept there. */
#define EXPECT(all, made_, hits_, kept_)                                                 \
	do {                                                                             \
		assert_int_equal((all)->counts.made, made_);                             \
		assert_int_equal((all)->counts.cache.hits, hits_);                       \
		assert_int_equal((all)->counts.cache.kept, kept_);                       \
	} while (0)

static inline void looked_up_free(struct looked_up *all)
{
	free(all->pages);
	*all = (struct looked_up){ 0 };
}

static inline void looked_pages(void *arg, uint64_t cookie, uint32_t first,
				const union unwind_page *pages, uint32_t n)
{
	struct looked_up *all = arg;

	assert_int_equal(cookie, 7);
	if (!first) {
		free(all->pages);
		all->pages = calloc(pages[0].head.n_pages, sizeof(*pages));
		all->n = 0;
	}
	assert_int_equal(first, all->n);
	assert_true(n <= all->pages[0].head.n_pages - all->n || !first);
	memcpy(all->pages + first, pages, n * sizeof(*pages));
	all->n += n;
}

static inline void looked_done(void *arg, uint64_t cookie, int err,
			       const struct table_answer *answer)
{
	struct looked_up *all = arg;

	assert_false(all->done);
	all->done = true;
	all->err = err;
	all->stats = answer->stats;
	if (!err)
		assert_memory_equal(&answer->head, &all->pages[0].head,
				    sizeof(answer->head));
}

static inline void looked_scan(void *arg, uint64_t cookie, int err,
			       const struct elf_info *info)
{
}

/* Another start of weft: a worker and a cache of its own. */
static inline UNUSED void look_up_fd(const char *folder, int fd, struct looked_up *ret)
{
	const struct table_sink sink = { .arg = ret,
					 .pages = looked_pages,
					 .done = looked_done };
	AUTO(worker) worker = NULL;
	AUTO(cache) cache = NULL;
	AUTO(table_loader) loader = NULL;

	*ret = (struct looked_up){ 0 };
	assert_int_equal(worker_new(&worker), 0);
	assert_int_equal(cache_new(&cache, folder), 0);
	assert_int_equal(table_loader_new(&loader, worker, NULL, cache, &sink), 0);
	assert_int_equal(table_loader_begin(loader, fd, 7, true), 0);
	assert_int_equal(worker_collect(worker, 20000, looked_scan, NULL), 0);
	assert_true(ret->done);
	table_loader_count(loader, &ret->counts);
}

static inline UNUSED void look_up(const char *folder, const char *path,
				  struct looked_up *ret)
{
	look_up_fd(folder, open_file(path), ret);
}

/* Is it the table that the file has now? */
static inline UNUSED bool is_table_of(const struct looked_up *all, const char *path)
{
	struct unwind_table *table;
	union unwind_page page;
	int fd = open_file(path);
	bool same = !all->err;

	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	same = same && all->n == unwind_table_head(table)->n_pages &&
	       !memcmp(&all->stats, unwind_table_stats(table), sizeof(all->stats));
	for (uint32_t i = 0; same && i < all->n; i++) {
		unwind_table_page(table, i, &page);
		same = !memcmp(&page, &all->pages[i], sizeof(page));
	}
	unwind_table_free(table);
	close(fd);
	return same;
}

/* Is it the list of known files? */
static inline bool is_known_list(const char *path)
{
	FILE *f = fopen(path, "re");
	char magic[6] = "";
	bool is_list = f && fread(magic, 6, 1, f) == 1 && !memcmp(magic, "weftkf", 6);

	if (f)
		fclose(f);
	return is_list;
}

/* How many entries a folder has, and other files, and the path of the last. */
static inline UNUSED unsigned int files_in(const char *folder, char ret_path[512])
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned int n = 0;
	char path[512];

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] == '.' || is_known_list(path))
			continue;
		memcpy(ret_path, path, sizeof(path));
		n++;
	}
	closedir(dir);
	return n;
}

#endif
