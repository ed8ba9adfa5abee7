// SPDX-License-Identifier: BSD-2-Clause
#include "kern/arch.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A user address without tag and authentication bits is address & mask. */
#ifdef __aarch64__

/*
 * Strips an address that has every bit below 55 set: what remains set are the
 * bits of an address. Without pointer authentication the instruction does
 * nothing; then only the tag byte is taken away, and bit 55, which is 0 in
 * user addresses.
 */
static uint64_t addr_mask(void)
{
	register uint64_t lr __asm__("x30") = (1ULL << 55) - 1;

	__asm__ volatile("hint #7" : "+r"(lr)); /* xpaclri */
	return lr & ((1ULL << 55) - 1);
}

#else

static uint64_t addr_mask(void)
{
	return ~0ULL;
}

#endif

bool arch_kernel_is_since(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int have_major, have_minor;

	if (uname(&name) || sscanf(name.release, "%u.%u", &have_major, &have_minor) != 2)
		return false;
	return have_major > major || (have_major == major && have_minor >= minor);
}

/* Has the kernel tables that its stacks can be walked by, as bpf/orc.bpf.c reads them? */
static bool has_orc(void)
{
#ifdef __x86_64__
	return arch_kernel_is_since(6, 5);
#else
	return false;
#endif
}

/* How many frames the kernel's helper tells of a stack, at most: a sysctl's. */
static unsigned int helper_frames(void)
{
	AUTO_FCLOSE FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int n;

	return file && fscanf(file, "%u", &n) == 1 ? n : KERNEL_FRAMES_MAX;
}

/* THREAD_SIZE, as kernels before 5.15 need it; those are x86-64 only, where it is
 * THREAD_SIZE_ORDER 2 without KASAN. */
#define KERNEL_THREAD_BYTES 16384

void arch_fill_knobs(struct knobs *knobs)
{
	knobs->page_bytes = (unsigned int)sysconf(_SC_PAGESIZE);
	knobs->clock_tick_ns = (unsigned int)(1000000000 / sysconf(_SC_CLK_TCK));
	knobs->kernel_stack_bytes = KERNEL_THREAD_BYTES;
	knobs->addr_mask = addr_mask();
	knobs->orc = has_orc();
	knobs->helper_frames = helper_frames();
}
