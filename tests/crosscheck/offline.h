/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other opinion: elfutils' libdwfl walks the kernel's copy of registers and
 * stack, by the call frame information of the files themselves. Where code has
 * none (a JIT's), it follows the frame pointer, and that is counted.
 */
#ifndef CROSSCHECK_OFFLINE_H
#define CROSSCHECK_OFFLINE_H

#include "capture.h"
#include "modules.h"

#define OFFLINE_FRAMES 1024

enum offline_end {
	OFFLINE_START,	/* the file says that nobody called this */
	OFFLINE_DUMP,	/* the stack goes on above what the kernel copied */
	OFFLINE_GAVE_UP /* see why */
};

struct offline_stack {
	uint64_t at[OFFLINE_FRAMES]; /* leaf first, as they lie on the stack */
	size_t n;
	size_t no_module; /* of these so many in no file */
	bool leaf_untold; /* of the first no file tells where its caller is */
	enum offline_end end;
	char why[128];
};

struct offline;

int offline_new(struct offline **ret, struct modules *modules);
void offline_free(struct offline *offline);
DEFINE_FREEP(offline)

/* Never fails: it gives up and says why. */
void offline_walk(struct offline *offline, const struct kernel_sample *sample,
		  struct offline_stack *ret);

#endif
