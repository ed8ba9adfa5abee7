// SPDX-License-Identifier: BSD-2-Clause
#include "java.h"

int x86_try_code(__u32 hook);
int arm64_try_code(__u32 hook);
int x86_check_frame(__u32 hook);
int arm64_check_frame(__u32 hook);

int hotspot_try_code(__u32 hook)
{
	return fp_gives_sp ? x86_try_code(hook) : arm64_try_code(hook);
}

int hotspot_check_frame(__u32 hook)
{
	return fp_gives_sp ? x86_check_frame(hook) : arm64_check_frame(hook);
}

struct hotspot java_layouts[] = {
	{ .frame_words = { 44, 4 },
	  .frame_complete = { 36, 4 },
	  .code = { 48, 8 },
	  .name = { 56, 8 },
	  .method = { 64, 8 },
	  .blob_at = 16 },
	{ .frame_words = { 52, 4 },
	  .frame_complete = { 62, 2 },
	  .code = { 44, 4 },
	  .name = { 24, 8 },
	  .method = { 72, 8 },
	  .blob_at = 8 },
};

/* addresses of such names */
#define A_METHOD_S 0x7e0000001000
#define A_STUB_S   0x7e0000002000

void put_field(struct hotspot_field field, uint64_t block, int64_t value)
{
	uint64_t word;

	for (unsigned int i = 0; i < field.bytes; i++) {
		uint64_t at = block + field.at + i, shift = 8 * (at & 7);

		memory_get(at & ~7ULL, &word);
		word = (word & ~(0xffULL << shift)) | (uint64_t)(value >> 8 * i & 0xff)
							      << shift;
		memory_put(at & ~7ULL, word);
	}
}

void put_tag(uint64_t segment, unsigned char tag)
{
	put_field((struct hotspot_field){ 0, 1 }, SEGMENTS + segment, tag);
}

void put_block(const struct hotspot *vm, uint64_t block, unsigned int n,
	       int64_t frame_words, int64_t complete)
{
	uint64_t segment = (block - HEAP_LOW) >> SHIFT;
	uint64_t code = vm->code.bytes == 8 ? block + CODE_AT : CODE_AT - vm->blob_at;

	for (unsigned int i = 0; i < n; i++)
		put_tag(segment + i, (unsigned char)i);
	put_field(vm->frame_words, block, frame_words);
	put_field(vm->frame_complete, block, complete);
	put_field(vm->code, block, (int64_t)code);
	put_field(vm->name, block, frame_words > 0 ? A_METHOD_S : A_STUB_S);
	put_field(vm->method, block, (int64_t)block);
}

void put_bytes(uint64_t at, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_field((struct hotspot_field){ 0, 1 }, at + i,
			  (unsigned char)bytes[i]);
}

void put_call_to(uint64_t pc, uint64_t to)
{
	const struct hotspot_field insn = { 0, 4 };

	if (!fp_gives_sp) { /* bl */
		put_field(insn, pc - 4, 0x94000000 | ((to - pc + 4) >> 2 & 0x3ffffff));
		return;
	}
	put_field((struct hotspot_field){ 0, 1 }, pc - 5, 0xe8);
	put_field(insn, pc - 4, (int64_t)(to - pc));
}

struct sampled put_java(struct hotspot *vm)
{
	const struct unwind_rule rules[] = { RULE_SP(16), RULE_SP(16), RULE_OF(END) };
	struct sampled at;

	world_setup(NULL);
	put_code(rules, 3, 0);
	mapping_table_add(HEAP_LOW, HEAP_LOW + HEAP_BYTES, 0, 0, UNWIND_BY_FP);
	vm->heaps[1] =
		(struct hotspot_heap){ HEAP_LOW, HEAP_LOW + HEAP_BYTES, SEGMENTS, SHIFT };
	vm->interpreter = INTERPRETER;
	vm->interpreter_bytes = 0x1000;
	vm->call_stub_return = CALL_STUB;
	for (uint64_t i = 0; i < HEAP_BYTES >> SHIFT; i++)
		put_tag(i, HOTSPOT_SEGMENT_FREE);
	put_block(vm, BLOCK(CALLEE), 8, CALLEE_BYTES / 8, COMPLETE);
	put_block(vm, BLOCK(CALLER), 8, CALLER_BYTES / 8, COMPLETE);
	put_block(vm, BLOCK(OTHER_ONE), 8, CALLER_BYTES / 8, COMPLETE);
	put_block(vm, STUBS, 32, 0, -1);
	for (uint64_t i = 0; i < 64; i++)
		memory_put(CALLEE_END - 8 * i, BLOB_SITE(CALLER) + 0x10);
	put_call_to(BLOB_SITE(CALLER), BLOB(CALLEE));
	put_call_to(BLOB_SITE(CALLER) + 0x10, BLOB(CALLEE));
	put_frame(CALLEE_END - 16, GARBAGE, BLOB_SITE(CALLER));
	put_frame(CALLER_END - 16, STUB_FP, CALL_STUB);
	put_frame(STUB_FP, 0, SITE(1));
	put_call(STUB_FP + 16, 16, 2);
	at = leaf_in_code(0);
	at.hotspot = vm;
	return at;
}

void assert_java(struct sampled *at, const char *kinds)
{
	char text[80];

	sprintf(text, "%llx %llx %llx 10108 10208", (unsigned long long)at->pc,
		BLOB_SITE(CALLER), CALL_STUB);
	ASSERT_WALK(at, kinds, text, START);
}
