// SPDX-License-Identifier: BSD-2-Clause
/* Generated code of a process as a file, and the table that is made of that. */
#include "proc/open_code.h"
#include "proc/open_copy.h"
#include "unwind/unwind_head.h"
#include "unwind/unwind_table.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <errno.h>
#include <sys/mman.h>

#define PAGE 4096
#define AT   0x7f5500000000ULL
#define N    (4 * PAGE)

static unsigned char *map_code(void)
{
	void *at = mmap((void *)(uintptr_t)AT, N, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_equal(at, (void *)(uintptr_t)AT);
	return at;
}

static void is_a_sealed_copy(void **state)
{
	unsigned char *code = map_code(), bytes[2 * PAGE];
	struct elf_file file;
	uint64_t offset, n;
	int fd;

	for (int i = 0; i < N; i++)
		code[i] = (unsigned char)(i * 7 + i / PAGE);
	assert_int_equal(open_code(getpid(), AT + PAGE, AT + 3 * PAGE, &fd), 0);
	assert_true(open_is_copy(fd));
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_true(elf_file_offset(&file, AT + PAGE, &offset, &n));
	assert_int_equal(n, 2 * PAGE);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), (off_t)offset), sizeof(bytes));
	assert_memory_equal(bytes, code + PAGE, sizeof(bytes));
	assert_false(elf_file_offset(&file, AT, &offset, &n));
	elf_file_close(&file);
	close(fd);
	munmap(code, N);
}

static void what_is_not_there(void **state)
{
	unsigned char *code = map_code();
	int fd = -1;

	assert_int_equal(open_code(getpid(), AT, AT, &fd), -EINVAL);
	assert_int_equal(open_code(getpid(), AT + PAGE, AT, &fd), -EINVAL);
	assert_int_equal(open_code(getpid(), AT, AT + OPEN_CODE_MAX + 1, &fd), -EINVAL);
	assert_int_equal(open_code(getpid(), 0, UINT64_MAX, &fd), -EINVAL);
	assert_int_equal(open_code(getpid(), AT + N, AT + N + PAGE, &fd), -EFAULT);
	assert_int_equal(open_code(0x7ffffff0, AT, AT + PAGE, &fd), -ESRCH);
	assert_int_equal(fd, -1);
	munmap(code, N);
}

/* Who frees generated code tells nobody, and some give theirs no right to be read. */
static void what_is_there_beside(void **state)
{
	unsigned char *code = map_code(), bytes[2 * PAGE], gone[PAGE];
	int fd;

	memset(code, 0xc3, N);
	memset(gone, 0xcc, sizeof(gone));
	munmap(code + 2 * PAGE, PAGE);
	mprotect(code + PAGE, PAGE, PROT_WRITE | PROT_EXEC);
	for (int from = PAGE - 16; from <= PAGE; from += 16) {
		assert_int_equal(open_code(getpid(), AT + from, AT + N, &fd), 0);
		assert_int_equal(pread(fd, bytes, sizeof(bytes), PAGE), sizeof(bytes));
		for (int i = 0; i < 2 * PAGE - from; i++)
			assert_int_equal(bytes[i], 0xc3);
		assert_memory_equal(bytes + 2 * PAGE - from, gone,
				    sizeof(bytes) - (size_t)(2 * PAGE - from));
		close(fd);
	}
	munmap(code, N);
}

#ifdef __x86_64__
/* push %rbx; sub $0x20,%rsp; nop; add $0x20,%rsp; pop %rbx; ret */
static const unsigned char function[] = { 0x53, 0x48, 0x83, 0xec, 0x20, 0x90,
					  0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3 };

static union unwind_page page_of(const struct unwind_table *table, uint32_t n)
{
	union unwind_page page;

	unwind_table_page(table, n, &page);
	return page;
}

/* One in the middle of the third page, so that a block's first row is none of its own;
 * and a long one before it, over two blocks. */
static void its_table_has_the_code(void **state)
{
	enum { LONG = 2 * PAGE - 0x200, LONG_BODY = 0x500, SHORT = 2 * PAGE + 0x800 };
	unsigned char *code = map_code();
	struct unwind_table *table;
	const struct unwind_head *head;
	union unwind_page rows, firsts, first_code, second_code;
	struct unwind_block block;
	int fd;

	memset(code, 0xcc, N);
	memcpy(code + LONG, function, 5);
	memset(code + LONG + 5, 0x90, LONG_BODY);
	memcpy(code + LONG + 5 + LONG_BODY, function + 6, sizeof(function) - 6);
	memcpy(code + SHORT, function, sizeof(function));
	assert_int_equal(open_code(getpid(), AT, AT + N, &fd), 0);
	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	head = unwind_table_head(table);
	assert_true(unwind_head_holds(head, head->n_pages));
	assert_int_equal(head->text, AT + LONG - LONG % UNWIND_BLOCK_BYTES);
	assert_int_equal(head->firsts_page, head->rows_page + 1);
	assert_int_equal(head->code_page, head->firsts_page + 1);
	assert_int_equal(head->n_pages, head->code_page + 2);

	first_code = page_of(table, head->code_page);
	second_code = page_of(table, head->code_page + 1);
	assert_memory_equal(&first_code, code + PAGE, PAGE);
	/* as far as there are blocks */
	assert_memory_equal(&second_code, code + 2 * PAGE, 3 * UNWIND_BLOCK_BYTES);

	rows = page_of(table, head->rows_page);
	firsts = page_of(table, head->firsts_page);
	/* the second block begins within the long one, whose frame is up since before */
	block = page_of(table, head->blocks_page).blocks[1];
	assert_int_equal(rows.rows[block.first].offset, 0);
	assert_int_equal(firsts.firsts[block.first], LONG + 5 - PAGE);
	/* the short one's frame, up behind its second instruction */
	block = page_of(table, head->blocks_page).blocks[3];
	for (unsigned int i = 0; i < block.count; i++) {
		unsigned int offset = rows.rows[block.first + i].offset;

		if (offset == SHORT % UNWIND_BLOCK_BYTES + 5)
			assert_int_equal(firsts.firsts[block.first + i],
					 SHORT + 5 - PAGE);
	}
	unwind_table_free(table);
	close(fd);
	munmap(code, N);
}

/* Its frame pointer may be kept. */
static void who_switches_stacks_goes_by_fp(void **state)
{
	/* test %rax,%rax; jz 1f; ret; 1: nop; mov (%rdi),%rsp; ret */
	static const unsigned char switches[] = { 0x48, 0x85, 0xc0, 0x74, 0x01, 0xc3,
						  0x90, 0x48, 0x8b, 0x27, 0xc3 };
	unsigned char *code = map_code();
	const struct unwind_rule *rules;
	struct unwind_table *table;
	union unwind_page page;
	int fd;

	memset(code, 0xcc, N);
	memcpy(code, function, sizeof(function));
	memcpy(code + 0x40, switches, sizeof(switches));
	assert_int_equal(open_code(getpid(), AT, AT + N, &fd), 0);
	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	page = page_of(table, unwind_table_head(table)->rules_page);
	rules = page.rules;
	for (unsigned int i = 0; i < unwind_table_head(table)->n_rules; i++)
		assert_int_not_equal(rules[i].cfa, UNWIND_CFA_TORN);
	unwind_table_free(table);
	close(fd);
	munmap(code, N);
}
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_a_sealed_copy),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(what_is_there_beside),
#ifdef __x86_64__
		cmocka_unit_test(its_table_has_the_code),
		cmocka_unit_test(who_switches_stacks_goes_by_fp),
#endif
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
