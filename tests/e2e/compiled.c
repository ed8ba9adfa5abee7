// SPDX-License-Identifier: BSD-2-Clause
/*
 *	compiled [changes]   code that was generated, and keeps no frame pointers
 *
 * run_even() and run_odd() call it by turns of some 100 ms; it calls back(), and that its
 * other function, which spins. Whatever lies in that one's frame is an address behind a
 * call of decoy(): who takes its frame for smaller than it is finds that for its caller.
 * rbp leads nowhere. "changes": after each turn of a millisecond its frame is of another
 * size, and nothing else of the code.
 * Runs until it is killed; a line on stdout says that it is on its way.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FN	   __attribute__((noinline, noclone, used))
#define CODE_BYTES (64u << 10)
#define SPIN	   0x1000
#define SMALL	   0x18
#define LARGE	   0x58
#define TURNS	   1000 /* of a spin: some 100 ms */
#define NOWHERE	   1

/* rdi: what it calls; rsi: what rbp is then */
static const unsigned char call[] = {
	0x53,			/* push %rbx */
	0x55,			/* push %rbp */
	0x48, 0x83, 0xec, 0x28, /* sub $0x28,%rsp */
	0x48, 0x89, 0xf5,	/* mov %rsi,%rbp */
	0xff, 0xd7,		/* call *%rdi */
	0x48, 0x83, 0xc4, 0x28, /* add $0x28,%rsp */
	0x5d,			/* pop %rbp */
	0x5b,			/* pop %rbx */
	0xc3,			/* ret */
};

/* rdi: what its frame is filled with; rsi: what rbp is then; edx: rounds */
static const unsigned char spin[] = {
	0x55,				    /* push %rbp */
	0x48, 0x83,	 0xec, SMALL,	    /* sub $SMALL,%rsp */
	0x48, 0x89,	 0xf5,		    /* mov %rsi,%rbp */
	0xb9, SMALL / 8, 0,    0,     0,    /* mov $SMALL / 8,%ecx */
	0x48, 0x89,	 0x7c, 0xcc,  0xf8, /* 1: mov %rdi,-8(%rsp,%rcx,8) */
	0xff, 0xc9,			    /* dec %ecx */
	0x75, 0xf7,			    /* jnz 1b */
	0x90, 0x90,	 0x90, 0x90,  0x90, 0x90, 0x90, 0x90,  0x90,
	0x90, 0x90,	 0x90, 0x90,  0x90, 0x90, 0x90, 0x90,  0x90,
	0x90, 0x90,	 0x90, 0x90,  0xf3, 0x90, /* 2: pause */
	0xff, 0xca,				  /* dec %edx */
	0x75, 0xfa,				  /* jnz 2b */
	0x90, 0x90,	 0x90, 0x90,  0x90, 0x90, 0x90, 0x90,  0x90,
	0x90, 0x90,	 0x90, 0x90,  0x90, 0x90, 0x90, 0x90,  0x90,
	0x90, 0x90,	 0x90, 0x90,  0x48, 0x83, 0xc4, SMALL, /* add $SMALL,%rsp */
	0x5d,						       /* pop %rbp */
	0xc3,						       /* ret */
};
#define SUB_AT	 4
#define COUNT_AT 9
#define ADD_AT	 (sizeof(spin) - 3)

typedef void (*back_function)(void);
typedef void (*call_function)(back_function back, uint64_t rbp);
typedef void (*spin_function)(void *fill, uint64_t rbp, unsigned int rounds);

static unsigned char *code;
static void *decoy_address;

FN static void keep_address(void)
{
	decoy_address = __builtin_return_address(0);
}

FN static void decoy(void)
{
	keep_address();
	__asm__ volatile("" ::: "memory");
}

FN static void back(void)
{
	unsigned char *at = code + SPIN;
	spin_function function;

	memcpy(&function, &at, sizeof(function));
	function(decoy_address, NOWHERE, 2000);
	__asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void call_code(void)
{
	call_function function;

	memcpy(&function, &code, sizeof(function));
	function(back, NOWHERE);
	__asm__ volatile("" ::: "memory");
}

FN static void run_even(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++)
		call_code();
	__asm__ volatile("" ::: "memory");
}

FN static void run_odd(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++)
		call_code();
	__asm__ volatile("" ::: "memory");
}

static void change(unsigned char bytes)
{
	code[SPIN + SUB_AT] = bytes;
	code[SPIN + COUNT_AT] = bytes / 8;
	code[SPIN + ADD_AT] = bytes;
}

int main(int argc, char **argv)
{
	bool changes = argc > 1 && !strcmp(argv[1], "changes");

	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	memcpy(code, call, sizeof(call));
	memcpy(code + SPIN, spin, sizeof(spin));
	decoy();
	puts("ready");
	fflush(stdout);
	for (;;) {
		run_even(changes ? TURNS / 100 : TURNS);
		if (changes)
			change(LARGE);
		run_odd(changes ? TURNS / 100 : TURNS);
		if (changes)
			change(SMALL);
	}
}
