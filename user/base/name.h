/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that came from outside, of any length: clean, whole up to a bound, and
 * beyond it shortened so that no two become one. What is shortened says so: its
 * beginning, "…", and a hash of all of it, the same in every run.
 *
 *	folly::coro::detail::collectAllTask<folly::coro::…#1f0c3b5a99e4d272
 *
 * Names of C++ templates have 1 to 30 KB; those of whoever wants to fill our memory
 * have more.
 */
#ifndef WEFT_BASE_NAME_H
#define WEFT_BASE_NAME_H

#include "base/hash.h"
#include "base/str.h"

#define NAME_BYTES_MAX	(64u << 10) /* of a whole one, its NUL included */
#define NAME_HEAD_BYTES 2000	    /* that are kept of a longer one */
#define NAME_MARK_BYTES 20	    /* of the "…#" and the hash */

/* Adds the clean (str_clean) name of n bytes, whole or shortened. It ends at a NUL,
 * as do those of the functions below. */
void name_add(struct str *out, const char *name, size_t n);

/* Adds the beginning of a text and the mark: it stands for all of `whole`. */
void name_add_head(struct str *out, const char *text, size_t n, const char *whole,
		   size_t n_whole);

/* Adds "…#" and the beginning of a hash, which stand for what is left out. */
void name_add_mark(struct str *out, const struct hash *hash);

/* Shortens what was put together at out->s + from if it has become too long. */
void name_bound(struct str *out, size_t from);

#endif
