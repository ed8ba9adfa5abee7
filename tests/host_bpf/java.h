/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up JVM: its code cache, and a thread that runs Java. */
#ifndef WEFT_TESTS_JAVA_H
#define WEFT_TESTS_JAVA_H

#include "code.h"

#define HEAP_LOW    0x700000000000ULL
#define HEAP_BYTES  0x10000
#define SEGMENTS    0x710000000000ULL
#define SHIFT	    7
#define INTERPRETER (HEAP_LOW + 0x4000)
#define LONG	    (HEAP_LOW + 0x8000)
#define INTERPRETED                                                                      \
	(INTERPRETER + 0x123) /* where its frames go on; nothing called there */
#define STUBS	  (HEAP_LOW + 0x3000)
#define CALL_STUB (STUBS + 0x408) /* where it goes on */

/* Blobs by number, 1,024 bytes each; their code lies so far behind their block. */
#define BLOCK(n)     (HEAP_LOW + 0x400 * (uint64_t)(n))
#define CODE_AT	     0x80
#define BLOB(n)	     (BLOCK(n) + CODE_AT)
#define BLOB_SITE(n) (BLOB(n) + 0x100)

enum { CALLEE, CALLER, OTHER_ONE };

#define CALLEE_BYTES 0x40
#define CALLER_BYTES 0x60
#define COMPLETE     0x40 /* into the code */

/* Where the callee's frame ends, its caller's, and that of the call stub. */
#define CALLEE_END (STACK + 0x1000)
#define CALLER_END (CALLEE_END + CALLER_BYTES)
#define STUB_FP	   (CALLER_END + 0x20)

/* As JDK 17 has it, or JDK 25. */
extern struct hotspot java_layouts[2];

void put_field(struct hotspot_field field, uint64_t block, int64_t value);
void put_bytes(uint64_t at, const char *bytes, size_t n);

/* How far a segment of HEAP_LOW's heap goes back. */
void put_tag(uint64_t segment, unsigned char tag);

/* A block of so many segments. Each that has frames is a method of its own. */
void put_block(const struct hotspot *vm, uint64_t block, unsigned int n,
	       int64_t frame_words, int64_t complete);

/* The code of a call that ends there, of the machine that is acted. */
void put_call_to(uint64_t pc, uint64_t to);

/* Function 1 calls Java, by the call stub; that the caller, and that the callee. Wherever
 * a frame of the callee's may seem to end, some return address is left of others. */
struct sampled put_java(struct hotspot *vm);

/* These are all there, each of its kind. */
void assert_java(struct sampled *at, const char *kinds);

#endif
