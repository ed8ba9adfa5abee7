/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between machines and kernels and can only be learned by running. */
#ifndef WEFT_KERN_ARCH_H
#define WEFT_KERN_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* A user address without tag and authentication bits is address & mask. */
uint64_t arch_addr_mask(void);

bool arch_kernel_is_since(unsigned int major, unsigned int minor);

/* Has the kernel tables that its stacks can be walked by, as bpf/orc.bpf.c reads them? */
bool arch_has_orc(void);

/* How many frames the kernel's helper tells of a stack, at most: a sysctl's. */
unsigned int arch_helper_frames(void);

/* THREAD_SIZE, as kernels before 5.15 need it; those are x86-64 only. */
unsigned int arch_kernel_stack_bytes(void);

#endif
