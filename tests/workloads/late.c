/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library that is loaded while the program is being profiled, and brings its
 * own frames, its own root and, being the first to, the pthread key.
 *
 *	late MS    early_work for a third of MS, then liblate.so's late_run
 *
 * Thread:  main;early_work    main;late_run;late_loop;late_step
 * Async:   late_caller;late_callee;--;late_step    main;late_run;late_loop;late_idle
 */
#include "beside.h"
#include "work.h"

#include <dlfcn.h>

FN void early_work(void)
{
	spin(3600);
}

int main(int argc, char **argv)
{
	unsigned long long end;
	void (*run)(void);
	void *library;

	if (argc < 2)
		return work_usage(argv[0], "MS");
	work_lifetime(argv[1]);
	work_ready();
	end = work_now_ns() + atol(argv[1]) * 1000000ULL / 3;
	while (work_now_ns() < end)
		early_work();

	library = open_beside(argv[0], "liblate.so");
	if (!library)
		return 3;
	run = (void (*)(void))dlsym(library, "late_run");
	if (!run)
		return 3;
	for (;;)
		run();
}
