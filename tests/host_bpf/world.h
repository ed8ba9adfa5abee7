/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made-up threads, roots and chains, and what the user half reads out of the
 * record of one: its two views, as text.
 *
 * An address on a stack tells its frame: frame i of a thread runs at its first
 * address + i, and begins where frame i - 1 ends.
 */
#ifndef WEFT_TESTS_WORLD_H
#define WEFT_TESTS_WORLD_H

#include "memory.h"
#include "walker.h"

#include "core/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define STACK	   0x7ffc00000000 /* of the sampled thread */
#define OTHER	   0x7f1200000000 /* of a waiting one */
#define THIRD	   0x7f1300000000
#define HEAP	   0x600000000000
#define FRAME_SIZE 0x40

/* Frame pointer of frame i on a stack; frame 0 is the leaf. */
#define FP(stack, i) ((stack) + FRAME_SIZE * ((i) + 1ULL) - FRAME_BYTES)

void put_frame(uint64_t fp, uint64_t caller_fp, uint64_t ra);
void put_root(uint64_t at, uint64_t top, uint64_t next, uint64_t fp);
void put_node(uint64_t at, uint64_t parent, uint64_t ip, uint64_t root);

/* A leaf at pc and n callers at pc + 1, …, the last without frame pointer. */
void put_stack(uint64_t stack, unsigned int n, uint64_t pc);

/* n nodes from `at` on, with ip, ip + 1, …; the last waits at root, or not. */
void put_chain(uint64_t at, unsigned int n, uint64_t ip, uint64_t root);

/* Samples the thread on STACK, whose leaf is at pc. */
struct sampled leaf_at(uint64_t pc);
struct sampled leaf_in_root(uint64_t pc, uint64_t root);

#define ASSERT_ASYNC(at, text)	assert_view(at, VIEW_ASYNC, text, __FILE__, __LINE__)
#define ASSERT_THREAD(at, text) assert_view(at, VIEW_THREAD, text, __FILE__, __LINE__)

/* Leaf first, addresses in hex; "--" boundary, ".." gap, "cut" when not whole. */
void assert_view(const struct sampled *at, enum view view, const char *text,
		 const char *file, int line);

/* What a view of a sample says; valid until the next call. */
const char *view_text(const struct sampled *at, enum view view);

/* First segment of that kind and number; fails when there is none. */
uint64_t segment_of(const struct sample_rec *rec, enum segment_kind kind,
		    unsigned int nth);

/* What is wrong with the build of a record; NULL: nothing. */
const char *record_flaw(const struct sample_rec *rec);

int world_setup(void **state);

#define CASE(test) cmocka_unit_test_setup(test, world_setup)

int run_walk_cases(void);
int run_root_cases(void);
int run_chain_cases(void);
int run_wait_cases(void);
int run_fiber_cases(void);
int run_bottom_cases(void);
int run_crossing_cases(void);
int run_table_cases(void);
int run_register_cases(void);
int run_leaf_cases(void);
int run_copy_cases(void);
int run_luajit_cases(void);
int run_hosted_cases(void);
int run_beam_cases(void);
int run_byte_cases(void);
int run_goroutine_cases(void);
int run_hotspot_cases(void);
int run_hotspot_call_cases(void);
int run_hotspot_arm64_cases(void);
int run_signal_cases(void);
int run_run_cases(void);
int run_mapping_table_cases(void);
int run_table_root_cases(void);
int run_record_cases(void);
int run_storm(void);

#endif
