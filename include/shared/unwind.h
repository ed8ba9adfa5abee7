/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Unwind tables as user space makes them of a file's call frame information and
 * the ticks use them.
 *
 * The text of a file is cut into blocks of UNWIND_BLOCK_BYTES. Each block has a
 * run of rows that begins with one for its first byte, so a run stands for
 * itself; a row says from which byte of its block on which rule holds. Rules
 * are few and shared by all rows of a file.
 *
 * A table is a sequence of pages of UNWIND_PAGE_BYTES: the head page, the rules, the
 * blocks, the rows; of a copy of generated code two more parts. No rule, block entry or
 * run of rows lies across two pages, so each is found with one look-up; whatever a page
 * holds, the masks below bound what a tick reads of it.
 */
#ifndef WEFT_SHARED_UNWIND_H
#define WEFT_SHARED_UNWIND_H

#define UNWIND_PAGE_BYTES  4096
#define UNWIND_SLAB_PAGES  256 /* of those that the kernel has, in a map */
#define UNWIND_BLOCK_BYTES 1024

/* Where a frame's memory ends: its canonical frame address, CFA. */
#define UNWIND_CFAS(X)                                                                   \
	X(NONE, "no rule: no entry covers this code")                                    \
	X(SP, "sp + offset")                                                             \
	X(FP, "fp + offset")                                                             \
	X(DEREF_SP, "*(sp + deref) + offset")                                            \
	X(DEREF_FP, "*(fp + deref) + offset")                                            \
	X(DEREF_TWICE, "**(sp + deref) + offset")                                        \
	X(SIZED, "sp + *(sp + deref) + offset")                                          \
	X(REG, "register `reg` + offset: rbx, or known in the sampled frame; see KEPT")  \
	X(INDEXED, "*(sp + deref + 8 * register `reg`) + offset: known as for REG")      \
	X(PLT, "sp + offset, and 8 more from the `reg`th byte of 16 on")                 \
	X(CLONE,                                                                         \
	  "sp + offset; but who has 0 in register 0 is a new thread: nobody called")     \
	X(GO, "where Go's runtime keeps the stack of the goroutine that it works for")   \
	X(GO_C, "the same, beside C that the goroutine called")                          \
	X(SIGNAL, "a signal frame: registers lie where the kernel put them")             \
	X(END, "nobody called this: the thread's start")                                 \
	X(TORN, "no telling: the stack, or its frame, is another's already")             \
	X(UNSUPPORTED, "an expression that no table holds")

enum unwind_cfa {
#define X(name, text) UNWIND_CFA_##name,
	UNWIND_CFAS(X)
#undef X
		N_UNWIND_CFAS
};

/* Where the caller's frame pointer is. */
enum unwind_fp {
	UNWIND_FP_SAME,	 /* not saved yet, or restored */
	UNWIND_FP_CFA,	 /* *(CFA + 8 * fp_words) */
	UNWIND_FP_DEREF, /* *(fp + 8 * fp_words) */
	UNWIND_FP_LOST,	 /* said to be undefined or in another register */
	UNWIND_FP_SP,	 /* *(sp + 8 * fp_words) */
};

/* Where the return address is. */
enum unwind_ra {
	UNWIND_RA_CFA, /* *(CFA + 8 * ra_words) */
	UNWIND_RA_LR,  /* arm64: in the link register, in the sampled frame alone */
	UNWIND_RA_FP,  /* *(fp + 8 * ra_words): a made stack's first function, by what
			* its code goes back by; leads on as UNWIND_LEADS does */
	UNWIND_RA_REG, /* x86-64: in register number ra_words, in the sampled frame
			* alone: vfork, which must not leave it on a shared stack. Of a
			* CFA of GO's: what is kept of the goroutine has it */
};

/*
 * A CFA of GO's. The thread's g (x86-64: at thread pointer + cfa_offset; arm64: x28) has
 * at deref_offset its m; that has at 8 * reg the goroutine; that has at deref_offset its
 * m, which is the same, and behind it its sp and its pc. At sp the return address lies,
 * 8 * ra_words from the CFA. Or, of UNWIND_RA_REG, sp is the CFA, and the return address
 * pc; arm64: the ra_words-th word from that m on is the caller's link register.
 */
#define UNWIND_GO_WORDS 8 /* of the goroutine, from its m on */

/* A CFA of GO_C's: at sp + deref_offset lie a g, whose second word ends its stack, and
 * how far below that sp was; or 0, and what sp was. There the return address lies, 8 *
 * ra_words from the CFA. */

/*
 * Where x86-64's rbx of the caller is: 0: not saved yet, or restored; else
 * *(CFA + 8 * bx_words). Dynamic linkers find their CFA by it while they bind a
 * function, so it is followed from frame to frame; no other register is.
 */
#define UNWIND_BX_LOST (-32768)

/*
 * `reg` of a rule whose CFA is none of REG, INDEXED and PLT: its file marks the code as
 * a signal frame, which it is not. So compilers of fibers say that the caller goes on
 * exactly at the address that is found, behind whatever instruction. Of a CFA by
 * dereference also: its function has it from its first instruction on, so that nobody
 * called it. What such a frame leads to resumed it.
 */
#define UNWIND_LEADS 1

/* Or: its file tells nothing of the code, which was read instead. It leads to its caller
 * alone, even by a CFA by dereference: that is a stack that the code has aligned. */
#define UNWIND_BY_CODE 2

/* Or: a function that compilers made begins here, with nothing on the stack but what a
 * call leaves there. Its other rows may say the same of the stack, without this. */
#define UNWIND_FIRST 3

/* Or, of a CFA of SP's: its file says that the caller's sp is not what it calls the CFA.
 * Its function goes on to code that lies on its frame: GHC's StgRun(). */
#define UNWIND_ENTERS 5

/* Or, of hosted code (unwind_head.hosted): it calls more of its kind, and by way of
 * helpers that are generated, too. */
#define UNWIND_NESTS 6

/* Or, of a CFA of SP's: it may be another frame's. Ticks make such rules, too. */
#define UNWIND_GUESSED 4

/* Beside the number of a REG's register: what is called there leaves that alone, so it is
 * known in the sampled frame's caller, too. */
#define UNWIND_KEPT 0x80

/* Bits of deref_offset, of a CFA of SP's or FP's, by register number: r12 to r15, where
 * the whole function leaves them alone. What all that was called since leave alone is
 * known in their caller, too. */
#define UNWIND_ALONE 0xf000

/* One rule; offsets in bytes. arm64 saves both registers at the bottom of its
 * frame, which may be 100 KB large, hence words. */
struct unwind_rule {
	int cfa_offset;
	short deref_offset; /* of code that was counted: -40 to 544; or UNWIND_ALONE */
	short bx_words;
	short fp_words;
	short ra_words;
	unsigned char cfa; /* enum unwind_cfa */
	unsigned char fp;  /* enum unwind_fp */
	unsigned char ra;  /* enum unwind_ra */
	unsigned char reg; /* DWARF's number; PLT: see there; or one of these */
};

/* From `offset` bytes into its block on. */
struct unwind_row {
	unsigned short offset;
	unsigned short rule;
};

/* A block's run: rows [first, first + count) of the table. */
struct unwind_block {
	unsigned int first;
	unsigned short count; /* 1 to UNWIND_ROWS_A_PAGE; 0: no rule in this block */
	unsigned short reserved;
};

#define UNWIND_RULES_A_PAGE  (UNWIND_PAGE_BYTES / sizeof(struct unwind_rule))
#define UNWIND_BLOCKS_A_PAGE (UNWIND_PAGE_BYTES / sizeof(struct unwind_block))
#define UNWIND_ROWS_A_PAGE   (UNWIND_PAGE_BYTES / sizeof(struct unwind_row))

/* Bits of unwind_head.flags and unwind_mapping.flags. */
enum unwind_flags {
	/* Wherever this file's code can call, fp + 16 is the CFA and the record
	 * {caller's fp, return address} lies at fp. */
	UNWIND_KEEPS_FP = 1 << 0,
	/* A mapping's: there is no table to be had (generated code, files without call
	 * frame information), so by frame pointer, for what it is worth. Without
	 * this and without a table: it is still to come. */
	UNWIND_BY_FP = 1 << 1,
	/* Whoever returns into this file's code was called from there: a linker made it,
	 * and its runtime lets nobody seem to have called. */
	UNWIND_CALLS = 1 << 2,
	/* A mapping's: of generated code, and the table is of a copy of it. So a rule
	 * holds while the code there is what was copied; and who returns there was
	 * called from there, or the rule is not his. */
	UNWIND_COPIED = 1 << 3,
	/* This file has LuaJIT's interpreter; or, a mapping's: of generated code beside
	 * such a file. Its frames are found by what they hold (bpf/luajit.bpf.c). */
	UNWIND_LUAJIT = 1 << 4,
	/* This file runs generated code on a frame that is the same wherever that code
	 * is; or, a mapping's: of generated code beside such a file (hosted.bpf.c). */
	UNWIND_HOST = 1 << 5,
	/* With HOST: of this process's files as well, where their tables have no rule. */
	UNWIND_HOST_OF_FILES = 1 << 6,
};

/* Of the head page; page numbers count from it. */
struct unwind_head {
	unsigned long long text; /* address as linked of the first block */
	unsigned int code_page;	 /* COPIED: of the code itself, from text's page on; */
	unsigned int n_pages;
	unsigned int n_blocks;
	unsigned int flags;
	unsigned int rules_page, blocks_page, rows_page;
	unsigned int n_rules;
	/* and for each row where the stack was first as it says, in bytes from there */
	unsigned int firsts_page;
	/* HOST: of the code that it runs. Of a CFA of REG's it is BEAM's
	 * (bpf/beam.bpf.c), and cfa_offset where that returns to, as linked. */
	struct unwind_rule hosted;
};

/*
 * What of a file a process has mapped as code. A process's mappings, its mapping
 * table, are a sequence of entries over as many pages as it takes, by address; entry 0
 * is a struct unwind_mapping_head instead.
 */
struct unwind_mapping {
	unsigned long long start, end;
	unsigned long long bias; /* address - bias = address as linked */
	unsigned int table;	 /* its head page; 0: none */
	unsigned int flags;	 /* enum unwind_flags; UNWIND_SERIAL(), 0: not cached */
};

/* A number of the table's own, in the upper bits: ticks remember rules by it, and
 * another table may come to lie on the same pages. */
#define UNWIND_SERIAL_SHIFT  8
#define UNWIND_SERIAL(flags) ((flags) >> UNWIND_SERIAL_SHIFT)

struct unwind_mapping_head {
	unsigned long long generation; /* 0: given up */
	/* of what it runs, if there is a host (of a CFA of REG's, cfa_offset is where
	 * that returns to, the lower half of the address): */
	struct unwind_rule hosted;
	unsigned int host; /* its table, or 0 */
	unsigned int reserved;
};

#define UNWIND_MAPPINGS_A_PAGE (UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping))
#define UNWIND_MAPPINGS_MAX    4095 /* of a process: a search has 12 steps */

/*
 * A file whose table is there, so that a process which was not heard of yet can be
 * walked by what the kernel says it maps. The key is what the kernel has of its inode.
 */
struct unwind_file_key {
	unsigned long long ino;
	unsigned int device; /* as the kernel counts: major << 20 | minor */
	unsigned int reserved;
};

#define UNWIND_FILE_TEXTS 2 /* a file with more is left out */

struct unwind_file {
	/* as it was when the table was made of it */
	unsigned long long bytes;
	unsigned long long written_ns; /* its mtime */
	unsigned int table, flags;     /* as of struct unwind_mapping */
	/* what can run: a mapping of it at a file's offset in [begin, end) lies where it
	 * is linked plus start - offset - shift */
	struct unwind_file_text {
		unsigned long long begin, end, shift;
	} texts[UNWIND_FILE_TEXTS]; /* end 0: none */
};

#define UNWIND_FILES_MAX 8192

union unwind_page {
	struct unwind_head head;
	struct unwind_mapping_head mapping_head;
	struct unwind_mapping mappings[UNWIND_MAPPINGS_A_PAGE];
	struct unwind_rule rules[UNWIND_RULES_A_PAGE];
	struct unwind_block blocks[UNWIND_BLOCKS_A_PAGE];
	struct unwind_row rows[UNWIND_ROWS_A_PAGE];
	unsigned char bytes[UNWIND_PAGE_BYTES];
	unsigned int firsts[UNWIND_ROWS_A_PAGE];
	unsigned long long words[UNWIND_PAGE_BYTES / 8];
};

_Static_assert(sizeof(struct unwind_rule) == 16, "rules fill a page");
_Static_assert(sizeof(struct unwind_block) == 8, "blocks fill a page");
_Static_assert(sizeof(struct unwind_row) == 4, "rows fill a page");
_Static_assert(sizeof(struct unwind_mapping) == 32, "mappings fill a page");
_Static_assert(sizeof(struct unwind_mapping_head) == sizeof(struct unwind_mapping),
	       "it takes an entry's place");
_Static_assert(sizeof(union unwind_page) == UNWIND_PAGE_BYTES, "pages are pages");

#endif
