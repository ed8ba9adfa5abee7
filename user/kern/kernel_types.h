/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few of the kernel's types that a BPF object names, as BTF of their own. To place
 * the fields that programs read libbpf takes in all types of the kernel, some 5 MB, and
 * goes through them once for each name: a sixth of a start's CPU time. This goes through
 * them once, and copies what the object's own declarations of them have.
 */
#ifndef WEFT_KERN_KERNEL_TYPES_H
#define WEFT_KERN_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stddef.h>

/* Types of the kernel, borrowed, and of an object that was made for any. */
struct kernel_types {
	const void *bytes;
	size_t n;
	const struct btf *local;
};

/* Those of the first that the second has, with the same members. */
int kernel_types_pick(struct btf **ret, const struct kernel_types *from);

#define KERNEL_TYPES_PATH_BYTES 32

/*
 * The same of the running kernel for an object's ELF bytes, as a file for libbpf's
 * btf_custom_path: that path, which leads to *ret_fd while it is open.
 */
int kernel_types_file(const void *object, size_t bytes,
		      char ret_path[KERNEL_TYPES_PATH_BYTES], int *ret_fd);

#endif
