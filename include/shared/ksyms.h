/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the kernel is asked for the names of its functions: one call of a program for a
 * batch of addresses, whose answers lie in a map that user space has mapped.
 */
#ifndef WEFT_SHARED_KSYMS_H
#define WEFT_SHARED_KSYMS_H

#define KSYMS_BATCH 32
#define KSYM_BYTES  632 /* of the kernel's 512, an offset, a size, a module's 56 */

struct ksym {
	unsigned long long addr; /* 0: there are no more */
	char text[KSYM_BYTES];	 /* "NAME+0x10/0x40 [MODULE]" */
};

#endif
