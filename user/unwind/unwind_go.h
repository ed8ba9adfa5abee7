/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for Go's code from the table that its runtime walks stacks by (obj/go_table.h):
 * at each instruction, how far sp is from the return address. A stripped program has
 * nothing else. It goes before .debug_frame, which has the same distances but also tells
 * them where a function has switched to another stack. Such functions of the runtime
 * keep the frame pointer of the stack that they left (Go 1.21 and later), so the walk
 * goes on there; or what they keep of the goroutine says where it goes on (Go up to 1.20,
 * and runtime.morestack); or they never come back, and nobody called what they run; or
 * nothing is told. x86-64 and arm64 (unwind_go_code.h).
 *
 * Stands between the reader of the file's own information and what takes its rows.
 */
#ifndef WEFT_UNWIND_UNWIND_GO_H
#define WEFT_UNWIND_UNWIND_GO_H

#include "unwind/cfi.h"
#include "obj/go_table.h"

/* Where the runtime keeps a goroutine, as runtime.systemstack comes back to it. */
struct go_kept {
	bool is_known;
	int g;		   /* x86-64: from the thread pointer */
	short m;	   /* of a g, before what is kept of its stack */
	unsigned char now; /* words into an m: its goroutine */
};

#define GO_CALLS_MAX 8

/* Calls that do not come back (unwind_go_calls.h). */
struct go_calls {
	size_t n, told;
	struct {
		uint64_t begin, end;
	} of[GO_CALLS_MAX];
	struct unwind_rule last; /* that was told of code around them */
};

struct unwind_go {
	struct elf_file *file; /* borrowed, as the sink */
	const struct cfi_sink *sink;
	struct go_table table;
	uint64_t begin, end; /* of Go's code */
	bool told, ended;
	struct unwind_rule rule; /* the file's own last one */
	struct go_kept kept;
	struct go_calls calls;
	bool knows_scheduler;
};

#define AUTO_UNWIND_GO __attribute__((cleanup(unwind_go_close))) struct unwind_go

/* A damaged table is none. */
void unwind_go_open(struct unwind_go *go, struct elf_file *file,
		    const struct cfi_sink *sink);
void unwind_go_close(struct unwind_go *go); /* {0} is fine */

/* As cfi_sink's row; arg: the struct unwind_go. */
int unwind_go_row(void *arg, uint64_t pc, const struct unwind_rule *rule);

/* After the last row. */
int unwind_go_end(struct unwind_go *go);

#endif
