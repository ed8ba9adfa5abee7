// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions of every shape that compilers describe differently: leaves, large
 * frames, alloca, aligned stacks, early returns, tail calls, no return. Compiled
 * with many options; nothing of it is run.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sink(const void *bytes, ...);

int leaf(int a, int b)
{
	return a * b + 1;
}

int large(void)
{
	char bytes[100000];

	return sink(bytes) + sink(bytes + 7);
}

int grows(size_t n)
{
	char *bytes = alloca(n);
	int vla[n];

	memset(bytes, 1, n);
	return sink(bytes) + sink(vla) + (int)n;
}

/* What asks for frame pointers to be kept throughout. */
#ifdef SIMPLE
#define ALIGNED
#else
#define ALIGNED __attribute__((aligned(64)))
#endif

int aligned(int n)
{
	ALIGNED char bytes[256];

	return sink(bytes, n) + leaf(n, n);
}

int aligned_and_grows(size_t n)
{
	ALIGNED char bytes[256];
	char *more = alloca(n);

	return sink(bytes, more) + sink(more, bytes) + (int)n;
}

int returns_early(int n, char **names)
{
	int sum = 0;

	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (!names[i])
			return sum;
		sum += sink(names[i], i, sum, n);
		if (sum > 1000)
			exit(sum);
	}
	return sum + leaf(n, sum);
}

int variadic(const char *fmt, ...)
{
	char out[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, sizeof(out), fmt, ap);
	va_end(ap);
	return sink(out);
}

int many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long x = sink("1", a, b), y = sink("2", c, d), z = sink("3", e, f);
	long u = sink("4", g, h), v = sink("5", x, y), w = sink("6", z, u);

	return (int)(a * x + b * y + c * z + d * u + e * v + f * w + g * h);
}

double floats(double a, double b)
{
	double x = sink("x", a), y = sink("y", b);

	return x * a + y * b;
}

int tail(int n)
{
	char bytes[40];

	sink(bytes, n);
	return sink("tail", n);
}

#ifdef ONE_WITHOUT
/* Hand-written code that uses the frame pointer for something else. */
__asm__(".text\n"
	".type without, @function\n"
	"without:\n"
	"	.cfi_startproc\n"
	"	sub $24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	call sink@plt\n"
	"	add $24, %rsp\n"
	"	.cfi_adjust_cfa_offset -24\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size without, . - without\n");
#endif

#ifdef UNCOVERED
/* More code without an entry than start files have. */
__asm__(".text\n"
	"uncovered:\n"
	"	.rept 600\n"
	"	nop\n"
	"	.endr\n"
	"	call sink@plt\n"
	"	ret\n"
	".size uncovered, . - uncovered\n");
#endif

__attribute__((noreturn)) void gives_up(const char *why)
{
	fputs(why, stderr);
	abort();
}

int chooses(int n)
{
	switch (n) {
	case 1:
		return large();
	case 2:
		return aligned(n);
	case 3:
		return grows((size_t)n);
	case 4:
		return tail(n);
	case 5:
		gives_up("five");
	}
	return leaf(n, n);
}
