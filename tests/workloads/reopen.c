/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library with a folly of its own that is closed and opened again, each time at
 * another address: the key's variable moves, and is unset again.
 *
 *	reopen MS TIMES    liblive.so's library_run; opened so often in MS
 *
 * Thread:  main;library_run;lib_loop;lib_resume
 * Async:   lib_task;--;lib_resume
 */
#include "beside.h"
#include "work.h"

#include <dlfcn.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 0;
	void *before = NULL;

	if (times < 1)
		return work_usage(argv[0], "MS TIMES");
	work_lifetime(argv[1]);
	work_ready();
	for (;;) {
		unsigned long long end =
			work_now_ns() + atol(argv[1]) * 1000000ULL / times;
		void *library = open_beside(argv[0], "liblive.so");
		void (*run)(void);

		if (!library)
			return 3;
		run = (void (*)(void))dlsym(library, "library_run");
		if (!run || (void *)run == before)
			return 3;
		while (work_now_ns() < end)
			run();
		before = (void *)run;
		dlclose(library);
		/* nothing else shall come to lie there */
		if (mmap((char *)before - (long)before % PAGE_BYTES, PAGE_BYTES,
			 PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0) == MAP_FAILED)
			return 3;
	}
}
