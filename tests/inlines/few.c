// SPDX-License-Identifier: BSD-2-Clause
/* outer() spends its time in innermost(), which is inlined into middle(), which is
 * inlined into outer(); plain() has nothing inlined, and as much to do. */
#define INLINE	static inline __attribute__((always_inline))
#define OUTLINE __attribute__((noinline))

static volatile unsigned long sink;

INLINE void innermost(unsigned long x)
{
	for (unsigned long i = 0; i < 1000; i++)
		sink += x * i;
}

INLINE void middle(unsigned long x)
{
	innermost(x + 1);
}

OUTLINE void outer(unsigned long x)
{
	middle(x);
	sink++;
}

OUTLINE void plain(unsigned long x)
{
	for (unsigned long i = 0; i < 1000; i++)
		sink += x * i;
	sink++;
}

int main(int argc, char **argv)
{
	for (unsigned long i = 0; i < 300000; i++) {
		outer(i);
		plain(i);
	}
	return 0;
}
