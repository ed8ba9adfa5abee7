// SPDX-License-Identifier: BSD-2-Clause
/*
 * moved SECONDS: burns CPU in a function whose code it has moved elsewhere, as
 * programs do that lay their text on huge pages. Of that no sideband record tells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define CODE __attribute__((noinline, aligned(4096), section("moved")))

typedef void spin_fn(unsigned long);

CODE void moved_spin(unsigned long n)
{
	for (volatile unsigned long i = 0; i < n; i++)
		;
}

/* Keeps all else off its page. */
CODE void behind_it(void)
{
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	char *to = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *code;

	if (to == MAP_FAILED)
		return 1;
	code = mremap((void *)moved_spin, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
		      to + 4096);
	if (code == MAP_FAILED) {
		perror("mremap");
		return 1;
	}
	while (time(NULL) < end)
		((spin_fn *)code)(1000000);
	return 0;
}
