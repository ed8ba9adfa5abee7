/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made-up code with unwind tables: functions of CODE_BYTES one behind the other,
 * each with one rule, and stacks of theirs.
 */
#ifndef WEFT_TESTS_CODE_H
#define WEFT_TESTS_CODE_H

#include "tables.h"
#include "world.h"

#define CODE	    0x10000
#define CODE_BYTES  0x100
#define FUNCTION(i) (CODE + CODE_BYTES * (uint64_t)(i))
#define SITE(i)	    (FUNCTION(i) + 8) /* where the function goes on after a call */
#define GARBAGE	    0xdeadbeef0	      /* what code without frame pointers has there */

/* A table and a mapping of functions 0 to n - 1. */
void put_code(const struct unwind_rule *rules, unsigned int n, uint32_t flags);

/* The same rule for functions 0 to n - 1, and END for the one behind them. */
void put_like_code(struct unwind_rule rule, unsigned int n, uint32_t flags);

/* A frame of so many bytes at sp, that function `caller` called; where it ends. */
uint64_t put_call(uint64_t sp, uint64_t bytes, unsigned int caller);

/* The table of a copy of generated code of one rule, half of the page that lies in memory
 * there. */
uint32_t put_copy_of(uint64_t page, struct unwind_rule rule);

/*
 * Generated code beside a host that has this rule for it: of the host's functions 0 is
 * what such code calls, 1 runs that, 2 called it. And code of another file.
 */
#define HOSTED	  0x40000ULL
#define HOSTED_AT 0x40208ULL /* behind a call */
#define HOST_END  FUNCTION(4)
#define OTHERS	  0x50000ULL
void put_host(struct unwind_rule rule, uint32_t flags);

/* The code of a call, which ends there. */
void put_call_before(uint64_t pc);

/* Does a call end behind these bytes, or where that address is? */
bool code_is_call(uint64_t code);
bool code_is_called(uint64_t pc);

/* What the kernel leaves for the restorer, whose sp it is. */
void put_signal(uint64_t sp, uint64_t pc, uint64_t caller_sp, uint64_t fp);
void put_restorer(uint64_t pc);

/* Function 0 interrupted at its n-th byte. */
struct sampled leaf_in_code(uint64_t n);

#define ASSERT_WALK(at, kinds, addresses, ending)                                        \
	assert_walk(at, kinds, addresses, END_##ending, __FILE__, __LINE__)

/*
 * The thread's words by kind (U USER, S SYSCALL, C CALLER, L LAUNCH, F RESUMER, B BOTTOM,
 * P UNPROVEN, M METHOD, R root, G gap), what the thread view shows, and the ending.
 */
void assert_walk(const struct sampled *at, const char *kinds, const char *addresses,
		 enum ending ending, const char *file, int line);

#endif
