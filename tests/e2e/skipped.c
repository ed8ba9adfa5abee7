// SPDX-License-Identifier: BSD-2-Clause
/*
 *	skipped   generated code that leaves the frame pointer to its callers
 *
 * by_call() calls skipped(), and that the code, by pass(); by_jump() calls hop(), which
 * goes on in skipped() by a jump. The frame pointer is skipped()'s meanwhile and leads to
 * who is above it, so of by_call() it can be told that it never called the code.
 * Runs until it is killed; a line on stdout says that it is on its way.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define FN	__attribute__((noinline, noclone, used))
#define WITH_FP FN __attribute__((optimize("no-omit-frame-pointer")))
#define WITHOUT_FP                                                                       \
	FN __attribute__((optimize("omit-frame-pointer", "optimize-sibling-calls")))
#define CODE_BYTES 4096

/* mov $100000,%ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char spin[] = {
	0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3
};

static void (*volatile generated)(void);
static volatile uint64_t sink;

WITHOUT_FP static uint64_t pass(uint64_t n)
{
	generated();
	return n + 1;
}

WITH_FP static uint64_t skipped(uint64_t n)
{
	uint64_t sum = n;

	for (int i = 0; i < 10; i++)
		sum += pass(sum);
	return sum;
}

static uint64_t (*volatile on)(uint64_t n) = skipped;

WITHOUT_FP static uint64_t hop(uint64_t n)
{
	return on(n + 1);
}

WITH_FP static void by_call(void)
{
	sink += skipped(sink);
	sink++;
}

WITH_FP static void by_jump(void)
{
	sink += hop(sink);
	sink++;
}

int main(void)
{
	void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, spin, sizeof(spin));
	memcpy((void *)&generated, &code, sizeof(code));
	puts("ready");
	fflush(stdout);
	for (;;) {
		by_call();
		by_jump();
	}
}
