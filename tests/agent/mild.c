/* SPDX-License-Identifier: BSD-2-Clause */
/* mild   takes a tenth of a CPU until it is killed */
#include "mild.h"

int main(void)
{
	for (;;)
		mild_turn(MILD_REST_US);
}
