/* SPDX-License-Identifier: BSD-2-Clause */
/* Outputs that a signal cuts short: they are gone, or it is said where they are. */
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64];

static int enter(void **state)
{
	strcpy(folder, "/tmp/weft-unit.XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("/") || system(command);
}

/* Files here whose names end so. */
static unsigned int count(const char *ending)
{
	DIR *dir = opendir(".");
	const struct dirent *entry;
	unsigned int n = 0;

	while ((entry = readdir(dir))) {
		const char *at = strstr(entry->d_name, ending);

		n += at && !strcmp(at, ending);
	}
	closedir(dir);
	return n;
}

static const char *last_words;

static void on_signal(int number)
{
	outfile_abandon(last_words);
}

static struct outfile *begin(const char *path)
{
	struct outfile *file;

	assert_int_equal(outfile_new(&file, path), 0);
	assert_int_equal(outfile_add(file, "half", 4), 0);
	return file;
}

/* What abandoning said on stderr. */
static size_t abandon(char *said, size_t room)
{
	int ends[2], before = dup(2);
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], 2);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	dup2(before, 2);
	close(before);
	close(ends[1]);
	n = read(ends[0], said, room - 1);
	close(ends[0]);
	assert_true(n >= 0);
	said[n] = '\0';
	return (size_t)n;
}

static void those_that_are_not_whole_go(void **state)
{
	struct outfile *one = begin("one"), *two = begin("two"), *whole = begin("whole");
	char said[8192];

	assert_int_equal(outfile_finish(whole), 0);
	outfile_free(whole);
	assert_int_equal(count(".part"), 2);
	assert_int_equal(abandon(said, sizeof(said)), 0);
	assert_int_equal(count(".part"), 0);
	assert_int_equal(count("whole"), 1);
	outfile_free(one);
	outfile_free(two);
	last_words = "that was all\n";
	assert_int_equal(abandon(said, sizeof(said)), strlen(last_words));
	assert_string_equal(said, last_words);
	last_words = NULL;
}

static void those_that_can_be_read_are_named(void **state)
{
	struct outfile *tape = begin("tape"), *other = begin("other");
	char said[8192], want[256];

	outfile_keep_when_cut(tape);
	abandon(said, sizeof(said));
	snprintf(want, sizeof(want), "weft: tape.%d.part holds what was written so far\n",
		 getpid());
	assert_string_equal(said, want);
	assert_int_equal(count(".part"), 1);
	outfile_free(other);
	outfile_free(tape);
	assert_int_equal(count(".part"), 0);
	assert_int_equal(abandon(said, sizeof(said)), 0);
}

/* Or what the first finished would be the half of the second. */
static void nobody_writes_to_the_same_twice(void **state)
{
	struct outfile *one, *two = NULL;
	int here = open(".", O_RDONLY | O_DIRECTORY);

	assert_int_equal(outfile_new_in(&one, here, "same"), 0);
	assert_int_equal(outfile_new_in(&two, here, "same"), -EBUSY);
	assert_null(two);
	assert_int_equal(count(".part"), 1);
	assert_int_equal(outfile_finish(one), 0);
	outfile_free(one);
	assert_int_equal(outfile_new_in(&two, here, "same"), 0);
	outfile_free(two);
	close(here);
	assert_int_equal(count("same"), 1);
}

static void a_child_leaves_its_parents(void **state)
{
	struct outfile *file = begin("parents");
	pid_t child = fork();
	int status;

	if (!child) {
		outfile_abandon(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(count(".part"), 1);
	assert_int_equal(outfile_finish(file), 0);
	outfile_free(file);
	assert_int_equal(count("parents"), 1);
}

/* Where everybody may put one, only our own are written to. */
static void a_fifo_of_another_is_not_written_to(void **state)
{
	AUTO(outfile) file = NULL;
	int reader;

	if (geteuid())
		skip(); /* gives nothing away */
	assert_int_equal(mkfifo("ours", 0666), 0);
	assert_int_equal(mkfifo("theirs", 0666), 0);
	assert_int_equal(chown("theirs", 65534, 65534), 0);
	for (int is_common = 0; is_common < 2; is_common++) {
		assert_int_equal(chmod(".", is_common ? 01777 : 0755), 0);
		reader = open("ours", O_RDONLY | O_NONBLOCK);
		assert_int_equal(outfile_new(&file, "ours"), 0);
		outfile_free(GIVE(file));
		close(reader);
		reader = open("theirs", O_RDONLY | O_NONBLOCK);
		assert_int_equal(outfile_new(&file, "theirs"), is_common ? -EACCES : 0);
		outfile_free(GIVE(file));
		close(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_are_not_whole_go, enter,
						leave),
		cmocka_unit_test_setup_teardown(those_that_can_be_read_are_named, enter,
						leave),
		cmocka_unit_test_setup_teardown(nobody_writes_to_the_same_twice, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_child_leaves_its_parents, enter, leave),
		cmocka_unit_test_setup_teardown(a_fifo_of_another_is_not_written_to,
						enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
