/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF sources share. A sample's way: sample.bpf.c (whose tick, whose
 * registers) -> process.bpf.c (what is known of the process) -> walk.bpf.c (down
 * the thread's stack, with table.bpf.c) and async.bpf.c (its roots and chains)
 * -> emit.bpf.c (the ring).
 *
 * All state of a sample lives in one per-CPU scratch value, not in registers:
 * the verifier does not follow map values, so a walk of 512 steps costs it no
 * more than one of 16. For the same reason the functions that a loop calls are
 * global, of default visibility, and take one number, the key of their scratch
 * value (one a hook, since a tick can interrupt a switch). __noinline where the
 * caller is in the same file, or clang takes it in all the same.
 *
 * walk.bpf.c, table.bpf.c, async.bpf.c and splice.bpf.c also compile natively,
 * over memory that a test makes up: tests/host_bpf gives what this takes from
 * the kernel.
 */
#ifndef WEFT_BPF_H
#define WEFT_BPF_H

#ifdef __bpf__
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#else
#include "host_bpf.h"
#endif

#include "shared/async_abi.h"
#include "shared/knobs.h"
#include "shared/losses.h"
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

/* Beyond this distance two frames are on different stacks (fibers). */
#define SAME_STACK_BYTES (64ULL << 10)

/* How far ahead a root may lie that a broken walk is taken up from. */
#define CHECKPOINT_BYTES (64ULL << 20)

#define WALK_STEPS  8 /* frames a call of walk_chunk() */
#define CHAIN_STEPS 8 /* nodes a call of async_walk_chain() */

/* Calls a sample: both budgets in the smaller of the two steps, and a root's
 * begin, ends and gaps, each of which can break off a step. */
#define ADVANCES (2 * FRAMES_MOST / CHAIN_STEPS + 8 * MAX_ROOTS)

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

enum hook { HOOK_ONCPU, N_HOOKS };

enum phase {
	PHASE_WALK,  /* down a thread's stack */
	PHASE_ROOT,  /* take the next root met, open its chain */
	PHASE_CHAIN, /* along a chain */
	PHASE_DONE,
};

/* How the frame at hand leads to its caller. */
enum how {
	HOW_FP,	     /* by a frame pointer that nothing proves */
	HOW_FP_TRUE, /* by one that this code is known to keep */
	HOW_TABLE,   /* by s->rule */
	HOW_SIGNAL,  /* the kernel interrupted the caller */
	HOW_END,     /* it was not called */
	HOW_AWAITED, /* that is not known yet */
	HOW_NOWHERE, /* it runs where nothing is known to be mapped */
	HOW_LOST,    /* nobody can tell: its frame is another's already */
	HOW_FP_OLD,  /* by one that an older frame set: those between are missing */
};

#define USER_REGS 16 /* by DWARF's numbers */

/* Of s->bx_at; misaligned, so no stack leads there. */
#define BX_IN_REGS 1
#define BX_UNKNOWN 2

/* The roots of one key that are still ahead: the first of them, as read. */
struct head {
	__u64 addr; /* 0: none left */
	struct async_root root;
};

/* Memory in which a frame may have registered a root: [low, low + bytes). */
struct extent {
	__u64 low, bytes;
};

/* A rule that was found before, by its table's serial number and its address. */
#define MEMO_BITS 8
#define MEMOS	  (1 << MEMO_BITS)

struct memo {
	__u64 key; /* 0: none */
	struct unwind_rule rule;
};

struct root_met {
	__u64 addr;
	__u64 top;
	__u32 mark; /* index of the word that says where */
};

struct scratch {
	/* the frame at hand: where it runs, where its memory begins and ends, and
	 * the frame pointer that its code sees */
	__u64 pc, sp, fp;
	__u64 cfa;
	__u32 exact; /* it was interrupted at pc, so its registers are there */
	__u32 how;   /* enum how */
	__u32 kind;  /* enum frame_kind: how sure it is */
	__u32 lane;  /* 0: own thread; 1: a waiting thread's stack */
	struct unwind_rule rule;
	__u64 lr;	  /* arm64, while exact */
	__u64 word;	  /* of walk_read() */
	__u64 step_bytes; /* how far the last step went */

	/* Brent's cycle test, over frames' ends or chain nodes */
	__u64 tortoise;
	__u32 hare_steps, hare_limit;

	__u32 phase;
	__u32 n_words;
	__u32 thread_start; /* index of the thread's first word */
	__u32 segment;	    /* index of the open segment's head */
	__u32 frames_left;  /* of the thread's budget */
	__u32 chain_left;   /* of the budget of everything beside the thread */
	__u32 n_roots;	    /* met so far */
	__u32 next_root;    /* the first one whose chain was not walked */
	__u32 key_at_hand;  /* of those whose roots are being met */

	/* the chain under way */
	__u64 node, node_before;
	struct async_frame frame;
	__u64 asked_at;		   /* where the chain's last but one goes on */
	struct async_root waiting; /* whose chain it is, as read */
	__u64 waiting_root;	   /* of the crossing under way */
	__u64 waiting_node;
	__u64 metadata_cookie, suspended_cookie;

	__u32 n_heads;
	__u32 sp_is_least; /* sp is not known: it lies there or above */
	struct head heads[KEYS_MOST];
	struct root_met roots[MAX_ROOTS];

	/* what is mapped, as published; and the mapping that was found last */
	__u32 by_table; /* walk by tables; else by frame pointer alone */
	__u32 space;	/* 0: not known */
	__u32 n_mappings;
	struct unwind_mapping mapping;
	__u32 low, high;      /* of a search */
	struct extent extent; /* of the frame at hand */

	__u64 regs[USER_REGS]; /* of the sampled frame */
	__u64 regs_at; /* of one that a signal interrupted: where its own lie; or 0 */
	__u64 bx_at;   /* where rbx of the frame at hand lies, or BX_… */

	struct memo memos[MEMOS];
	__u64 memo_key; /* of the rule that is looked for */

	__u64 chunk_base;
	__u32 chunk_bytes; /* 0: nothing read */
	__u32 has_keys;
	__u8 chunk[CHUNK_BYTES];

	struct sample_rec rec;
	__u64 words[RECORD_WORDS_MOST]; /* rec.words: they lie right behind it */
};

/* Of the thread frame at each word, none of a word between frames. Kept where
 * roots are; beside the scratch value, for which the kernel has 32 KiB. */
struct extents {
	struct extent of[RECORD_WORDS_MOST / 2];
};

#ifdef __bpf__
extern const volatile struct knobs knobs;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches __weak SEC(".maps");

static __always_inline struct scratch *scratch(__u32 hook)
{
	return bpf_map_lookup_elem(&scratches, &hook);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct extents);
} frame_extents __weak SEC(".maps");

static __always_inline struct extents *extents(__u32 hook)
{
	return bpf_map_lookup_elem(&frame_extents, &hook);
}

static __always_inline bool read_user(void *to, __u32 bytes, __u64 from)
{
	return !bpf_probe_read_user(to, bytes, (const void *)from);
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set to what memory they may have */
	__type(key, __u32);
	__type(value, union unwind_page);
} unwind_pages __weak SEC(".maps");

static __always_inline const union unwind_page *unwind_page(__u32 n)
{
	return bpf_map_lookup_elem(&unwind_pages, &n);
}
#endif

/* verifier: the mask must stay in the code although a check makes it idle */
#define KEEP(x) asm volatile("" : "+r"(x))

static __always_inline struct root_met *root_met(struct scratch *s, __u32 n)
{
	KEEP(n);
	return &s->roots[n & (MAX_ROOTS - 1)];
}

/* What the thread's next word covers. A waiting thread's may lie past the half
 * that has room. verifier: the mask, not the budget, bounds the index */
static __always_inline void keep_extent(struct scratch *s, __u32 hook, __u64 low,
					__u64 bytes)
{
	struct extents *all = extents(hook);
	__u32 n = s->n_words & (RECORD_WORDS_MOST / 2 - 1);

	if (!all || s->lane)
		return;
	all->of[n].low = low;
	all->of[n].bytes = bytes;
}

static __always_inline void emit_word(struct scratch *s, __u64 word)
{
	s->words[s->n_words & (RECORD_WORDS_MOST - 1)] = word;
	s->n_words++;
}

/* True once the walk has come back to where it was. */
static __always_inline bool goes_in_circles(struct scratch *s, __u64 at)
{
	if (at == s->tortoise)
		return true;
	if (--s->hare_steps)
		return false;
	s->tortoise = at;
	s->hare_limit *= 2;
	s->hare_steps = s->hare_limit;
	return false;
}

static __always_inline void start_cycle_test(struct scratch *s)
{
	s->tortoise = 0;
	s->hare_steps = s->hare_limit = 8;
}

/* By interval: the root's fp lies in the memory of the frame at hand. */
static __always_inline bool frame_registered(struct scratch *s, struct head *head)
{
	if (!head->addr)
		return false;
	if (knobs.sabotage & SABOTAGE_NO_INTERVAL)
		return head->root.fp == s->fp;
	return head->root.fp - s->extent.low < s->extent.bytes;
}

/* What the process has mapped, unless that was given up meanwhile. NULL: of this
 * life of it nothing is known. */
static __always_inline void take_space(struct scratch *s, const struct published *pub)
{
	const union unwind_page *page;

	s->by_table = knobs.tables;
	s->space = 0;
	s->mapping.start = s->mapping.end = 0;
	if (!knobs.tables || !pub || !pub->space)
		return;
	page = unwind_page(pub->space);
	if (!page || (__u32)page->space.generation != pub->generation)
		return;
	s->space = pub->space;
	s->n_mappings = pub->n_mappings;
}

/* splice.bpf.c: one bounded piece of work; nonzero while there is more. */
int splice_advance(__u32 hook);

/* walk.bpf.c */
int walk_begin(__u32 hook); /* from s->pc, sp, fp */
int walk_chunk(__u32 hook);
int walk_end(__u32 hook, __u32 ending);
int walk_measure(__u32 hook);	       /* s->extent of the frame at hand */
int walk_read(__u32 hook, __u64 addr); /* 8 bytes of stack into s->word; 0: not */

/* table.bpf.c */
int table_look_up(__u32 hook); /* how the frame at hand ends and leads on */
int table_step(__u32 hook);    /* to its caller; an ending, or N_ENDINGS: there */
int table_find_mapping(__u32 hook, __u64 addr); /* into s->mapping; 0: none holds it */
int table_find_rule(__u32 hook, __u64 addr);	/* into s->rule; 0: no row covers it */
int table_find_cfa(__u32 hook);	   /* of any s->rule, into s->cfa; 0: it can't be told */
int table_try_handler(__u32 hook); /* no table is needed where handlers return to */
int table_leave_handler(__u32 hook); /* to what was interrupted; an ending as above */

/* async.bpf.c */
int async_mark_roots(__u32 hook); /* that the frame at hand registered */
int async_mark_root(__u32 hook, __u32 k);
int async_mark_gap(__u32 hook); /* and the roots of s->extent */
int async_find_frame(__u32 hook, __u64 fp);
int async_take_checkpoint(__u32 hook); /* nonzero: the walk goes on from a root */
int async_open_chain(__u32 hook);      /* of the next root; 0: none left */
int async_walk_chain(__u32 hook);
int async_load_nodes(__u32 hook);
int async_end_crossing(__u32 hook, __u32 ending);

/* process.bpf.c: what was published about the sampled process */
int process_begin(__u32 hook);

/* slot.bpf.c: the current thread's roots into s->heads */
int slot_find_roots(__u32 hook);

/* Most frames have registered none, and most processes have one key. */
static __always_inline void async_meet_roots(struct scratch *s, __u32 hook)
{
	if (!s->n_heads || (s->n_heads == 1 && !frame_registered(s, &s->heads[0])))
		return;
	async_mark_roots(hook);
}

static __always_inline void splice_begin(struct scratch *s)
{
	s->n_words = 0;
	s->n_heads = 0;
	s->n_roots = 0;
	s->next_root = 0;
	s->lane = 0;
	s->chunk_bytes = 0; /* what lies there is another sample's */
}

/* The user stack at s->pc, sp, fp, lr and regs, and all that it leads to. */
static __always_inline void splice_user_stack(struct scratch *s, __u32 hook)
{
	s->thread_start = s->n_words;
	s->frames_left = s->chain_left = knobs.max_frames;
	s->phase = PHASE_WALK;
	s->exact = 1;
	s->sp_is_least = 0;
	s->regs_at = 0;
	s->bx_at = BX_IN_REGS;
	process_begin(hook);
	if (s->has_keys)
		slot_find_roots(hook);
	walk_begin(hook);
	for (int i = 0; i < ADVANCES; i++) {
		if (!splice_advance(hook))
			break;
	}
}

/* emit.bpf.c: the ledger, and the record into the ring (1: it was kept) */
int emit_entered(void);
int emit_record(__u32 hook);
int emit_outcome(__u32 outcome);

#endif
