/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs what a capture holds, compares the pairs, and tells what was found. */
#ifndef CROSSCHECK_TALLY_H
#define CROSSCHECK_TALLY_H

#include "compare.h"

#include <stdio.h>

#define REASONS_MAX 16

/* Why libdwfl gave up, and behind what; the last one collects the rest. */
struct reason {
	char words[320];
	uint64_t n;
};

struct tally {
	uint64_t samples;   /* pairs with a user stack: those that were compared */
	uint64_t no_user;   /* pairs without one, by both accounts */
	uint64_t alone;	    /* samples of the kernel without a record of ours */
	uint64_t ours;	    /* records of ours */
	uint64_t lost;	    /* samples that the kernel had no room for */
	uint64_t frames;    /* addresses that were found equal */
	uint64_t theirs;    /* of so many that libdwfl found */
	uint64_t reached;   /* samples in which libdwfl came to the start */
	uint64_t no_module; /* of libdwfl's addresses, in no file */
	uint64_t in_kernel; /* samples that fell in the kernel */
	uint64_t unproven;  /* samples of ours that hold a frame without proof */
	uint64_t matches[N_MATCHES];
	struct reason reasons[REASONS_MAX];
	uint64_t refused; /* files that libdwfl did not take */
};

/* examples: so many of each match are written to out, the plain one apart. */
int tally_capture(struct tally *ret, struct capture *capture, unsigned int hz,
		  unsigned int examples, FILE *out);

uint64_t tally_agreeing(const struct tally *tally);
void tally_print(const struct tally *tally, const char *name, FILE *out);

#endif
