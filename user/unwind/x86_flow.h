/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64 code without call frame information, followed by its jumps: assembly, as in
 * video codecs and number libraries, and what runtimes of scripts bring along.
 *
 * Nothing says where its functions begin. But code that returns has its return address
 * at the stack pointer where it does, so each piece that is connected by jumps tells by
 * its rets how deep the stack is everywhere in it. A piece is believed only if several
 * rets say the same, if no two ways meet with different stack pointers, if nothing in it
 * lies above its own return address, and if whatever is called directly begins with that
 * address alone. Else nothing is told of it.
 *
 * Calls may not come back, and what lies behind such a one is another function's. They
 * are followed where what comes of it makes sense: functions begin with a return address
 * alone.
 */
#ifndef WEFT_UNWIND_X86_FLOW_H
#define WEFT_UNWIND_X86_FLOW_H

#include "base/cleanup.h"
#include "unwind/cfi.h"
#include "unwind/code_pages.h"

#define X86_FLOW_MAX	(4u << 20)  /* bytes at a time, which take 100 to 150 MB */
#define X86_FLOW_AROUND (64u << 10) /* that no function is longer than, or hardly any */

struct x86_code {
	const uint8_t *bytes; /* borrowed until what was read of them is freed */
	size_t n;	      /* <= X86_FLOW_MAX */
	uint64_t vaddr;
	uint64_t before, behind; /* bytes of the same code that lie around these */
	bool takes_args; /* functions are known to take theirs off the stack, as V8's */
	struct code_pages *data; /* what else their file has, borrowed; NULL: nothing */
};

struct x86_flow;

/*
 * 0 or -ENOMEM. Where there is more code around, nothing is told of what jumps there, nor
 * of what never returns. What comes from there is not seen: nothing that is told of the
 * first and last X86_FLOW_AROUND bytes next to it may be believed.
 */
int x86_flow_read(const struct x86_code *code, struct x86_flow **ret);
void x86_flow_free(struct x86_flow *flow); /* NULL is fine */
DEFINE_FREEP(x86_flow)

/* The rule for the instruction at an offset; false: none is known, or none is there. */
bool x86_flow_rule(struct x86_flow *flow, size_t at, struct unwind_rule *ret);

/* Does a jump from elsewhere in the code lead to one of its bytes [begin, end)? Those
 * that go through a register or through a table that was not found lead nobody knows
 * where. */
bool x86_flow_is_led_to(const struct x86_flow *flow, size_t begin, size_t end);

/* Tells the rows of its bytes [begin, end), the last one of no rule if any is told. 0, or
 * the sink's error. */
int x86_flow_tell(struct x86_flow *flow, size_t begin, size_t end,
		  const struct cfi_sink *sink);

#endif
