/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was measured: how often each distinct stack was seen. A stack is kept
 * as its record was, thread and chains and where they join, with addresses
 * replaced by frame ids; the views are read out of it (core/view.h). Whose it was
 * and in which second stands in the timeline.
 *
 * Nothing is named here, and nothing is forgotten until _free().
 */
#ifndef WEFT_CORE_AGGREGATOR_H
#define WEFT_CORE_AGGREGATOR_H

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/vec.h"
#include "core/stack_shares.h"
#include "core/timeline.h"
#include "shared/record.h"
#include "shared/thread_context.h"

#include <stdbool.h>
#include <stdint.h>

/* A place in the program: 24 bytes without padding, interned as they are. */
struct frame {
	uint64_t offset; /* in its module, as core/module.h says */
	uint32_t module;
	uint16_t returned;  /* 1: a return address, so the call is before it;
			    * FRAME_IS_LABEL: no place, offset is a label's id */
	uint8_t unproven;   /* 1: found by a frame pointer that nothing proves */
	uint8_t uncallable; /* 1: true though no call need lead to it: an async caller,
			     * where by its own rule a stack was made by hand, or
			     * where a system call returns to */
	uint64_t code_ns;   /* of generated code that a dump tells about: tells apart
			      * what may have been other code at that time; 0: no dump */
};

/* When a frame with a code_ns was sampled. */
struct frame_times {
	uint64_t first_ns, last_ns;
};

#define FRAME_IS_LABEL 2

/*
 * A stack in codes: STACK_COMM a string id, STACK_HOOK, STACK_ENDING, STACK_KERNEL and
 * STACK_THREAD counts of codes, STACK_TRACE whose trace it is, then the record's words,
 * each as one code; of a SEGMENT word two, the second with target and count.
 */
enum stack_head {
	STACK_COMM,
	STACK_HOOK,
	STACK_ENDING,
	STACK_KERNEL,
	STACK_THREAD,
	STACK_TRACE,
	STACK_HEAD
};

#define CODE_KIND	0xf0000000u
#define CODE_FRAME	0x00000000u /* | frame id */
#define CODE_RESUMER	0x10000000u /* | frame id: of who resumed the stack before it */
#define CODE_BOTTOM	0x20000000u /* | frame id: of a made stack, no caller */
#define CODE_ROOT	0x40000000u /* | root's number */
#define CODE_GAP	0x50000000u /* | enum ending: of the walk there */
#define CODE_SEGMENT	0x60000000u /* | kind << 16 | ending << 8 | root */
#define CODE_LABEL	0x70000000u /* | frame id, or CODE_LABEL_MORE: see the next */
#define CODE_LABEL_MORE 0x0fffffffu
#define CODE_TARGET(c)	((c) >> 16)
#define CODE_COUNT(c)	((c)&0xffff)
#define CODE_ENDING(c)	((c) >> 8 & 0xff)
#define CODE_SEGKIND(c) ((c) >> 16 & 0xff)
#define CODE_SEGROOT(c) ((c)&0xff)

#define FRAMES_DISTINCT_MAX (16u << 20)
#define STACKS_MAX	    (4u << 20)
#define COMMS_MAX	    (64u << 10)
#define COMM_OTHER	    "[other]"  /* number 0: beyond those, or nobody's */
#define OWNERS_MAX	    (4u << 20) /* processes; threads */
#define TRACES_MAX	    (1u << 20)
#define TRACE_BYTES_MAX	    (64u << 20)
#define LABELS_MAX	    (64u << 10)
#define LABEL_BYTES_MAX	    (16u << 20)
#define CODE_TIMES_MAX	    (256u << 10) /* samples with a code_ns of their own */
#define FRAME_BYTES_MAX	    (128u << 20)
#define STACK_BYTES_MAX	    (512u << 20)

struct aggregator {
	struct intern *frames;		     /* of struct frame */
	VEC(struct frame_times) frame_times; /* by frame, as far as any has a code_ns */
	uint64_t code_times;		     /* of CODE_TIMES_MAX */
	struct intern *stacks;		     /* of codes */
	struct stack_shares shares;	     /* of what is new, by user */
	struct stack_share *share; /* that of the sample at hand; NULL: root's */
	struct intern *comms;
	struct intern *labels;
	struct intern *traces;	  /* struct trace_ids or trace_attributes; 0: of none */
	struct intern *processes; /* of struct aggregator_process; 0: not known */
	struct intern *threads;	  /* of struct aggregator_thread; 0: not known */
	struct timeline timeline; /* in unix seconds, as unix_offset_ns makes them */
	uint64_t unix_offset_ns;  /* from a sample's clock; 0: not known */
	uint64_t period_ns;	  /* the weight of the first sample; 0: none yet */
	struct {
		uint64_t total, in_kernel, unproven, async, unmatched, stale, no_slot,
			awaited, roots_cut, labels_unreadable, traced;
		uint64_t attributed;	 /* with attributes of a thread's context */
		uint64_t attributes_cut; /* which are more than weft reads */
		uint64_t no_context;	 /* whose thread's context can't be read */
		uint64_t traces_dropped; /* whose ids are beyond their limit */
		uint64_t refused; /* stacks beyond the limits: in total, in no stack */
		uint64_t frames_dropped; /* frames beyond theirs: they say no place */
		uint64_t over_share;	 /* whose user has brought too much: a cut */
	} samples;
	struct {
		uint64_t samples;
		unsigned long long endings[N_ENDINGS]; /* of the thread's own walk */
	} by_hook[N_HOOKS];
	/* of chains, and of the waiting threads' stacks that they led to; a sample may
	 * have several */
	unsigned long long chain_endings[N_ENDINGS], waiting_endings[N_ENDINGS];
};

/* Whose trace it is, and attributes, whose keys the process knows. */
struct trace_attributes {
	struct trace_ids ids; /* zeroes: of none */
	uint32_t incarnation; /* of the process */
	unsigned char bytes[];
};

struct aggregator_process {
	uint32_t tgid, incarnation; /* proc/process.h */
};

struct aggregator_thread {
	uint32_t process, tid, comm;
};

int aggregator_new(struct aggregator **ret);
void aggregator_free(struct aggregator *aggregator);
DEFINE_FREEP(aggregator)

/* Whose a sample is, when it fell, and what it stands for. */
struct sample_owner {
	uint64_t time_ns, weight_ns;
	uint32_t tgid, incarnation, tid;
};

/* A sample of this user begins: what it brings that is new is bounded once half of the
 * room is used, so that stacks which are made up, each of places of its own, leave others
 * theirs. Once the user's own share is used up it is bounded to what is there already.
 * 0 or -ENOMEM. */
int aggregator_begin_sample(struct aggregator *aggregator, uint32_t user);

/* Counts a stack of n codes once more. */
int aggregator_add(struct aggregator *aggregator, const uint32_t *codes, size_t n,
		   const struct sample_owner *owner);

int aggregator_frame_id(struct aggregator *aggregator, const struct frame *frame,
			uint32_t *ret);
const struct frame *aggregator_frame(const struct aggregator *aggregator, uint32_t id);

/* A frame with a code_ns was sampled. */
int aggregator_frame_seen(struct aggregator *aggregator, uint32_t id, uint64_t time_ns);

#endif
