/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a look at the code behind all callers costs: of frames that lie close together a
 * read a page, and of a user's files no more than there is time for.
 */
#include "sym/return_check.h"

#include "base/clock.h"
#include "sym/code_frames.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <sys/syscall.h>
#include <sys/uio.h>

#define USER 64998 /* a user id that nobody has */

static size_t n_reads;
static unsigned int disk_us; /* what a page takes that is not in memory; 0: all are */

/* In place of the C library's, for all of weft in here. */
ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	n_reads++;
	if (disk_us)
		usleep(disk_us);
	return syscall(SYS_pread64, fd, buf, n, offset);
}

ssize_t preadv2(int fd, const struct iovec *into, int n, off_t offset, int flags)
{
	assert_int_equal(n, 1);
	assert_int_equal(flags, RWF_NOWAIT);
	if (!disk_us)
		return pread(fd, into->iov_base, into->iov_len, offset);
	errno = EAGAIN;
	return -1;
}

static int open_path(struct opener *opener, pid_t pid, const struct mapping *map,
		     const struct module *module, int *ret_fd)
{
	*ret_fd = open(module->path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -1 : 0;
}

static struct owner its_user(struct opener *opener, pid_t pid)
{
	return (struct owner){ .known = true, .uid = USER, .payer = USER };
}

static const struct file_source source = { clock_now_ns, open_path, its_user };

struct parts {
	struct worker *worker;
	struct module_table *modules;
	struct files *files;
	struct aggregator *aggregator;
	struct names *names;
	struct code_verdicts *verdicts; /* NULL: none are kept */
	uint32_t module;
};

static int setup(void **state)
{
	static const char text[] = "int g(int); int f(int n) { return g(n) + 1; }\n";

	if (files_setup(state))
		return -1;
	write_file("s.c", text, strlen(text));
	return shell("gcc -w -O2 -shared -fPIC s.c -o one.so && truncate -s 1G one.so");
}

/* With a file mapped that belongs to a user; or to be written to as well. */
static void begin_mapped(struct parts *p, const char *path, uid_t uid, bool is_writable)
{
	const struct process process = { .tgid = 1, .incarnation = 1 };
	struct module module = {
		.kind = MODULE_FILE, .ino = 1, .is_writable = is_writable, .path = path
	};
	struct mapping map = { .start = 0x1000, .end = 0x2000 };

	*p = (struct parts){ 0 };
	assert_int_equal(chown(path, uid, uid), 0);
	assert_int_equal(worker_new(&p->worker), 0);
	assert_int_equal(module_table_new(&p->modules), 0);
	assert_int_equal(
		files_new(&p->files, &(struct files_config){ .worker = p->worker,
							     .modules = p->modules,
							     .source = &source }),
		0);
	assert_int_equal(aggregator_new(&p->aggregator), 0);
	assert_int_equal(names_new(&p->names), 0);
	assert_int_equal(module_id(p->modules, &module, &map.module), 0);
	assert_true(files_open(p->files, &process, &map) >= 0);
	files_scan(p->files, map.module);
	assert_int_equal(files_collect(p->files, 5000), 0);
	p->module = map.module;
}

static void begin_with(struct parts *p, const char *path, uid_t uid)
{
	begin_mapped(p, path, uid, false);
}

static void begin(struct parts *p, uid_t uid)
{
	begin_with(p, "one.so", uid);
	assert_non_null(files_elf_info(p->files, p->module));
}

static void end(struct parts *p)
{
	names_free(p->names);
	code_verdicts_free(p->verdicts);
	aggregator_free(p->aggregator);
	files_free(p->files);
	module_table_free(p->modules);
	worker_free(p->worker);
}

static uint32_t add(struct parts *p, uint64_t offset, bool unproven)
{
	const struct frame frame = {
		.offset = offset, .module = p->module, .returned = 1, .unproven = unproven
	};
	uint32_t id;

	assert_int_equal(aggregator_frame_id(p->aggregator, &frame, &id), 0);
	return id;
}

static uint64_t check(struct parts *p)
{
	const struct return_sources sources = { p->modules, p->files, p->verdicts };
	uint64_t unread;

	n_reads = 0;
	assert_int_equal(return_check(p->names, p->aggregator, &sources, &unread), 0);
	return unread;
}

/* In whatever order they were seen; it is gone through them twice. */
static void frames_of_a_page_cost_a_read(void **state)
{
	enum { FRAMES = 100000, BYTES = 4 * FRAMES, PAGES = BYTES / 4096 + 1 };
	struct parts p;

	begin(&p, 0);
	for (uint64_t i = 0; i < FRAMES; i++)
		add(&p, 8192 + 4 * (i * 7919 % FRAMES), true);
	assert_int_equal(check(&p), 0);
	assert_in_range(n_reads, PAGES - 1, 2 * PAGES + 2);
	end(&p);
}

#define STEPS 4 /* in each function of 32 bytes */

static void expect_function(const struct code_file *in, uint64_t first, size_t step)
{
	uint64_t begin = first + 32 * (step / STEPS);
	struct fde fde;

	assert_true(code_file_fde(in, begin + 32 / STEPS * (step % STEPS), &fde));
	assert_int_equal(fde.begin, begin);
	assert_true(fde.end > begin && fde.end <= fde.next);
}

/* Whichever was asked for before. */
static void each_address_has_its_function(void **state)
{
	enum { FUNCTIONS = 5 };
	static const char text[] =
		".rept 5\n.p2align 5\n.cfi_startproc\n nop\n nop\n ret\n"
		".cfi_endproc\n.endr\n";
	AUTO(code_frames) frames = NULL;
	struct code_file in;
	uint64_t first;
	struct fde fde;
	struct parts p;
	uint32_t id;

	write_file("five.s", text, strlen(text));
	assert_int_equal(shell("gcc -shared -nostdlib five.s -o five.so"), 0);
	begin_with(&p, "five.so", 0);
	id = add(&p, 0x1000, false);
	assert_int_equal(code_frames_new(&frames, p.aggregator, p.files), 0);
	assert_true(code_frames_file(frames, code_frames_get(frames, id), &in));
	assert_true(fde_index_next(&in.file, in.info, 0, &first));
	for (size_t i = 0; i < FUNCTIONS * STEPS; i++)
		for (size_t j = 0; j < FUNCTIONS * STEPS; j++) {
			expect_function(&in, first, i);
			expect_function(&in, first, j);
		}
	assert_false(code_file_fde(&in, first - 1, &fde));
	end(&p);
}

/* Where a tracer may have written a call since; a frame pointer alone is no proof. */
static void a_function_s_first_call_may_be_a_tracer_s(void **state)
{
	static const char text[] =
		".p2align 6\n.cfi_startproc\n mov $1, %eax\n.rept 58\n nop\n.endr\n ret\n"
		".cfi_endproc\n.cfi_startproc\n endbr64\n mov $1, %eax\n.rept 54\n nop\n"
		".endr\n ret\n.cfi_endproc\n"
		".cfi_startproc\n endbr64\n ret\n.cfi_endproc\n"
		".cfi_startproc\n.rept 8\n nop\n.endr\n ret\n.cfi_endproc\n";
	static const struct {
		uint64_t at;
		bool unproven;
		enum bad_return is;
	} cases[] = {
		{ 5, false, BAD_RETURN_NONE },	  { 6, false, BAD_RETURN_BOTTOM },
		{ 9, false, BAD_RETURN_BOTTOM },  { 5, true, BAD_RETURN_MISTAKEN },
		{ 69, false, BAD_RETURN_NONE },	  { 73, false, BAD_RETURN_NONE },
		{ 74, false, BAD_RETURN_BOTTOM }, { 133, false, BAD_RETURN_BOTTOM },
	};
	struct parts p;

	if (shell("gcc -dumpmachine | grep -q x86_64"))
		skip();
	write_file("hooked.s", text, strlen(text));
	assert_int_equal(
		shell("gcc -shared -nostdlib hooked.s -o hooked.so && "
		      "readelf -SW hooked.so | grep -q ' .text .* 0*1000 001000'"),
		0);
	begin_with(&p, "hooked.so", 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(add(&p, 0x1000 + cases[i].at, cases[i].unproven), i);
	assert_int_equal(check(&p), 0);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(names_bad_return(p.names, i), cases[i].is);
	end(&p);
}

/* Beyond that nothing is believed that nothing proves; and root's files have more. */
static void a_users_files_have_a_limit(void **state)
{
	enum { FRAMES = CODE_US + 1000 };
	uint32_t proven, unproven;
	struct parts p;

	if (geteuid())
		skip();
	begin(&p, USER);
	for (uint64_t i = 1; i < FRAMES; i++)
		add(&p, 4096 * i + 64, true);
	proven = add(&p, 4096 * (uint64_t)FRAMES + 64, false);
	unproven = add(&p, 4096 * (uint64_t)(FRAMES + 1) + 64, true);
	assert_in_range(check(&p), 1000, 1010);
	assert_in_range(n_reads, CODE_US, CODE_US);
	assert_int_equal(names_bad_return(p.names, proven), BAD_RETURN_NONE);
	assert_int_equal(names_bad_return(p.names, unproven), BAD_RETURN_MISTAKEN);
	end(&p);

	begin(&p, 0);
	for (uint64_t i = 1; i < FRAMES; i++)
		add(&p, 4096 * i + 64, true);
	assert_int_equal(check(&p), 0);
	end(&p);
}

/* What ran an hour ago is not in memory any more, and somebody waits. */
static void a_disk_is_not_waited_for_without_end(void **state)
{
	enum { DISK_US = 20000, FRAMES = 200 };
	static const struct {
		uid_t uid;
		size_t most;
	} users[] = { { USER, CODE_US / DISK_US + 1 }, { 0, CODE_ROOTS_US / DISK_US } };

	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
		struct parts p;

		begin(&p, users[i].uid);
		for (uint64_t page = 1; page <= FRAMES; page++)
			add(&p, 4096 * page + 64, true);
		disk_us = DISK_US;
		assert_in_range(check(&p), FRAMES - users[i].most, FRAMES - 1);
		disk_us = 0;
		assert_in_range(n_reads, 1, users[i].most);
		end(&p);
	}
}

static void check_anew(struct parts *p)
{
	names_free(p->names);
	assert_int_equal(names_new(&p->names), 0);
	assert_int_equal(check(p), 0);
}

static void what_code_said_is_not_read_again(void **state)
{
	uint32_t mistaken, bottom;
	struct parts p;

	begin(&p, 0);
	assert_int_equal(code_verdicts_new(&p.verdicts), 0);
	mistaken = add(&p, 8192 + 64, true);
	bottom = add(&p, 8192 + 64, false);
	for (unsigned int window = 0; window < 100; window++) {
		check_anew(&p);
		assert_int_equal(n_reads != 0, !window);
		assert_int_equal(names_bad_return(p.names, mistaken),
				 BAD_RETURN_MISTAKEN);
		assert_int_equal(names_bad_return(p.names, bottom), BAD_RETURN_BOTTOM);
	}
	assert_int_not_equal(code_verdicts_clear(p.verdicts), 0);
	check_anew(&p);
	assert_int_not_equal(n_reads, 0);
	assert_int_equal(names_bad_return(p.names, bottom), BAD_RETURN_BOTTOM);

	files_let_go(p.files, p.module);
	check_anew(&p);
	assert_int_equal(names_bad_return(p.names, bottom), BAD_RETURN_NONE);
	end(&p);
}

/* Code that another system's loader maps, Wine's say: it has calls like any. But who
 * knows what its maker does with return addresses? What is proven stays. */
static void files_that_are_no_elf_files_have_calls(void **state)
{
#ifdef __aarch64__
	static const uint8_t call[] = { 0x10, 0, 0, 0x94 };
#else
	static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 };
#endif
	uint8_t code[512] = "MZ";
	uint32_t called, mistaken, proven;
	struct parts p;

	memcpy(code + 256 - sizeof(call), call, sizeof(call));
	write_file("one.dll", code, sizeof(code));
	begin_with(&p, "one.dll", 0);
	assert_null(files_elf_info(p.files, p.module));
	called = add(&p, 256, true);
	mistaken = add(&p, 320, true);
	proven = add(&p, 320, false);
	check(&p);
	assert_int_equal(names_bad_return(p.names, called), BAD_RETURN_NONE);
	assert_int_equal(names_bad_return(p.names, mistaken), BAD_RETURN_MISTAKEN);
	assert_int_equal(names_bad_return(p.names, proven), BAD_RETURN_NONE);
	end(&p);
}

/* As Lisps have it whose image is a program. */
static void what_is_written_to_is_not_as_in_its_file(void **state)
{
	for (int is_writable = 0; is_writable < 2; is_writable++) {
		uint32_t unproven, proven;
		struct parts p;

		begin_mapped(&p, "one.so", 0, is_writable);
		unproven = add(&p, 8192 + 64, true);
		proven = add(&p, 8192 + 64, false);
		check(&p);
		assert_int_equal(names_bad_return(p.names, proven),
				 is_writable ? BAD_RETURN_NONE : BAD_RETURN_BOTTOM);
		assert_int_equal(names_bad_return(p.names, unproven),
				 is_writable ? BAD_RETURN_NONE : BAD_RETURN_MISTAKEN);
		end(&p);
	}
}

/* Nor is it taken for said what there was no time to read. */
static void what_was_not_read_is_not_kept(void **state)
{
	enum { FRAMES = CODE_US + 1000 };
	struct parts p;

	if (geteuid())
		skip();
	begin(&p, USER);
	assert_int_equal(code_verdicts_new(&p.verdicts), 0);
	for (uint64_t i = 1; i < FRAMES; i++)
		add(&p, 4096 * i + 64, true);
	assert_in_range(check(&p), 998, 1010);
	assert_in_range(check(&p), 998, FRAMES);
	assert_in_range(n_reads, 1000, CODE_US);
	end(&p);
}

/* However many there are. */
static void verdicts_do_not_grow(void **state)
{
	const struct code_verdict bad = { .is_bad_return = true };
	AUTO(code_verdicts) verdicts = NULL;
	struct code_verdict is;
	struct frame frame = { .returned = 1 };

	assert_int_equal(code_verdicts_new(&verdicts), 0);
	for (uint64_t i = 0; i < 1000000; i++) {
		frame.offset = i;
		assert_false(code_verdicts_recall(verdicts, 1, &frame, &is));
		assert_int_equal(code_verdicts_keep(verdicts, 1, &frame, &bad), 0);
		assert_true(code_verdicts_recall(verdicts, 1, &frame, &is));
		assert_true(is.is_bad_return);
		assert_false(code_verdicts_recall(verdicts, 2, &frame, &is));
		frame.unproven = !frame.unproven;
		assert_false(code_verdicts_recall(verdicts, 1, &frame, &is));
	}
	assert_in_range(code_verdicts_clear(verdicts), 1, 8u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_page_cost_a_read),
		cmocka_unit_test(each_address_has_its_function),
		cmocka_unit_test(a_function_s_first_call_may_be_a_tracer_s),
		cmocka_unit_test(files_that_are_no_elf_files_have_calls),
		cmocka_unit_test(what_is_written_to_is_not_as_in_its_file),
		cmocka_unit_test(what_code_said_is_not_read_again),
		cmocka_unit_test(what_was_not_read_is_not_kept),
		cmocka_unit_test(verdicts_do_not_grow),
		cmocka_unit_test(a_users_files_have_a_limit),
		cmocka_unit_test(a_disk_is_not_waited_for_without_end),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
