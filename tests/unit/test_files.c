// SPDX-License-Identifier: BSD-2-Clause
/* When are two names one file? Never where the bytes may differ; and who met a limit is
 * tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sym/file_renewals.h"
#include "sym/files.h"

static char folder[] = "/tmp/test_files.XXXXXX";
static struct module_table *modules;
static const struct process process = { .tgid = 1, .incarnation = 1 };

static int open_path(struct opener *opener, pid_t pid, const struct mapping *map,
		     const struct module *module, int *ret_fd)
{
	*ret_fd = open(module->path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static struct owner nobody(struct opener *opener, pid_t pid)
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
static uint32_t map_inode(struct files *files, const char *name, uint64_t ino)
{
	char path[64];
	const struct module module = { .kind = MODULE_FILE, .ino = ino, .path = path };
	struct mapping map = { .start = 0x1000, .end = 0x2000 };

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(module_id(modules, &module, &map.module), 0);
	assert_int_equal(files_open(files, &process, &map), 0);
	return map.module;
}

static uint32_t map_file(struct files *files, const char *name)
{
	return map_inode(files, name, 1);
}

static struct files *begin(void)
{
	const struct files_config config = { .modules = modules,
					     .source = &source,
					     .command = 7 };
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

/* Whoever else has ended unseen may be anybody. */
static void command_is_ours_unseen(void **state)
{
	AUTO(files) files = begin();
	const struct module made[] = {
		{ .kind = MODULE_JIT, .path = "[jit]", .pid = 7 },
		{ .kind = MODULE_JIT, .path = "[jit]", .pid = 8 }
	};
	struct mapping maps[2] = { { .start = 0x1000, .end = 0x2000 } };

	for (int i = 0; i < 2; i++)
		assert_int_equal(module_id(modules, &made[i], &maps[i].module), 0);
	assert_true(files_owner(files, maps[0].module).known);
	assert_int_equal(files_owner(files, maps[0].module).uid, geteuid());
	assert_int_equal(files_owner(files, maps[0].module).inner_pid, 7);
	assert_int_equal(files_open(files, &process, &maps[1]), 0);
	assert_false(files_owner(files, maps[1].module).known);
	assert_int_equal(files_owner(files, maps[1].module).inner_pid, 8);
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

/* As [vsyscall], which every process maps: nobody looks for it anywhere. */
static void without_an_inode_nothing_is_opened(void **state)
{
	AUTO(files) files = begin();

	write_file("inode", "the bytes");
	assert_int_equal(files_fd(files, map_inode(files, "inode", 0)), -1);
	assert_int_equal(files_counts(files)->unreadable, 0);
	assert_true(files_fd(files, map_file(files, "inode")) >= 0);
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

static int map_again(struct files *files, const char *name)
{
	char path[64];
	const struct module module = { .kind = MODULE_FILE, .ino = 1, .path = path };
	struct mapping map = { .start = 0x1000, .end = 0x2000 };

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(module_id(modules, &module, &map.module), 0);
	return files_open(files, &process, &map);
}

static void of_size(const struct files *files, uint32_t module, off_t bytes)
{
	struct stat st;

	assert_int_equal(fstat(files_fd(files, module), &st), 0);
	assert_int_equal(st.st_size, bytes);
}

/* What was known of it is of other bytes. It is opened anew, by any of its names; and
 * has no names of functions, since some samples may be of the old ones. */
static void written_over_in_place_is_renewed(void **state)
{
	AUTO(files) files = begin();
	uint32_t first, second;

	write_file("place", "the bytes");
	link_file("place", "link");
	first = map_file(files, "place");
	second = map_file(files, "link");
	assert_int_equal(map_again(files, "place"), 0);
	write_file("place", "others, and more");
	assert_int_equal(map_again(files, "link"), FILES_RENEWED);
	of_size(files, second, 16);
	assert_int_equal(files_fd(files, first), -1);
	assert_int_equal(map_again(files, "place"), 0);
	of_size(files, first, 16);
	files_drop_overwritten(files);
	assert_int_equal(files_fd(files, first), -1);
	/* which matters to nobody who has no samples of it */
	assert_int_equal(files_counts(files)->overwritten, 0);
	files_note_sampled(files, first);
	files_note_sampled(files, second);
	assert_int_equal(files_counts(files)->overwritten, 1);
}

static uint64_t made_now_ns;

static uint64_t made_now(void)
{
	return made_now_ns;
}

/* So is what is written all the time, some times by each of its names, and then once a
 * second. */
static void written_over_all_the_time_is_opened_now_and_then(void **state)
{
	static const struct file_source made = { made_now, open_path, nobody };
	const struct files_config config = { .modules = modules, .source = &made };
	static const char *const names[] = { "busy", "busy-too" };
	AUTO(files) files = NULL;
	char text[128];

	assert_int_equal(files_new(&files, &config), 0);
	write_file("busy", "");
	link_file("busy", "busy-too");
	for (int i = 1; i < 100; i++) {
		memset(text, 'x', (size_t)i);
		text[i] = '\0';
		write_file("busy", text);
		assert_true(map_again(files, names[i % 2]) >= 0);
	}
	assert_int_equal(files_counts(files)->opened, 2 * (1 + FILE_RENEWALS_FREE));
	made_now_ns += FILE_RENEWAL_NS - 1;
	assert_int_equal(map_again(files, "busy"), 0);
	assert_int_equal(files_counts(files)->opened, 2 * (1 + FILE_RENEWALS_FREE));
	made_now_ns++;
	of_size(files, map_file(files, "busy"), 99);
	assert_int_equal(files_counts(files)->unreadable, 0);
	made_now_ns += 1; /* it is written no more, and stays */
	of_size(files, map_file(files, "busy-too"), 99);
}

static void written_over_and_sampled_counts(void **state)
{
	AUTO(files) files = begin();
	uint32_t over, same, other;

	write_file("over", "the bytes");
	write_file("same", "bytes");
	write_file("other", "more bytes");
	over = map_file(files, "over");
	same = map_file(files, "same");
	other = map_file(files, "other");
	write_file("over", "others, and more");
	write_file("other", "others");
	files_drop_overwritten(files);
	files_note_sampled(files, over);
	files_note_sampled(files, same);
	files_note_sampled(files, UINT32_MAX);
	assert_int_equal(files_counts(files)->overwritten, 1);
	files_drop_overwritten(files);
	files_note_sampled(files, over);
	assert_int_equal(files_counts(files)->overwritten, 1);
	files_note_sampled(files, other); /* in another window */
	assert_int_equal(files_counts(files)->overwritten, 2);
}

/* Until it is opened; and it was missed once, whatever comes of that. */
static void who_was_missed_says_why(void **state)
{
	AUTO(files) files = begin();
	uint32_t late = map_file(files, "late");

	assert_int_equal(files_missed(files, late), -ENOENT);
	assert_int_equal(files_missed(files, late + 1), 0); /* nobody has tried */
	assert_int_equal(map_file(files, "late"), late);
	assert_int_equal(files_counts(files)->unreadable, 1);
	write_file("late", "the bytes");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(map_file(files, "late"), late);
		assert_int_equal(files_missed(files, late), 0);
		assert_int_equal(files_counts(files)->unreadable, 0);
	}
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

/* ---- copies of files that can't be read without waiting ---- */

#define MB (1u << 20)

static int open_copied(struct opener *opener, pid_t pid, const struct mapping *map,
		       const struct module *module, int *ret_fd)
{
	int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0 && !ftruncate(fd, (off_t)atoi(module->path) * MB));
	assert_int_equal(fcntl(fd, F_ADD_SEALS,
			       F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
			 0);
	*ret_fd = fd;
	return 0;
}

/* Processes are their users' here; one is gone. */
static struct owner same_number(struct opener *opener, pid_t pid)
{
	return (struct owner){ pid != 99, 1, pid, (uid_t)pid, true };
}

/* A user maps so many MB that must be copied: are they? */
static bool is_copied(struct files *files, uint32_t user, int megabytes)
{
	static int number;
	const struct process of = { .tgid = user, .incarnation = user };
	char path[64];
	const struct module module = { .kind = MODULE_FILE, .ino = 1, .path = path };
	struct mapping map = { .start = 0x1000, .end = 0x2000 };

	snprintf(path, sizeof(path), "%d MB, number %d", megabytes, number++);
	assert_int_equal(module_id(modules, &module, &map.module), 0);
	assert_int_equal(files_open(files, &of, &map), 0);
	return files_fd(files, map.module) >= 0;
}

static void nobody_has_all_copies(void **state)
{
	const struct file_source copies = { clock_now_ns, open_copied, same_number };
	const struct files_config config = { .modules = modules, .source = &copies };
	AUTO(files) files = NULL;

	assert_int_equal(files_new(&files, &config), 0);
	assert_true(is_copied(files, 1000, 64));
	assert_true(is_copied(files, 1000, 64));
	assert_false(is_copied(files, 1000, 1)); /* half of 256 */
	assert_false(is_copied(files, 1001, 65));
	assert_true(is_copied(files, 1001, 64)); /* half of what is left */
	assert_true(is_copied(files, 99, 32));
	assert_false(is_copied(files, 0, 33));
	assert_true(is_copied(files, 0, 32)); /* all of it */
	assert_false(is_copied(files, 1000, 1));
	assert_false(is_copied(files, 1002, 1));
	assert_int_equal(files_counts(files)->copied, 5);
	assert_int_equal(files_counts(files)->copies_over_limit, 5);
	assert_int_equal(files_counts(files)->over_limit, 0);
}

/* What is let go is anybody's again. */
static void copies_are_given_back(void **state)
{
	const struct file_source copies = { clock_now_ns, open_copied, same_number };
	const struct files_config config = { .modules = modules, .source = &copies };
	AUTO(files) files = NULL;

	assert_int_equal(files_new(&files, &config), 0);
	for (int round = 0; round < 3; round++) {
		assert_true(is_copied(files, 1000, 60));
		assert_true(is_copied(files, 1000, 60));
		assert_false(is_copied(files, 1000, 60));
		for (uint32_t module = 0; module < module_count(modules); module++)
			files_let_go(files, module);
	}
}

static uint64_t later_ns(void)
{
	static uint64_t now_ns;

	return now_ns += 2000000000;
}

/* A process of this user maps the file of that name. */
static uint32_t map_as(struct files *files, uint32_t user, const char *name)
{
	const struct process of = { .tgid = user, .incarnation = user };
	char path[64];
	const struct module module = { .kind = MODULE_FILE, .ino = 1, .path = path };
	struct mapping map = { .start = 0x1000, .end = 0x2000 };

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(module_id(modules, &module, &map.module), 0);
	assert_int_equal(files_open(files, &of, &map), 0);
	return map.module;
}

/* Who has lent ids has files of each of them: they are his as long as he alone maps them,
 * and a file that another maps is its owner's, whoever was first. */
static void who_pays_for_names(void **state)
{
	const struct file_source owned = { later_ns, open_path, same_number };
	const struct files_config config = { .modules = modules, .source = &owned };
	AUTO(files) files = NULL;
	uint32_t his, both, roots;
	char path[64];
	uid_t uid = getuid() ? getuid() : 5000;

	assert_int_equal(files_new(&files, &config), 0);
	write_file("lent", "x");
	write_file("both", "y");
	snprintf(path, sizeof(path), "%s/lent", folder);
	assert_true(getuid() || !chown(path, uid, uid));
	snprintf(path, sizeof(path), "%s/both", folder);
	assert_true(getuid() || !chown(path, uid, uid));
	his = map_as(files, 1000, "lent");
	both = map_as(files, 1000, "both");
	assert_int_equal(files_payer(files, his), 1000);
	assert_int_equal(files_payer(files, both), 1000);
	map_as(files, 99, "lent"); /* that has ended says nothing */
	map_as(files, 1000, "lent");
	map_as(files, 1001, "both");
	assert_int_equal(files_payer(files, his), 1000);
	assert_int_equal(files_payer(files, both), uid);
	if (!getuid()) {
		write_file("roots", "z");
		roots = map_as(files, 1000, "roots");
		assert_int_equal(files_payer(files, roots), 0);
	}
	/* root runs it: it stays its owner's */
	write_file("run", "w");
	snprintf(path, sizeof(path), "%s/run", folder);
	assert_true(getuid() || !chown(path, uid, uid));
	assert_int_equal(files_payer(files, map_as(files, 0, "run")), uid);
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
		cmocka_unit_test(command_is_ours_unseen),
		cmocka_unit_test(two_names_are_one_file),
		cmocka_unit_test(without_an_inode_nothing_is_opened),
		cmocka_unit_test(written_over_it_is_another),
		cmocka_unit_test(written_over_in_place_is_renewed),
		cmocka_unit_test(written_over_all_the_time_is_opened_now_and_then),
		cmocka_unit_test(written_over_and_sampled_counts),
		cmocka_unit_test(who_was_missed_says_why),
		cmocka_unit_test(whoever_met_the_limit_is_tried_again),
		cmocka_unit_test(nobody_has_all_copies),
		cmocka_unit_test(copies_are_given_back),
		cmocka_unit_test(who_pays_for_names),
	};

	return cmocka_run_group_tests_name("files", tests, set_up, tear_down);
}
