/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the tables lie that the kernel unwinds its own stacks by (x86-64). */
#ifndef WEFT_SHARED_ORC_H
#define WEFT_SHARED_ORC_H

/* What an entry's numbers of registers stand for. Which they are the kernel tells by a
 * hash of their definitions, by which it also refuses modules that others built. */
struct orc_format {
	unsigned int hash[5];	    /* SHA-1, as in memory */
	unsigned char sp, fp, end;  /* end: of the frame itself */
	unsigned char at_sp, at_fp; /* what lies where these point to */
	unsigned char pad[3];
};

/* Addresses in the kernel's memory. A program finds them there once it is loaded, before
 * anything ticks. */
struct orc_tables {
	unsigned long long addresses; /* of code, 32 bits each, from where they lie */
	unsigned long long entries;   /* as many, 6 bytes each */
	unsigned long long text;      /* where code begins that these are of */
	unsigned int text_bytes;
	unsigned int n; /* 0: none were found, or they are not trusted any more */
	struct orc_format format;
	/* who traces a function's end lets it return there; 0: nobody can */
	unsigned long long traced_return, probed_return;
};

#endif
