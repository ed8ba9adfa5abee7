// SPDX-License-Identifier: BSD-2-Clause
#include "kern/arch.h"

#include "base/cleanup.h"
#include "shared/knobs.h"

#include <stdio.h>
#include <sys/utsname.h>

#ifdef __aarch64__

/*
 * Strips an address that has every bit below 55 set: what remains set are the
 * bits of an address. Without pointer authentication the instruction does
 * nothing; then only the tag byte is taken away, and bit 55, which is 0 in
 * user addresses.
 */
uint64_t arch_addr_mask(void)
{
	register uint64_t lr __asm__("x30") = (1ULL << 55) - 1;

	__asm__ volatile("hint #7" : "+r"(lr)); /* xpaclri */
	return lr & ((1ULL << 55) - 1);
}

#else

uint64_t arch_addr_mask(void)
{
	return ~0ULL;
}

#endif

unsigned int arch_kernel_stack_bytes(void)
{
	return 16384; /* x86-64: THREAD_SIZE_ORDER 2 without KASAN */
}

bool arch_has_orc(void)
{
#ifdef __x86_64__
	return arch_kernel_is_since(6, 5);
#else
	return false;
#endif
}

unsigned int arch_helper_frames(void)
{
	AUTO_FCLOSE FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int n;

	return file && fscanf(file, "%u", &n) == 1 ? n : KERNEL_FRAMES_MAX;
}

bool arch_kernel_is_since(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int have_major, have_minor;

	if (uname(&name) || sscanf(name.release, "%u.%u", &have_major, &have_minor) != 2)
		return false;
	return have_major > major || (have_major == major && have_minor >= minor);
}
