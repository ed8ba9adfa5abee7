/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Limits and settings that both halves know. What is in struct knobs becomes
 * read-only data before the programs are loaded, so an unused filter is dead
 * code that the verifier removes.
 */
#ifndef WEFT_SHARED_KNOBS_H
#define WEFT_SHARED_KNOBS_H

#include "thread_context.h"

#define FRAMES_DEFAULT 512 /* user frames of a thread, and again of its chains */
#define FRAMES_MIN     16
#define FRAMES_MAX     1024

#define KERNEL_FRAMES_MAX 127 /* the kernel's own limit, perf_event_max_stack */

/*
 * kernel + thread + chains + the ROOT, GAP and SEGMENT words between them, and
 * a power of two, so that an index is bounded by one mask. What the thread leaves of
 * it is the chains', 300 frames at least; 220 of who asked for attributes.
 */
#define RECORD_WORDS_MAX 2048

#define KEYS_MAX	  8	/* candidate key variables of one process */
#define PROCESS_INFOS_MAX 32768 /* processes at one time */
#define PUBLICATIONS	  256	/* counts of what is told of them, by tgid */
#define FILTER_PIDS_MAX	  1024
#define FAMILY_MAX	  32768 /* processes of a command at one time */
#define CPUS_MAX	  4096

#define CGROUP_LEVELS_MAX 64 /* how deep one may lie that is filtered by */

enum filter_bits {
	FILTER_TGID = 1 << 0,
	FILTER_TID = 1 << 1,
	FILTER_CGROUP = 1 << 2,
	FILTER_COMM = 1 << 3,
	FILTER_KERNEL_ONLY = 1 << 4,
	FILTER_USER_ONLY = 1 << 5,
};

/* Faults that a test may inject into the splice, to see the suite fail; and what the
 * cross-check needs. */
enum fault_bits {
	FAULT_NO_INTERVAL = 1 << 0,   /* roots match by equality of fp only */
	FAULT_NO_KEY = 1 << 1,	      /* act as if no key were published */
	FAULT_NO_IDENTITY = 1 << 2,   /* trust what was published for the pid */
	FAULT_FP_LEAF = 1 << 3,	      /* step from the sampled frame by frame pointer */
	FAULT_LATE_TABLES = 1 << 4,   /* act as if no table were loaded yet */
	FAULT_ORC_RULE = 1 << 5,      /* remember rules of the kernel's code wrongly */
	KERNEL_SAMPLES_TOO = 1 << 16, /* of every tick that is kept */
	CHECK_ORC = 1 << 17,	      /* beside the kernel's helper, at each sample */
	FEW_SLABS = 1 << 18,	      /* of pages, from the first on one at a time */
	LATE_PARTS = 1 << 19,	      /* of a tick: only when it ticks already */
};

/*
 * Parts of a tick that few processes need. Verified and removed code is most of what a
 * start costs, so a tick is loaded with those that somebody needs who runs; and anew with
 * more as soon as somebody does. Until then nothing of such a process is walked.
 */
enum tick_parts {
	PART_CHAINS = 1 << 0,  /* async roots and chains */
	PART_HOTSPOT = 1 << 1, /* frames of HotSpot's code */
	PART_LUAJIT = 1 << 2,  /* frames of LuaJIT */
	PART_HOSTED = 1 << 3,  /* frames of code that its host's file tells of */
	PARTS_ALL = (1 << 4) - 1,
};

struct knobs {
	unsigned int filters;	    /* enum filter_bits */
	unsigned int parts;	    /* enum tick_parts */
	unsigned int max_frames;    /* FRAMES_MIN to FRAMES_MAX */
	unsigned int wakeup_bytes;  /* of a ring in use: wake the reader */
	unsigned int faults;	    /* enum fault_bits; 0 outside of tests */
	unsigned int follow_forks;  /* a child of one that the filter lets through, too */
	unsigned int tables;	    /* walk by unwind tables where there are any */
	unsigned int orc;	    /* walk the kernel's stacks by its own tables */
	unsigned int helper_frames; /* the helper's most of such a stack */
	unsigned int timed;	    /* count what samples take */
	unsigned int trace_ids;	    /* samples carry them */
	unsigned int attributes;    /* samples carry those of threads' contexts */
	unsigned long long cgroup_id;	 /* FILTER_CGROUP: the v2 cgroup's id */
	unsigned long long addr_mask;	 /* user address without tags and signatures */
	unsigned int page_bytes;	 /* of user memory */
	unsigned int clock_tick_ns;	 /* unit of /proc/PID/stat field 22 */
	unsigned int kernel_stack_bytes; /* THREAD_SIZE, for kernels before 5.15 */
	char comm[16];			 /* FILTER_COMM, NUL padded */
};

/*
 * What user space publishes about one incarnation of a process, found by tgid. The
 * first two fields are fields 22 and 28 of /proc/PID/stat; a tick on which
 * they differ from the task's own uses none of the rest.
 */
struct process_info {
	unsigned long long start_ticks; /* since boot, in clock ticks; 0: by told_ns */
	unsigned long long start_stack;
	unsigned long long told_ns; /* when the fork or exec that began it was told */
	unsigned long long key_addr[KEYS_MAX];	 /* of the pthread_key_t; 0 = none */
	unsigned long long metadata_cookie_addr; /* 0 = none */
	unsigned long long suspended_cookie_addr;
	unsigned long long code_bytes; /* that it is known to have mapped as code */
	unsigned int specific_offset;  /* in glibc's struct pthread, from libc's own
					 _thread_db_pthread_specific; 0 = unknown */
	unsigned int mapping_table;    /* first page of its mappings; 0 = none */
	unsigned int n_mappings;       /* 1 to UNWIND_MAPPINGS_MAX */
	unsigned int generation;  /* of the mapping table; differs: it was given up */
	unsigned int has_hotspot; /* it has a JVM: shared/hotspot.h */
	unsigned int reserved;
	struct tls_variable context; /* of THREAD_CONTEXT_SYMBOL */
};

#endif
