/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where HotSpot, the JVM of OpenJDK, has the code that it generates, and where its
 * frames' sizes are, as user space finds it out of one process and ticks use it.
 *
 * A code heap is cut into segments. A segment map has a byte for each: how many segments
 * to go back, again and again, to where a block begins, which has 0; or 0xff: free. A
 * block is its header and a blob: code, and what is known of it. That says how large the
 * frames of its code are; a return address, and the caller's rbp, are the last two words
 * of such a frame. The interpreter's frames have frame pointers.
 */
#ifndef WEFT_SHARED_HOTSPOT_H
#define WEFT_SHARED_HOTSPOT_H

/* An array in libjvm.so, by which HotSpot tells debuggers how its structures are laid
 * out: a variable that has its address. */
#define HOTSPOT_SYMBOL	     "gHotSpotVMStructs"
#define HOTSPOT_TYPES_SYMBOL "gHotSpotVMTypes" /* the same of how large they are */

#define HOTSPOT_HEAPS 4 /* HotSpot has up to three */

#define HOTSPOT_SEGMENT_FREE 0xff

struct hotspot_heap {
	unsigned long long low, high;	  /* what it may grow to; both 0: none */
	unsigned long long segments;	  /* its segment map */
	unsigned long long segment_shift; /* a segment has 1 << so many bytes: 4 to 12 */
};

/* A field of a blob. */
struct hotspot_field {
	unsigned short at;    /* so many bytes into its block */
	unsigned short bytes; /* 2, 4 or 8; 0: it has none */
};

struct hotspot {
	struct hotspot_heap heaps[HOTSPOT_HEAPS];
	unsigned long long interpreter, interpreter_bytes;
	unsigned long long call_stub_return; /* behind the call by which C calls Java */
	struct hotspot_field frame_words; /* a frame's size; 0: it is not all the same */
	struct hotspot_field frame_complete; /* from this byte of the code on it is there;
					      * negative: that is not known */
	struct hotspot_field code;   /* 8 bytes: its address; 4: how far behind the blob's
				    * beginning it begins */
	struct hotspot_field name;   /* 8 bytes: the address of what kind of blob it is */
	struct hotspot_field method; /* of one that is a method's compiled code: which */
	unsigned int blob_at;	     /* of a block */
};

/* Processes with a JVM that there is room for. */
#define HOTSPOTS_MAX 1024

#endif
