/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's functions, by address: asked of the kernel itself, which looks one up in
 * less than a microsecond. All of /proc/kallsyms takes it 45 ms to print.
 */
#ifndef WEFT_KERN_KSYMS_H
#define WEFT_KERN_KSYMS_H

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct ksyms;

int ksyms_new(struct ksyms **ret); /* loads nothing yet */
void ksyms_free(struct ksyms *ksyms);
DEFINE_FREEP(ksyms)

uint64_t ksyms_kernel_bytes(const struct ksyms *ksyms); /* that it has loaded */

/*
 * A list in the form of /proc/kallsyms, of those functions that the n addresses lie in:
 * its descriptor, which is the caller's, or a negative errno where this kernel tells
 * nothing (before 5.14), or not of all of them.
 */
int ksyms_list(struct ksyms *ksyms, const uint64_t *addrs, size_t n);

#endif
