// SPDX-License-Identifier: BSD-2-Clause
#include "code.h"

#include <string.h>

void put_code(const struct unwind_rule *rules, unsigned int n, uint32_t flags)
{
	table_begin();
	for (unsigned int i = 0; i < n; i++)
		table_row(FUNCTION(i), rules[i]);
	table_row(FUNCTION(n), RULE_OF(NONE));
	mapping_table_add(CODE, FUNCTION(n), 0, table_end(), flags);
}

void put_like_code(struct unwind_rule rule, unsigned int n, uint32_t flags)
{
	table_begin();
	table_row(FUNCTION(0), rule);
	table_row(FUNCTION(n), RULE_OF(END));
	table_row(FUNCTION(n + 1), RULE_OF(NONE));
	mapping_table_add(CODE, FUNCTION(n + 1), 0, table_end(), flags);
}

uint64_t put_call(uint64_t sp, uint64_t bytes, unsigned int caller)
{
	memory_put(sp + bytes - 8, SITE(caller));
	return sp + bytes;
}

uint32_t put_copy_of(uint64_t page, struct unwind_rule rule)
{
	table_begin();
	table_row(page, rule);
	table_row(page + 0x800, RULE_OF(NONE));
	return table_end_copy();
}

void put_call_before(uint64_t pc)
{
	memory_put(pc - 8, 0x12345678e8000000);
}

/* struct ucontext of x86-64 <asm/ucontext.h>: the registers behind 40 bytes, in
 * the order of <asm/sigcontext.h>. */
void put_signal(uint64_t sp, uint64_t pc, uint64_t caller_sp, uint64_t fp)
{
	for (int i = 0; i < 32; i++)
		memory_put(sp + 8 * i, 0x5151515151515151);
	memory_put(sp + 40 + 8 * 10, fp);
	memory_put(sp + 40 + 8 * 15, caller_sp);
	memory_put(sp + 40 + 8 * 16, pc);
}

/* mov $15, %rax; syscall: what a debugger knows it by, too */
void put_restorer(uint64_t pc)
{
	memory_put(pc, 0x0f0000000fc0c748);
	memory_put(pc + 8, 0x05);
}

struct sampled leaf_in_code(uint64_t n)
{
	return (struct sampled){ .pc = FUNCTION(0) + n,
				 .sp = STACK,
				 .fp = GARBAGE,
				 .process_info = tables_process_info() };
}

static void read_kinds(const struct sample_rec *rec, char *text)
{
	for (unsigned int i = 0; i < rec->n_thread; i++) {
		switch (FRAME_KIND(rec->words[rec->n_kernel + i])) {
		case FRAME_USER:
			*text++ = 'U';
			break;
		case FRAME_SYSCALL:
			*text++ = 'S';
			break;
		case FRAME_CALLER:
			*text++ = 'C';
			break;
		case FRAME_LAUNCH:
			*text++ = 'L';
			break;
		case FRAME_RESUMER:
			*text++ = 'F';
			break;
		case FRAME_BOTTOM:
			*text++ = 'B';
			break;
		case FRAME_UNPROVEN:
			*text++ = 'P';
			break;
		case FRAME_METHOD:
			*text++ = 'M';
			break;
		case FRAME_ROOT:
			*text++ = 'R';
			break;
		default:
			*text++ = 'G';
		}
	}
	*text = 0;
}

void assert_walk(const struct sampled *at, const char *kinds, const char *addresses,
		 enum ending ending, const char *file, int line)
{
	char got[RECORD_WORDS_MAX + 1];
	const struct sample_rec *rec;

	assert_view(at, VIEW_THREAD, addresses, file, line);
	/* by what that walk left remembered */
	assert_view(at, VIEW_THREAD, addresses, file, line);
	rec = walker_sample(at);
	read_kinds(rec, got);
	if (strcmp(got, kinds) || rec->ending != ending) {
		print_error("expected: %s, ending %d\n     got: %s, ending %d\n", kinds,
			    ending, got, rec->ending);
		_fail(file, line);
	}
}

bool code_is_call(uint64_t code)
{
	const uint8_t *before = (const uint8_t *)&code;

	for (int i = 1; i < 7; i++)
		if (before[i] == 0xff && (before[i + 1] >> 3 & 7) == 2)
			return true;
	return before[3] == 0xe8;
}

bool code_is_called(uint64_t pc)
{
	uint64_t code;

	return memory_get(pc - 8, &code) && code_is_call(code);
}

void put_host(struct unwind_rule rule, uint32_t flags)
{
	const struct unwind_rule rules[] = { RULE_SP(48), RULE_SP(64), RULE_OF(END) };
	struct unwind_mapping_head *head;
	uint32_t others;

	world_setup(NULL);
	table_begin();
	table_row(OTHERS, RULE_SP(64));
	table_row(OTHERS + 0x100, RULE_OF(NONE));
	others = table_end();
	table_begin();
	for (int i = 0; i < 3; i++)
		table_row(FUNCTION(i), rules[i]);
	table_row(FUNCTION(3), RULE_OF(NONE));
	mapping_table_add(CODE, HOST_END, 0, table_end(), flags);
	mapping_table_add(HOSTED, HOSTED + 0x1000, 0, 0, UNWIND_BY_FP | flags);
	mapping_table_add(OTHERS, OTHERS + 0x1000, 0, others, 0);
	for (int i = 0; i < 3; i++)
		put_call_before(SITE(i));
	put_call_before(HOSTED_AT);
	put_call_before(OTHERS + 8);
	for (uint64_t at = HOSTED_AT; at < HOSTED_AT + 16; at += 8)
		memory_put(at, 0x9090909090909090);
	head = &tables_page(leaf_in_code(0).process_info.mapping_table)->mapping_head;
	head->hosted = rule;
	head->host = mapping_table_find(CODE)->table;
}
