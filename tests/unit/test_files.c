// SPDX-License-Identifier: BSD-2-Clause
/* When are two names one file? Never where the bytes may differ; and who met a limit is
 * tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sym/files.h"

static char folder[] = "/tmp/test_files.XXXXXX";
static struct module_table *modules;
static const struct process process = { .tgid = 1, .incarnation = 1 };

static int open_path(pid_t pid, const struct mapping *map, const struct module *module,
		     int *ret_fd)
{
	*ret_fd = open(module->path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -1 : 0;
}

static struct owner nobody(pid_t pid)
{
	return (struct owner){ 0 };
}

static const struct file_source source = { clock_now_ns, open_path, nobody };

static void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r+");
	if (!f)
		f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Maps it, by the number of its module. */
static uint32_t map_file(struct files *files, const char *name)
{
	char path[64];
	const struct module module = { .kind = MODULE_FILE, .ino = 1, .path = path };
	struct mapping map = { .start = 0x1000, .end = 0x2000 };

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(module_id(modules, &module, &map.module), 0);
	assert_int_equal(files_open(files, &process, &map), 0);
	return map.module;
}

static struct files *begin(void)
{
	const struct files_config config = { .modules = modules, .source = &source };
	struct files *files;

	assert_int_equal(files_new(&files, &config), 0);
	return files;
}

static void link_file(const char *name, const char *to)
{
	char from[64], path[64];

	snprintf(from, sizeof(from), "%s/%s", folder, name);
	snprintf(path, sizeof(path), "%s/%s", folder, to);
	assert_int_equal(link(from, path), 0);
}

static void two_names_are_one_file(void **state)
{
	AUTO(files) files = begin();
	uint32_t first;

	write_file("one", "the bytes");
	first = map_file(files, "one");
	link_file("one", "other"); /* which changes its ctime */
	assert_int_equal(files_same(files, map_file(files, "other")), first);
}

/* What runs under the other name is what lies there now. */
static void written_over_it_is_another(void **state)
{
	AUTO(files) files = begin();
	uint32_t first, second;

	write_file("old", "the bytes");
	link_file("old", "new");
	first = map_file(files, "old");
	write_file("old", "others, and more");
	second = map_file(files, "new");
	assert_int_equal(files_same(files, second), second);
	assert_int_equal(files_same(files, first), first);
	assert_int_not_equal(files_fd(files, second), files_fd(files, first));
}

static void whoever_met_the_limit_is_tried_again(void **state)
{
	struct rlimit before, few;
	struct files *files;
	uint32_t met, last = 0;
	char name[32];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 64, 64 < before.rlim_max ? 64 : before.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &few))
		skip();
	files = begin();
	for (int i = 0; !files_counts(files)->over_limit; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		write_file(name, name);
		last = map_file(files, name);
	}
	met = map_file(files, name);
	assert_int_equal(met, last);
	assert_int_equal(files_fd(files, met), -1);
	assert_int_equal(files_counts(files)->over_limit, 1); /* it is one file */
	files_let_go(files, met - 1);
	assert_int_equal(map_file(files, name), met);
	assert_true(files_fd(files, met) >= 0);
	files_free(files);
}

static int set_up(void **state)
{
	return mkdtemp(folder) ? module_table_new(&modules) : -1;
}

static int tear_down(void **state)
{
	char line[128];

	module_table_free(modules);
	snprintf(line, sizeof(line), "rm -rf %s", folder);
	return system(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_names_are_one_file),
		cmocka_unit_test(written_over_it_is_another),
		cmocka_unit_test(whoever_met_the_limit_is_tried_again),
	};

	return cmocka_run_group_tests_name("files", tests, set_up, tear_down);
}
