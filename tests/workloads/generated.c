// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that was generated: no file, no unwind table, nothing but its frame pointers. It
 * calls a function of a few instructions all the time, so that most samples fall on those
 * that make its frame and take it down, where the frame pointer is still, or again, its
 * caller's: who follows that skips the caller.
 */
#include "work.h"

#include <stdint.h>
#include <sys/mman.h>

/* Where all of it lies: so a profile's addresses are known. */
#define CODE	   ((void *)0x10000000)
#define CODE_BYTES 4096

/* Behind a pause most samples of its function fall. */
#ifdef __x86_64__
#define PUSH  0x55	       /* push %rbp */
#define MOVE  0x48, 0x89, 0xe5 /* mov %rsp,%rbp */
#define PAUSE 0xf3, 0x90
#define POP   0x5d /* pop %rbp */
#define RET   0xc3
static const unsigned char code[] = {
	[0x00] = PUSH, MOVE,  0x53, 0x50,    /* push %rbx; push %rax */
	[0x06] = 0xe8, 0x35,  0,    0,	  0, /* call 0x40 */
	[0x0b] = 0xe8, 0x40,  0,    0,	  0, /* call 0x50 */
	[0x10] = 0xe8, 0x4b,  0,    0,	  0, /* call 0x60 */
	[0x15] = 0xe8, 0x56,  0,    0,	  0, /* call 0x70 */
	[0x1a] = 0x48, 0x89,  0xe3,	     /* mov %rsp,%rbx */
	[0x1d] = 0xe8, 0x5e,  0,    0,	  0, /* call 0x80 */
	[0x22] = 0xe8, 0x79,  0,    0,	  0, /* call 0xa0 */
	[0x27] = 0xe8, 0xa4,  0,    0,	  0, /* call 0xd0 */
	[0x2c] = 0xeb, 0xd8,		     /* jmp 0x06 */
	[0x40] = 0xf3, 0x0f,  0x1e, 0xfa,    /* endbr64 */
	[0x44] = PUSH, MOVE,  POP,  RET,  [0x50] = PAUSE,
	PUSH,	       MOVE,  POP,  RET,  [0x60] = PUSH,
	PAUSE,	       MOVE,  POP,  RET,  [0x70] = PUSH,
	MOVE,	       PAUSE, POP,  RET,
};

/* As python's with -X perf, which calls and keeps no frame pointer: sub $8,%rsp;
 * call of what is behind it; add $8,%rsp; ret. What it calls has one. */
#define TRAMPOLINE 0xa0
static const unsigned char trampoline[] = {
	0x48, 0x83, 0xec, 0x08, 0xe8,	       0x0f, 0,	    0,	 0,   0x48,
	0x83, 0xc4, 0x08, RET,	[0x18] = PUSH, MOVE, PAUSE, POP, RET,
};

/* As PyPy's, which has something else in the register: data, that lies among the code and
 * begins with two words as a frame record does. Nobody called from where the second one
 * leads. */
#define ASTRAY 0xd0
static const unsigned char astray[] = {
	PUSH, 0xbd, 0, 8, 0, 0x10, PAUSE, 0x90, POP, RET, /* mov $DATA,%ebp; nop */
};
#define DATA 0x800
static const uint64_t data[] = { 0, 0x10000900 };

/* As V8's: testb $0,53(%rbx); jne. */
#define CHECKED 0x80
static const unsigned char checked[] = { PAUSE, 0xf6, 0x43, 0x35, 0,	0x0f, 0x85, 1,
					 1,	1,    1,    PUSH, MOVE, POP,  RET };
#endif

static FN void run(void (*rounds)(void))
{
	WITH_FRAME();
	rounds();
	AFTER();
}

int main(int argc, char **argv)
{
	void *at = mmap(CODE, CODE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*rounds)(void);

	if (argc < 2)
		return work_usage("generated", "MS");
	if (at != CODE)
		return 2;
	memcpy(at, code, sizeof(code));
	memcpy((unsigned char *)at + CHECKED, checked, sizeof(checked));
	memcpy((unsigned char *)at + TRAMPOLINE, trampoline, sizeof(trampoline));
	memcpy((unsigned char *)at + ASTRAY, astray, sizeof(astray));
	memcpy((unsigned char *)at + DATA, data, sizeof(data));
	if (mprotect(at, CODE_BYTES, PROT_READ | PROT_EXEC))
		return 2;
	memcpy(&rounds, &at, sizeof(rounds));
	work_ready();
	work_lifetime(argv[1]);
	run(rounds);
	return 0;
}
