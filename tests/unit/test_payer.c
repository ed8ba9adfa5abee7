// SPDX-License-Identifier: BSD-2-Clause
/* Whose a process is that calls itself many: as users with ids that were lent to them. */
#include "base/cleanup.h"
#include "proc/open.h"
#include "proc/payer.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAKER = 64990, LENT = 640000, MOST = 1000 };

static int ask[2], answer[2]; /* the child's words and ours */

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(9);
	close(fd);
}

/* In the child: our parent writes our map. */
static void wait_for_parent(void)
{
	char c = 'm';

	if (write(ask[1], &c, 1) != 1 || read(answer[0], &c, 1) != 1)
		_exit(8);
}

static void map_ids(pid_t pid, const char *of)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, of);
	snprintf(text, sizeof(text), "0 %d %d", LENT, MOST);
	write_text(path, text);
}

/* The id that it has in the namespace; deeper: in another one below, of that id's. */
static void be_in_namespace(uid_t maker, uid_t inside, bool deeper)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setresuid(maker, maker, maker) || unshare(CLONE_NEWUSER))
		_exit(7);
	wait_for_parent();
	if (setresgid(inside, inside, inside) || setresuid(inside, inside, inside))
		_exit(6);
	if (deeper && unshare(CLONE_NEWUSER))
		_exit(5);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	wait_for_parent();
	pause();
}

static void let_go_on(bool maps, pid_t child)
{
	char c;

	assert_int_equal(read(ask[0], &c, 1), 1);
	if (maps) {
		map_ids(child, "uid_map");
		map_ids(child, "gid_map");
	}
	assert_int_equal(write(answer[1], &c, maps), maps);
}

static pid_t new_child(uid_t maker, uid_t inside, bool deeper)
{
	pid_t child;

	assert_int_equal(pipe2(ask, O_CLOEXEC) | pipe2(answer, O_CLOEXEC), 0);
	child = fork();
	if (!child)
		be_in_namespace(maker, inside, deeper);
	assert_true(child > 0);
	close(ask[1]);
	let_go_on(true, child);
	let_go_on(false, child);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ask[0]);
	close(answer[0]);
	close(answer[1]);
}

static bool has_namespaces(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(setresuid(MAKER, MAKER, MAKER) || unshare(CLONE_NEWUSER));
	return waitpid(child, &status, 0) == child && !status;
}

static void lent_ids_are_their_makers(void **state)
{
	if (getuid() || !has_namespaces())
		skip();
	for (uid_t inside = 0; inside < 3; inside++) {
		pid_t child = new_child(MAKER, inside, false);
		struct owner owner = open_owner(child);

		assert_int_equal(owner.uid, LENT + inside);
		assert_int_equal(owner.payer, MAKER);
		end_child(child);
	}
}

static void so_are_those_of_namespaces_below(void **state)
{
	pid_t child;

	if (getuid() || !has_namespaces())
		skip();
	child = new_child(MAKER, 5, true);
	assert_int_equal(open_owner(child).uid, LENT + 5);
	assert_int_equal(open_owner(child).payer, MAKER);
	end_child(child);
}

/* Whatever its users, a container is one; and none of what root pays for. */
static void of_one_that_root_made(void **state)
{
	pid_t a, b;
	uid_t payer;

	if (getuid() || !has_namespaces())
		skip();
	a = new_child(0, 0, false);
	payer = open_owner(a).payer;
	assert_true(payer >= 0xf0000000);
	end_child(a);
	b = new_child(0, 7, true);
	assert_true(open_owner(b).payer >= 0xf0000000);
	end_child(b);
}

static void others_are_themselves(void **state)
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	assert_int_equal(open_owner(getpid()).payer, getuid());
	assert_int_equal(payer_of(child, 7), 7);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(payer_of(child, 7), 7); /* nobody can ask any more */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lent_ids_are_their_makers),
		cmocka_unit_test(so_are_those_of_namespaces_below),
		cmocka_unit_test(of_one_that_root_made),
		cmocka_unit_test(others_are_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
