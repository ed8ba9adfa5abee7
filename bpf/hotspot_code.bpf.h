/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* HotSpot's code cache, as ticks look into it: pieces of code, and to which of them calls
 * lead. */
#ifndef WEFT_HOTSPOT_CODE_BPF_H
#define WEFT_HOTSPOT_CODE_BPF_H

#if defined(__TARGET_ARCH_arm64)
#include "hotspot_arm64.bpf.h"
#else
#include "hotspot_x86.bpf.h"
#endif

/* A field's value, signed; 0: it can't be read. */
static __always_inline __s64 read_field(struct hotspot_field field, __u64 block)
{
	__s64 value = 0;

	block += field.at;
	if (field.bytes == 2)
		read_user(&value, 2, block);
	else if (field.bytes == 4)
		read_user(&value, 4, block);
	else
		read_user(&value, 8, block);
	return field.bytes == 2 ? (__s16)value : field.bytes == 4 ? (__s32)value : value;
}

/* Where the block begins that this code is of, into s->found_block; 0: in none that is in
 * use. */
int hotspot_find_block(__u32 hook, __u64 at);

/* What the call before a return address says of the code at hand. A direct one leads to
 * its beginning; or, before it was looked up, to where that is done; or, since the method
 * was compiled anew, to its other code. */
enum called { CALLED_ELSEWHERE, CALLED_PERHAPS, CALLED_THERE };

/* Of s->java_block's code, at s->pc. */
int hotspot_ask_call(__u32 hook, __u64 ra);

#endif
