/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's memory that BPF objects have, by its own account, and what one will have
 * once it is loaded: maps are as large then as they will ever be.
 */
#ifndef WEFT_KERN_KERNEL_MEMORY_H
#define WEFT_KERN_KERNEL_MEMORY_H

#include <stdint.h>

struct bpf_object;

/* Of a map or a program; 0: it is neither. */
uint64_t kernel_memory_of(int fd);

/* Of the maps and programs of an object that is loaded. */
uint64_t kernel_memory_of_object(const struct bpf_object *object);

/* At most, of an object that is not, with its maps as they are now, and of all that a
 * sampler has beside it: a ring of so many bytes and a sideband for each CPU that is
 * online, and what asks the kernel for names. n_cpus: that are possible. */
uint64_t kernel_memory_due(const struct bpf_object *object, unsigned int ring_bytes,
			   int n_cpus);

#endif
