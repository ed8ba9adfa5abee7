/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output that is there whole or not at all: written beside its place and
 * moved there at the end. "-" is stdout.
 */
#ifndef WEFT_BASE_OUTFILE_H
#define WEFT_BASE_OUTFILE_H

#include <stddef.h>

/* Replaces path by these bytes; what was there stays when anything fails. */
int outfile_write(const char *path, const void *bytes, size_t n);

#endif
