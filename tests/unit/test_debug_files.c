// SPDX-License-Identifier: BSD-2-Clause
/*
 * Debug files: which name a file says, whether a file is of the same build, where it may
 * lie, and whose files are taken.
 */
#include "obj/elf_links.h"
#include "obj/names.h"
#include "proc/open_debug.h"

#include "named.h" /* last: cmocka has a fail() of its own */

#include "child.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#define NOBODY 65534

static const char source[] = "static __attribute__((noinline)) int hidden(int n)\n"
			     "{ return n * NUMBER; }\n"
			     "int exported(int n) { return hidden(n) + hidden(3); }\n";

static int build(const char *name, const char *flags)
{
	return shell("gcc -g -O1 -fPIC -shared %s s.c -o %s.whole && "
		     "objcopy --only-keep-debug %s.whole %s.debug && "
		     "strip --strip-all -o %s.so %s.whole && "
		     "objcopy --add-gnu-debuglink=%s.debug %s.so",
		     flags, name, name, name, name, name, name, name);
}

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", source, strlen(source));
	return build("one", "-DNUMBER=3 -Wl,--build-id") ||
	       build("two", "-DNUMBER=5 -Wl,--build-id") ||
	       build("bare", "-DNUMBER=3 -Wl,--build-id=none");
}

struct link {
	size_t n;
	char name[256];
	uint64_t crc;
};

static int on_link(void *arg, size_t index, const char *name, uint64_t start)
{
	struct link *link = arg;

	assert_int_equal(index, ELF_LINK_DEBUG);
	assert_true(strlen(name) < sizeof(link->name));
	strcpy(link->name, name);
	link->crc = start;
	link->n++;
	return 0;
}

static struct link link_of(const char *path)
{
	const uint64_t asked = ELF_LINK_DEBUG;
	struct link link = { 0 };
	int fd = open_file(path);

	assert_int_equal(elf_links(fd, &asked, 1, on_link, &link), 0);
	close(fd);
	return link;
}

static struct elf_identity identity_of(const char *path)
{
	struct elf_identity identity = { 0 };
	struct elf_info info;
	int fd = open_file(path);

	assert_int_equal(elf_scan(fd, &info), 0);
	close(fd);
	identity.build_id_bytes = info.build_id_bytes;
	memcpy(identity.build_id, info.build_id, info.build_id_bytes);
	return identity;
}

static int count(void *arg, size_t index, const char *name, uint64_t start)
{
	++*(int *)arg;
	return 0;
}

static bool is_same(const struct elf_identity *identity, const char *path)
{
	uint64_t words[ELF_IDENTITY_WORDS];
	int fd = open_file(path), n = 0;

	memcpy(words, identity, sizeof(words));
	assert_int_equal(elf_same(fd, words, ELF_IDENTITY_WORDS, count, &n), 0);
	close(fd);
	return n;
}

static void reads_the_link(void **state)
{
	struct link link = link_of("one.so");

	assert_int_equal(link.n, 1);
	assert_string_equal(link.name, "one.debug");
	assert_int_equal(link_of("one.whole").n, 0);
}

/* Each is put there in place of what objcopy writes. */
static void takes_no_odd_links(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} odd[] = {
		{ "../one.debug\0\0\0\0\1\2\3\4", 20 }, /* leads elsewhere */
		{ "..\0\0\1\2\3\4", 8 },
		{ "one.debug", 9 }, /* without an end */
		{ "one\0\1\2", 6 }, /* with half a CRC */
		{ "", 0 },
		{ "\0\0\0\0\1\2\3\4", 8 },
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		write_file("odd", odd[i].bytes, odd[i].n);
		assert_int_equal(shell("objcopy --remove-section .gnu_debuglink "
				       "--add-section .gnu_debuglink=odd one.so odd.so"),
				 0);
		assert_int_equal(link_of("odd.so").n, 0);
	}
}

static void knows_a_build_by_its_id(void **state)
{
	struct elf_identity one = identity_of("one.so");

	assert_true(one.build_id_bytes == 20);
	assert_true(is_same(&one, "one.debug"));
	assert_true(is_same(&one, "one.whole"));
	assert_false(is_same(&one, "two.debug"));
	assert_false(is_same(&one, "bare.debug"));
	/* the right CRC does not help one of another id */
	one.has_crc = 1;
	one.crc = (uint32_t)link_of("two.so").crc;
	assert_false(is_same(&one, "two.debug"));
}

static void knows_a_build_by_its_crc(void **state)
{
	struct elf_identity bare = identity_of("bare.so");
	unsigned char *bytes;
	size_t n;

	assert_int_equal(bare.build_id_bytes, 0);
	assert_false(is_same(&bare, "bare.debug"));
	bare.has_crc = 1;
	bare.crc = (uint32_t)link_of("bare.so").crc;
	assert_true(is_same(&bare, "bare.debug"));
	assert_false(is_same(&bare, "one.debug"));
	bytes = read_file("bare.debug", &n);
	bytes[n - 1] ^= 1;
	write_file("changed.debug", bytes, n);
	free(bytes);
	assert_false(is_same(&bare, "changed.debug"));
}

static void damage_is_an_error(void **state)
{
	const uint64_t words[ELF_IDENTITY_WORDS] = { 20 };
	int fd = open_file("s.c"), n = 0;

	assert_true(elf_same(fd, words, ELF_IDENTITY_WORDS, count, &n) < 0);
	assert_true(elf_same(fd, words, 1, count, &n) < 0);
	assert_true(elf_links(fd, words, 1, count, &n) < 0);
	assert_int_equal(n, 0);
	close(fd);
}

/* Where it is found for a module of this path; "": nowhere. */
static const char *found(struct debug_query *query, const char *module)
{
	static char path[256];
	char proc[64];
	ssize_t n;
	int fd;

	if (open_debug(query, module, &query->first, &fd))
		return "";
	query->first++;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	n = readlink(proc, path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	close(fd);
	return path + strlen(files_dir);
}

static void looks_beside_the_module(void **state)
{
	struct debug_query query = { .pid = getpid(), .module_uid = getuid() };
	char module[128];

	snprintf(module, sizeof(module), "%s/one.so", files_dir);
	assert_string_equal(found(&query, module), "");
	strcpy(query.link, "one.debug");
	query.first = 0;
	/* below the root of the process, and of ours */
	assert_string_equal(found(&query, module), "/one.debug");
	assert_string_equal(found(&query, module), "/one.debug");
	assert_string_equal(found(&query, module), "");
	assert_int_equal(shell("mkdir .debug && mv one.debug .debug/"), 0);
	query.first = 0;
	assert_string_equal(found(&query, module), "/.debug/one.debug");
	assert_int_equal(shell("mv .debug/one.debug . && rmdir .debug"), 0);
	/* neither a folder nor a device */
	strcpy(query.link, "folder");
	assert_int_equal(shell("mkdir folder"), 0);
	query.first = 0;
	assert_string_equal(found(&query, module), "");
}

static void set_file(const char *path, uid_t uid, mode_t mode)
{
	assert_int_equal(chown(path, uid, uid), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void takes_whose_it_may(void **state)
{
	struct debug_query query = { .pid = getpid(), .link = "one.debug" };
	char module[128];

	if (getuid())
		skip(); /* files of others take root */
	snprintf(module, sizeof(module), "%s/one.so", files_dir);
	set_file("one.debug", NOBODY, 0644); /* anybody's, for a module of root's */
	assert_string_equal(found(&query, module), "");
	query = (struct debug_query){ .pid = getpid(),
				      .module_uid = NOBODY,
				      .link = "one.debug" };
	assert_string_equal(found(&query, module), "/one.debug");
	set_file("one.debug", NOBODY, 0600); /* that this process's user may not read */
	query.first = 0;
	assert_string_equal(found(&query, module), "");
	set_file("one.debug", 0, 0666); /* that anybody may write */
	query.first = 0;
	assert_string_equal(found(&query, module), "");
	set_file("one.debug", 0, 0644);
	query.first = 0;
	assert_string_equal(found(&query, module), "/one.debug");
}

/* Stopped, once it has changed itself: with another root or user. */
static pid_t stopped_child(const char *root, uid_t uid)
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(root) || chdir("/") || setuid(uid))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* which a change of user takes back */
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	return child;
}

/* Somebody's who is no root, and may read less than we. */
static void reads_what_the_process_may(void **state)
{
	struct debug_query query = { .link = "one.debug" };
	char module[128];
	pid_t child;

	if (getuid())
		skip(); /* to be another takes root */
	snprintf(module, sizeof(module), "%s/one.so", files_dir);
	assert_int_equal(chmod(files_dir, 0755), 0);
	query.pid = child = stopped_child("/", NOBODY);
	set_file("one.debug", 0, 0600);
	assert_string_equal(found(&query, module), "");
	set_file("one.debug", 0, 0644);
	query.first = 0;
	assert_string_equal(found(&query, module), "/one.debug");
	end_child(child);
}

/* Its own root has a folder of debug files that ours knows nothing of. */
static void looks_below_the_processs_root(void **state)
{
	const struct elf_identity one = identity_of("one.so");
	struct debug_query query = { .build_id_bytes = 20 };
	pid_t child;

	if (getuid())
		skip(); /* another root takes root */
	memcpy(query.build_id, one.build_id, 20);
	assert_int_equal(shell("id=$(readelf -n one.so | sed -n 's/.*Build ID: //p') && "
			       "to=root/usr/lib/debug/.build-id/${id%%%s} && "
			       "mkdir -p $to && cp one.debug $to/${id#??}.debug",
			       "${id#??}"),
			 0);
	query.pid = child = stopped_child("root", 0);
	assert_non_null(
		strstr(found(&query, "/x/one.so"), "/root/usr/lib/debug/.build-id/"));
	end_child(child);
}

/* At the module's own path, whoever owns it: who runs weft has named the folder. */
static void looks_below_the_folder_that_is_named(void **state)
{
	const struct elf_identity one = identity_of("one.so");
	struct debug_query query = { .pid = getpid(), .build_id_bytes = 20 };

	memcpy(query.build_id, one.build_id, 20);
	snprintf(query.symfs, sizeof(query.symfs), "%s/symbols", files_dir);
	assert_string_equal(found(&query, "/x/y/one.so"), "");
	assert_int_equal(shell("mkdir -p symbols/x/y && cp one.whole symbols/x/y/one.so"),
			 0);
	if (!getuid())
		set_file("symbols/x/y/one.so", NOBODY, 0666);
	query.first = 0;
	assert_string_equal(found(&query, "/x/y/one.so"), "/symbols/x/y/one.so");
	assert_string_equal(found(&query, "/x/y/one.so"), "");
	/* it is a root: nothing leads out of it */
	assert_int_equal(shell("ln -s ../../../one.whole symbols/x/y/out.so"), 0);
	query.first = 0;
	assert_string_equal(found(&query, "/x/y/out.so"), "");
}

/* Only in the folder for them, and never at the module's own path. */
static void looks_for_an_alternate_file(void **state)
{
	struct debug_query query = { .pid = getpid(), .dwz = ".dwz/x/shared.debug" };

	snprintf(query.symfs, sizeof(query.symfs), "%s/images", files_dir);
	assert_int_equal(
		shell("to=images/usr/lib/debug/.dwz/x && mkdir -p $to images/y &&"
		      "cp one.debug $to/shared.debug && cp one.so images/y/"),
		0);
	assert_string_equal(found(&query, "/y/one.so"),
			    "/images/usr/lib/debug/.dwz/x/shared.debug");
	assert_string_equal(found(&query, "/y/one.so"), "");
}

/* A user who runs a weft with capabilities names a folder with root's file in it. */
static int as_user_with_capabilities(struct debug_query *query, const char *module)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2], after[2];
	int fd, err;

	prctl(PR_SET_KEEPCAPS, 1);
	if (setuid(NOBODY) || syscall(SYS_capget, &head, caps))
		return 1;
	caps[0].effective = caps[0].permitted;
	if (syscall(SYS_capset, &head, caps))
		return 2;
	fd = open(module, O_RDONLY); /* so it could read it */
	if (fd < 0)
		return 3;
	err = open_debug(query, module, &query->first, &fd);
	if (syscall(SYS_capget, &head, after) || memcmp(caps, after, sizeof(caps)) != 0)
		return 4;
	return err ? 10 : 11;
}

static void reads_there_what_the_user_may(void **state)
{
	struct debug_query query = { .pid = getpid(), .symfs = "/" };
	char module[128];

	if (getuid())
		skip(); /* capabilities take root */
	snprintf(module, sizeof(module), "%s/one.whole", files_dir);
	for (int i = 0; i < 2; i++) {
		int status;
		pid_t child;

		set_file("one.whole", 0, i ? 0644 : 0600);
		child = fork();
		if (!child)
			_exit(as_user_with_capabilities(&query, module));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 10 + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_link),
		cmocka_unit_test(takes_no_odd_links),
		cmocka_unit_test(knows_a_build_by_its_id),
		cmocka_unit_test(knows_a_build_by_its_crc),
		cmocka_unit_test(damage_is_an_error),
		cmocka_unit_test(looks_beside_the_module),
		cmocka_unit_test(takes_whose_it_may),
		cmocka_unit_test(reads_what_the_process_may),
		cmocka_unit_test(looks_below_the_processs_root),
		cmocka_unit_test(looks_below_the_folder_that_is_named),
		cmocka_unit_test(looks_for_an_alternate_file),
		cmocka_unit_test(reads_there_what_the_user_may),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
