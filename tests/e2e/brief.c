// SPDX-License-Identifier: BSD-2-Clause
/* A program as small as one can be, of which a copy costs nothing: it burns CPU for a
 * fraction of a millisecond, and ends. */
#include <sys/syscall.h>

__attribute__((noinline)) void brief_burn(void)
{
	for (volatile int i = 0; i < 200000; i++)
		;
}

void _start(void)
{
	brief_burn();
#ifdef __aarch64__
	register long number __asm__("x8") = SYS_exit_group;
	register long status __asm__("x0") = 0;

	__asm__ volatile("svc 0" : : "r"(number), "r"(status));
#else
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11");
#endif
	__builtin_unreachable();
}
