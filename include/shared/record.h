/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One sample as the BPF half writes it into a ring and the user half reads it:
 * a fixed header and a variable number of 64-bit words, of which only those
 * used are sent.
 *
 * The words, in this order:
 *
 *   n_kernel words   kernel frames, leaf first; full addresses, so their top
 *                    byte is 0xff by nature
 *   n_thread words   the thread's own stack, walked once and whole, leaf first,
 *                    with a ROOT word at each place where an async root sits
 *                    and a GAP word where the walk broke and went on from one
 *   segments         each a SEGMENT word and the words it counts
 *   TRACE_WORDS      only of a TRACED sample: struct trace_ids, as bytes
 *   attributes       only of an ATTRIBUTED sample: bytes, padded to whole words, and an
 *                    ATTRIBUTES_WORD
 *
 * A chain segment replaces, in the async view, everything that follows the ROOT
 * word which carries its number. How it ended says where the view goes on: in
 * the thread (REJOINED, at word `target` of the thread's words), in the next
 * segment, which is another thread's stack (CROSSED), or nowhere (the rest).
 * A ROOT word without a chain is looked through, but that of an unfollowed root: there
 * the async view has a gap. The thread view is the thread's words without the ROOT words.
 *
 * All numbers are in the machine's byte order (little endian on both machines).
 */
#ifndef WEFT_SHARED_RECORD_H
#define WEFT_SHARED_RECORD_H

/* Top byte of a word: what it is. The rest: an address, or fields below. */
#define FRAME_KINDS(X)                                                                   \
	X(USER, 0x00, "user frame, where it was interrupted: the address itself")        \
	X(UNPROVEN, 0x01,                                                                \
	  "user frame, stepped to by a frame pointer that nothing proves")               \
	X(ASYNC, 0x02, "async caller")                                                   \
	X(CALLER, 0x03, "user frame, stepped to by an unwind table")                     \
	X(LAUNCH, 0x05, "the same, and its own rule says where a made stack goes on")    \
	X(BOTTOM, 0x06,                                                                  \
	  "no caller: where a made stack's first function would return to; perhaps, "    \
	  "if the ending is unreadable")                                                 \
	X(RESUMER, 0x07,                                                                 \
	  "the same, on another stack: it resumed the made stack that the frame before " \
	  "it is the first function of")                                                 \
	X(SYSCALL, 0x08,                                                                 \
	  "user frame in a system call: the address behind that instruction")            \
	X(METHOD, 0x09,                                                                  \
	  "user frame of an interpreter, as CALLER: where the runtime keeps what it "    \
	  "knows of the method; or behind such a USER or UNPROVEN frame, its method")    \
	X(LABEL, 0x04, "7 bytes of a label's text, zeroes behind its end")               \
	X(ROOT, 0x10, "async root registered by the next frame")                         \
	X(GAP, 0x11, "frames missing here")                                              \
	X(SEGMENT, 0x12, "head of a segment")                                            \
	X(KERNEL, 0xff, "kernel frame")

#define FRAME_KIND_SHIFT 56
#define FRAME_ADDR_MASK	 ((1ULL << FRAME_KIND_SHIFT) - 1)
#define FRAME_KIND(word) ((unsigned int)((word) >> FRAME_KIND_SHIFT))
#define FRAME_ADDR(word) ((word)&FRAME_ADDR_MASK)

enum frame_kind {
#define X(name, value, text) FRAME_##name = value,
	FRAME_KINDS(X)
#undef X
};

/* How a walk ended: the thread's, and each segment's. */
#define ENDINGS(X)                                                                       \
	X(NO_USER, "no user stack (kernel thread)")                                      \
	X(START, "reached the thread's start")                                           \
	X(DETACHED, "reached the start of a detached chain")                             \
	X(REJOINED, "chain continued in this thread")                                    \
	X(CROSSED, "chain continued in a waiting thread")                                \
	X(BUDGET, "cut: more frames than the budget")                                    \
	X(UNREADABLE, "cut: memory not readable")                                        \
	X(BROKEN, "cut: what follows is not a frame")                                    \
	X(CYCLE, "cut: frames repeat")                                                   \
	X(TORN, "cut: changed while it was read, or the stack was switched")             \
	X(STALE, "cut: the waiting root belongs to another chain")                       \
	X(FOREIGN, "not walked: 32-bit task")                                            \
	X(FP_ZERO, "frame pointer of 0, as at a thread's start")                         \
	X(AWAITED, "cut: the unwind table of this code was not loaded yet")              \
	X(FIBER, "reached the bottom of a stack that is not the thread's own")

enum ending {
#define X(name, text) END_##name,
	ENDINGS(X)
#undef X
		N_ENDINGS
};

/*
 * LABEL words, LABEL_WORDS_MAX at most, stand for one frame of a chain: text that
 * the program put between its callers, first byte lowest. The last of them holds
 * a zero byte, or is the last that there may be. What it says is the program's.
 * LABEL_UNREADABLE, which is no text's word, says that the rest could not be read.
 */
#define LABEL_WORD_BYTES 7
#define LABEL_WORDS_MAX	 5
#define LABEL_UNREADABLE 0x100ULL
#define LABEL_ENDS(word)                                                                 \
	(((FRAME_ADDR(word) - 0x01010101010101ULL) & ~(word)&0x80808080808080ULL) != 0)

/*
 * ROOT word: the root's number in this record, from 0 in the order in which they were
 * met; once more where it is met again: a thread that waits twice is walked twice. Or
 * ROOT_UNFOLLOWED: there were MAX_ROOTS already, so this root's chain, and the roots
 * behind it, are missing.
 */
#define ROOT_NUMBER(word) ((unsigned int)((word)&0xff))
#define MAX_ROOTS	  64
#define ROOT_UNFOLLOWED	  0xff

/* GAP word: how the walk ended there, enum ending, before it was taken up again;
 * NO_USER: it did not, but what lies between two frames is not known. */
#define GAP_ENDING(word) ((unsigned int)((word)&0xff))

/*
 * SEGMENT word: 0x12 | kind | ending | root | target (16 bits) | count (16 bits)
 * root: of a chain, the number of the ROOT word it leaves from.
 * target: of a REJOINED chain, an index into the thread's words.
 */
enum segment_kind { SEGMENT_CHAIN, SEGMENT_THREAD };

#define SEGMENT_WORD(kind, ending, root, target, count)                                  \
	(((unsigned long long)FRAME_SEGMENT << FRAME_KIND_SHIFT) |                       \
	 ((unsigned long long)(kind) << 48) | ((unsigned long long)(ending) << 40) |     \
	 ((unsigned long long)(root) << 32) | ((unsigned long long)(target) << 16) |     \
	 (unsigned long long)(count))
#define SEGMENT_KIND(word)   ((unsigned int)((word) >> 48 & 0xff))
#define SEGMENT_ENDING(word) ((unsigned int)((word) >> 40 & 0xff))
#define SEGMENT_ROOT(word)   ((unsigned int)((word) >> 32 & 0xff))
#define SEGMENT_TARGET(word) ((unsigned int)((word) >> 16 & 0xffff))
#define SEGMENT_COUNT(word)  ((unsigned int)((word)&0xffff))

/* Bits of sample_rec.flags. */
#define SAMPLE_FLAGS(X)                                                                  \
	X(IN_KERNEL, 0, "hit the kernel")                                                \
	X(UNPROVEN, 1, "has a frame reached by an unproven step")                        \
	X(KEY, 2, "the process has a published async key")                               \
	X(STALE, 3, "the published data is of another incarnation of the process")       \
	X(UNMATCHED, 4, "an async root was not found on the stack")                      \
	X(ASYNC, 5, "has at least one chain")                                            \
	X(NO_SLOT, 6, "the thread's pthread slots were not found")                       \
	X(AWAITED, 7, "an unwind table or a mapping was not known yet")                  \
	X(ROOTS_CUT, 8, "has more async roots than weft follows")                        \
	X(TRACED, 9, "carries the ids of a trace and a span")                            \
	X(NO_CONTEXT, 10, "the thread's context could not be read")                      \
	X(ATTRIBUTED, 11, "carries attributes of the thread's context")

enum sample_flag {
#define X(name, bit, text) SAMPLE_##name = 1 << bit,
	SAMPLE_FLAGS(X)
#undef X
};

/* What takes samples. The names are of the ledger's counts. */
#define HOOKS(X) X(ONCPU, "oncpu", "runs on a CPU, at the sampling rate")

enum hook {
#define X(name, key, text) HOOK_##name,
	HOOKS(X)
#undef X
		N_HOOKS
};

#define TASK_COMM_BYTES 16

/* A user in 16 bits. What was lent of user ids (/etc/subuid) is one or two users, and so
 * are others whose ids are that large. */
#define SAMPLE_USERS	 65536
#define SAMPLE_USER(uid) ((uid) < SAMPLE_USERS ? (uid) : 0x8000 | ((uid) >> 16 & 0x7fff))

struct sample_rec {
	unsigned long long ts_ns;     /* CLOCK_MONOTONIC */
	unsigned long long weight_ns; /* the time that it stands for */
	unsigned long long begun_ns;  /* when its process was forked; 0: not known */
	unsigned int tgid;	      /* of the initial pid namespace */
	unsigned int tid;
	unsigned int cpu;
	unsigned short n_words; /* all that follow the header */
	unsigned short n_kernel;
	unsigned short n_thread;
	unsigned char ending;	    /* of the thread's walk: enum ending */
	unsigned char hook;	    /* enum hook */
	char comm[TASK_COMM_BYTES]; /* NUL terminated */
	unsigned short flags;	    /* enum sample_flag */
	unsigned short user; /* SAMPLE_USER() of who runs it; 0: root, or not known */
	unsigned long long words[];
};

#define SAMPLE_HEADER_BYTES 64

_Static_assert(sizeof(struct sample_rec) == SAMPLE_HEADER_BYTES,
	       "the two halves agree on the header");

#endif
