// SPDX-License-Identifier: BSD-2-Clause
/*
 * Text that lies in memory of the program's own: it copies pages of it and puts them
 * where they were, as node --use-largepages and others do for pages that are huge.
 *
 *	copied MS
 *
 * Thread:  main;stays;moved;burn
 */
#include "work.h"

#include <sys/mman.h>

#define MOVED_BYTES 8192

#if defined(__x86_64__)
#define JUMP "jmp"
#else
#define JUMP "b"
#endif

FN void burn(void)
{
	spin(1800);
}

/* What is copied is the pages of it that hold nothing else. */
FN __attribute__((aligned(4096))) void moved(void)
{
	for (int i = 0; i < 10; i++) {
		spin(1800);
		burn();
	}
	__asm__ volatile(JUMP " 1f\n\t.space 8192\n1:" ::: "memory");
}

FN void stays(void)
{
	for (;;)
		moved();
}

static void *map(void *at, int flags)
{
	return mmap(at, MOVED_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static bool move(void)
{
	void *from = (void *)moved, *copy = map(NULL, 0);

	if (copy == MAP_FAILED)
		return false;
	memcpy(copy, from, MOVED_BYTES);
	if (map(from, MAP_FIXED) == MAP_FAILED)
		return false;
	memcpy(from, copy, MOVED_BYTES);
	__builtin___clear_cache(from, (char *)from + MOVED_BYTES);
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage("copied", "MS");
	if (!move())
		return 1;
	work_ready();
	work_lifetime(argv[1]);
	stays();
	return 0;
}
