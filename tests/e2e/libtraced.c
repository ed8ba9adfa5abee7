/* SPDX-License-Identifier: BSD-2-Clause */
/* Where traced.c's threads publish, in a library: with MORE bytes of variables of its own
 * besides, which decide whether it finds room among those of the program. */
static __thread volatile char more[MORE] = { 1 };
__thread void *volatile otel_thread_ctx_v1;

void attach(void *record)
{
	otel_thread_ctx_v1 = record;
	more[MORE - 1]++;
}
