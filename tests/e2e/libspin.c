// SPDX-License-Identifier: BSD-2-Clause
/* Code to be mapped, not loaded, and names to be corrupted: see target.c. */

void spin_under_this_long_name(void);
void spin_under_this_long_name(void)
{
	for (volatile int i = 0; i < 200000; i++)
		;
}
