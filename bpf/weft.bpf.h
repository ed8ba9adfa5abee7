/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types that the BPF sources share. A source calls those below it alone
 * (tools/lint-layers):
 *
 *	sample   whose tick, whose registers              fork  what a child inherits
 *	context  the trace that a thread works for	   orc   down the kernel's stack
 *	splice   the order of a sample's walks
 *	cross    where a chain ends                       chain    along async frames
 *	walk     down a stack                             slot     a thread's roots
 *	step     a frame on (inline)                      process  what is known of it
 *	records  several, by their records                vmas     what the kernel knows
 *	bottom   where a made stack ends                  emit     the ring, the ledger
 *	hotspot  frames of Java's code                    code     (inline) what code says
 *	leaf     one that no rule tells of                rule_cache  (inline) cached
 *	table    rules of frames
 *	roots    where async roots lie                   hotspot_code  its code cache
 *	chunk    memory that was read ahead
 *
 * All state of a sample lives in one per-CPU scratch value, not in registers:
 * the verifier does not follow map values, so a walk of 512 steps costs it no
 * more than one of 16. For the same reason the functions that a loop calls are
 * global, of default visibility, and take one number, the key of their scratch
 * value (one a hook, since a tick can interrupt a switch). They return int, for
 * kernels before 6.8 take no global function without a value. __noinline where the
 * caller is in the same file, or clang takes it in all the same.
 *
 * All from splice down but slot, process and vmas also compile natively, over memory that
 * a test makes up: tests/host_bpf gives what maps.bpf.h takes from the kernel.
 */
#ifndef WEFT_BPF_H
#define WEFT_BPF_H

#ifdef __bpf__
#include <bpf/libbpf_version.h> /* libbpf 1.0 or later, else: tools/setup */
#if LIBBPF_MAJOR_VERSION < 1
#error "libbpf is too old: tools/setup says what to do"
#endif

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
/* has an order, see publication_count() */
#pragma GCC poison __sync_fetch_and_add
#else
#include "host_bpf.h"
#endif

#include "shared/async_abi.h"
#include "shared/hotspot.h"
#include "shared/knobs.h"
#include "shared/losses.h"
#include "shared/orc.h"
#include "shared/record.h"
#include "shared/unwind.h"

#define FRAME_BYTES 16 /* a frame record: caller's frame pointer, return address */

/*
 * How much stack to read at once, by how far the last step went: a walk may end
 * soon; short steps use all of a KiB; longer ones want as many records a read
 * as a page gives; behind a step of half a page there is none but the first.
 */
#define FIRST_CHUNK_BYTES 512
#define SHORT_CHUNK_BYTES 1024
#define SHORT_STEP_BYTES  128
#define CHUNK_BYTES	  4096
#define LONG_STEP_BYTES	  2048
#define BESIDE_BYTES	  64 /* beside that, of one that lies elsewhere */

/* verifier: the mask must stay in the code although a check makes it idle */
#define KEEP(x) asm volatile("" : "+r"(x))

/* verifier: what was written to a map value is read from there again, so that it is not
 * followed in a register */
#define REREAD() asm volatile("" ::: "memory")

/* Beyond this distance two frames are on different stacks (fibers). */
#define SAME_STACK_BYTES (64ULL << 10)

/* How far ahead a root may lie that a broken walk is taken up from. */
#define CHECKPOINT_BYTES (64ULL << 20)

/* Reads of segment maps a sample (hotspot.bpf.c); a frame mostly takes two. Or words that
 * are looked at (luajit.bpf.c); few frames take some thirty. */
#define SAMPLE_HOPS (4 * FRAMES_MAX)

#define WALK_STEPS  8 /* frames a call of walk_chunk() */
#define CHAIN_STEPS 8 /* nodes a call of chain_follow() */

/* Pieces of work a sample: both budgets in the smaller of the two steps, and a root's
 * begin, ends and gaps, each of which can break off a step. verifier: one loop over
 * all of them is 12,000 instructions, two of their square roots 1,000 */
#define PIECES	       (2 * FRAMES_MAX / CHAIN_STEPS + 8 * MAX_ROOTS)
#define ADVANCE_PIECES 16
#define ADVANCES       (PIECES / ADVANCE_PIECES + 1)

/* Does a frame record say where its frame ends? On arm64 it lies anywhere in it,
 * so behind a step by frame pointer sp is not known, until a table says where the
 * record lies. */
#if !defined(__bpf__)
#define FP_GIVES_SP fp_gives_sp /* a test says */
#elif defined(__TARGET_ARCH_arm64)
#define FP_GIVES_SP 0
#else
#define FP_GIVES_SP 1
#endif

/* A frame pointer as it lies in memory, or in its register. clang marks that of a caller
 * by a bit that no address has where a function keeps a coroutine's context below its
 * frame record (Swift's extended frames), and does so before it saves it. */
#define FP_OF(word) ((word)&knobs.addr_mask & ~(1ULL << 60))

enum phase {
	PHASE_WALK,	 /* down a thread's stack */
	PHASE_WALKED,	 /* s->ending says how that ended */
	PHASE_ROOT,	 /* take the next root found, open its chain */
	PHASE_CHAIN,	 /* along a chain */
	PHASE_CHAIN_END, /* s->frame is its last: where that leads */
	PHASE_DONE,
};

/* Beside the endings of walks: none, the step was made. */
#define STEP_OK N_ENDINGS

/* How the frame at hand leads to its caller. */
enum step_kind {
	STEP_KIND_FP,	     /* by a frame pointer that nothing proves */
	STEP_KIND_PROVEN_FP, /* by one that this code is known to keep */
	STEP_KIND_TABLE,     /* by s->rule */
	STEP_KIND_SIGNAL,    /* the kernel interrupted the caller */
	STEP_KIND_END,	   /* it was not called, or s->rule says that it left its stack */
	STEP_KIND_PENDING, /* that is not known yet */
	STEP_KIND_UNMAPPED, /* it runs where nothing is known to be mapped */
	STEP_KIND_BOTTOM,   /* nothing was called there: a stack that was made by hand */
	STEP_KIND_HIDDEN,   /* perhaps; its code can't be read */
	STEP_KIND_OLDER_FP, /* by that of an older frame: those between are missing */
};

/* What lies before a return address. */
enum call {
	CALL_NOT_ASKED, /* of a leaf */
	CALL_BEFORE,	/* a call, as far as can be told */
	CALL_NONE,
	CALL_OF_OTHERS, /* it is a function's first byte: the call is another's */
};

/* Does a frame's own rule lead to another stack, whose pointer it keeps? */
enum leads {
	LEADS_NOWHERE,
	LEADS_AWAY,	  /* perhaps as a function that was called switches stacks */
	LEADS_TO_RESUMER, /* it is a made stack's first function */
};

#define USER_REGS 16 /* by DWARF's numbers */

/* Of s->bx_at; misaligned, so no stack leads there. */
#define BX_IN_REGS 1
#define BX_UNKNOWN 2

/* The roots of one key that are still ahead: the first of them, as read. */
struct root_cursor {
	__u64 addr;  /* 0: none left */
	__u64 place; /* in the memory of the frame that it is found at */
	struct async_root root;
};

/* Memory in which a frame may have registered a root: [low, low + bytes). */
struct frame_bounds {
	__u64 low, bytes;
};

/* A rule that was found before, by its table's serial number and its address; and of a
 * return address, whether there is a call before it. */
#define RULE_CACHE_BITS	 9
#define RULE_CACHE_SLOTS (1 << RULE_CACHE_BITS)

struct cached_rule {
	__u64 key;    /* 0: none */
	__u64 packed; /* rule_cache.bpf.h */
};

/* The same of the kernel's code (orc.bpf.c). As large as the kernel lets a value be. */
#define ORC_CACHE_BITS	12
#define ORC_CACHE_SLOTS (1 << ORC_CACHE_BITS)

struct orc_slot {
	__u32 offset; /* of the code in the kernel's */
	__u32 rule;   /* 0: none that is plain, or no slot yet */
};

struct orc_cache {
	struct orc_slot slots[ORC_CACHE_SLOTS];
};

/* What ticks use of a process's struct process_info, a line of the cache. */
struct known_process {
	__u32 tgid; /* 0: none */
	__u32 publication;
	__u64 start_ticks, start_stack;
	__u32 has_keys, has_context, has_hotspot;
	__u32 mapping_table, n_mappings, generation;
	__u32 code_pages;
};

/* A new thread comes back from the call that made it, to a stack with nothing on it. */
enum in_syscall { IN_NO_SYSCALL, IN_SYSCALL, IN_SYSCALL_THAT_BEGAN_IT };

#define KNOWN_PROCESSES 8 /* that a CPU remembers, by tgid */

struct found_root {
	__u64 addr;
	__u64 top;
	__u32 mark; /* index of the word that says where */
};

struct scratch {
	/* the frame at hand: where it runs, where its memory begins and ends, and
	 * the frame pointer that its code sees */
	__u64 pc, sp, fp;
	__u64 cfa;
	__u32 is_leaf;	  /* it was interrupted at pc, so its registers are there */
	__u32 from_leaf;  /* its rule led here: these may still be those of the call */
	__u32 left_alone; /* which of them are for sure, of UNWIND_ALONE */
	__u32 step_kind;  /* enum step_kind */
	__u32 kind;	  /* enum frame_kind: how sure it is */
	__u32 is_first;	  /* of its stack, and not looked at yet */
	__u32 in_syscall; /* enum in_syscall: the leaf; so pc is behind it */
	__u32 on_waiting_thread; /* 0: on its own */
	__u32 leads;	   /* enum leads: no call need have led where its own rule does */
	__u32 strays;	   /* its frame pointer led here from a stack far away */
	__u32 is_unproven; /* a frame pointer that nothing proves led here, or below */
	__u32 call;	   /* enum call: is there one before pc? */
	struct unwind_rule rule;
	__u64 lr;	 /* arm64, while is_leaf */
	__u64 method;	 /* that the frame at hand interprets; 0: it does not */
	__u32 hops_left; /* of all walks: who makes up a JVM, or a LuaJIT, shall not hold
			    * up a CPU */
	__u64 found_block; /* of HotSpot's code */
	__u64 java_block;  /* that the frame at hand is in, or the last that was in one */
	__u32 java_bytes;  /* of that frame; 0: not the same everywhere */
	/* of frames that may be it. verifier: as numbers in registers they were as many
	 * ways as there are of these */
	__u32 n_possible, last_possible;
	__u64 java_end;	  /* where the last such frame ends whose size is known */
	__u64 beam_end;	  /* where what entered BEAM's code begins; 0: not known */
	__u64 word;	  /* of walk_read() */
	__u64 step_bytes; /* how far the last step went */
	__u64 begun_sp;	  /* where the stack at hand was when its walk began */

	/* Brent's cycle test, over frames' ends or chain nodes */
	__u64 tortoise;
	__u32 hare_steps, hare_limit;

	__u32 phase;
	__u32 ending; /* of the stack that was walked last */
	__u32 n_words;
	__u32 thread_start; /* index of the thread's first word */
	__u32 segment;	    /* index of the open segment's head */
	__u32 frames_left;  /* of the thread's budget */
	__u32 chain_left;   /* of the budget of everything beside the thread */
	__u32 n_roots;	    /* found so far */
	__u32 next_root;    /* the first one whose chain was not walked */
	__u32 key_at_hand;  /* of those whose roots are being looked for */
	__u32 nearest;	    /* cursor of those ahead, and how far that is */
	__u64 distance;

	/* the chain under way */
	__u64 node, node_before;
	__u64 node_near; /* the last one of the chunk */
	struct async_frame frame;
	__u64 resume_ip;	   /* where the chain's last but one goes on */
	struct async_root waiting; /* whose chain it is, as read */
	__u64 waiting_root;	   /* of the crossing under way */
	__u64 waiting_node;
	__u64 metadata_cookie, suspended_cookie;

	/* of who wants_context(): what the async view's first chain that says so works
	 * for; words of the record from view_at on are where that view goes on */
	__u64 chains_context; /* where its record lies; 0: none says so */
	__u32 view_at, in_view;

	__u64 glibc_slots, musl_slots; /* the thread's pthread slots; one of them is 0 */
	__u32 n_root_cursors;
	__u32 sp_is_least; /* sp is not known: it lies there or above */
	struct root_cursor root_cursors[KEYS_MAX];
	struct found_root roots[MAX_ROOTS];

	/* what is mapped, as published; and the mapping that was found last */
	__u32 mapping_table; /* 0: not known */
	__u32 n_mappings;
	__u32 by_vmas;	       /* what the kernel says itself is in the hook's list */
	__u32 code_pages;      /* that the process maps now, as the kernel counts them */
	__u64 mm, start_stack; /* its memory, and where its arguments lie in that */
	__u64 begun_boottime_ns;
	__u64 uretprobe; /* where functions return to that are waited for; 0: none is */
	struct unwind_mapping mapping;
	__u32 low, high;			/* of a search */
	__u32 rows_page, first_row, rules_page; /* of the run that was searched */
	__u32 in_block;				/* where in its block that address lies */
	struct frame_bounds frame_bounds;	/* of the frame at hand */

	__u64 regs[USER_REGS]; /* of the sampled frame */
	__u64 regs_at; /* of one that a signal interrupted: where its own lie; or 0 */
	__u64 bx_at;   /* where rbx of the frame at hand lies, or BX_… */
	__u64 go_g;    /* arm64, of one in Go's code: where the thread's g lies */
	__u64 x24;     /* arm64, of the sampled frame */
	__u64 go_pc;   /* of a goroutine that was found: where it goes on */

	struct cached_rule rule_cache[RULE_CACHE_SLOTS];
	__u64 rule_key; /* of the rule that is looked for */

	struct known_process known_processes[KNOWN_PROCESSES];

	__u64 chunk_base;
	__u32 chunk_bytes; /* 0: nothing read */
	__u8 has_keys;
	__u8 has_context;  /* its threads publish for which traces they work */
	__u16 has_hotspot; /* it has a JVM: hotspot_of() */
	__u8 chunk[CHUNK_BYTES + BESIDE_BYTES];
	__u64 beside_base;
	__u32 beside_bytes;
	__u32 window_at; /* where in these the nodes at hand are */

	struct sample_rec rec;
	__u64 words[RECORD_WORDS_MAX]; /* rec.words: they lie right behind it */
};

/*
 * What a process maps as code, as the kernel says itself. One that starts maps some five
 * ranges a library, of which one is code.
 */
#define VMAS_MAX    64
#define MAPLE_WORDS 32 /* of a node of the kernel's tree of mappings */

struct vma_list {
	__u32 n;    /* by address */
	__u64 next; /* the first address that was not looked at */
	__u64 mm;   /* whose they are */
	__u64 at;   /* the node at hand, and what it is */
	__u64 last; /* of the node at hand */
	__u64 code_bytes;
	struct unwind_file_key key; /* of what is looked up */
	__u64 node[MAPLE_WORDS];    /* a copy */
	struct unwind_mapping of[VMAS_MAX];
};

/* Of the thread frame at each word, none of a word between frames. Kept where
 * roots are; beside the scratch value, for which the kernel has 32 KiB. */
struct bounds_table {
	struct frame_bounds of[RECORD_WORDS_MAX];
};

/*
 * Words of a record that no budget counts behind the thread's: for each root that is
 * followed a chain may cross (two SEGMENTs, the first frame of the stack that it leads
 * to), it may be found there behind a gap (ROOT, GAP), and on that stack another may be
 * one too many, behind a gap (ROOT, GAP). And the ids of a trace, and attributes.
 */
#define UNCOUNTED_WORDS                                                                  \
	(7 * MAX_ROOTS + KEYS_MAX + TRACE_WORDS +                                        \
	 (knobs.attributes ? ATTRIBUTES_WORDS_MAX : 0))

#endif
