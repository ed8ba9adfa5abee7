/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What bpf/weft.bpf.h takes from the kernel, for a native build of the walk and
 * the splice. Whose memory they walk says whoever defines read_user(): a test
 * over made-up pages, the oracle over a stopped process.
 */
#ifndef WEFT_TESTS_HOST_BPF_H
#define WEFT_TESTS_HOST_BPF_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif

struct scratch;

/* Constant for the programs, not for who tests them: walker.c. */
extern struct knobs knobs;

/* Of the machine that is acted: x86-64's true, arm64's false. */
extern bool fp_gives_sp;

struct scratch *scratch(__u32 hook);
struct bounds_table;
struct bounds_table *bounds_table(__u32 hook);
struct vma_list;
struct vma_list *vma_list(__u32 hook);
struct hotspot;
const struct hotspot *hotspot_of(__u32 tgid);

/* Of the pages that walker_lend_pages() has lent; NULL: there is none. */
union unwind_page;
const union unwind_page *unwind_page(__u32 n);

/* As compat.bpf.h's: Go's g of the thread into s->go_g, by s->rule. */
bool find_g(struct scratch *s);

/* As the kernel's: all or nothing, and zeroes for nothing. */
bool read_user(void *to, __u32 bytes, __u64 from);

#endif
