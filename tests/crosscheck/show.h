/* SPDX-License-Identifier: BSD-2-Clause */
/* One sample for a person: both stacks side by side, with names and files. */
#ifndef CROSSCHECK_SHOW_H
#define CROSSCHECK_SHOW_H

#include "compare.h"

#include <stdio.h>

#define SHOW_BYTES 160

/* The file and the function of an address. */
void show_place(char ret[SHOW_BYTES], struct modules *modules, uint32_t pid,
		uint64_t addr);

void show_sample(FILE *out, enum match match, const struct sample_rec *rec,
		 const struct kernel_sample *sample, const struct our_stack *ours,
		 const struct offline_stack *theirs, struct modules *modules);

#endif
