/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions were inlined at an address, and which lines of source they and
 * their calls are of, by Go's own table or a file's debug information. Foreign bytes:
 * run in the parse worker.
 */
#ifndef WEFT_OBJ_INLINES_H
#define WEFT_OBJ_INLINES_H

#include "obj/split_unit.h"

#include <stddef.h>
#include <stdint.h>

#define INLINES_MAX	64  /* within each other; what is deeper is left out */
#define SPLIT_FILES_MAX 256 /* of a request */

/* A function at an address, and the line that it is at there. */
struct source_location {
	const char *name; /* demangled and clean; "": whatever the symbol names */
	const char *file; /* as the file says; "": not known */
	uint32_t line;
};

/*
 * locations: n of them, the innermost first, borrowed for the call. The last is the
 * function that is no inlined one. n is 0 now and then, when something came that
 * is better passed on than held back. A negative return ends the pass.
 */
typedef int (*inline_sink)(void *arg, size_t index,
			   const struct source_location *locations, size_t n);

/* Where there is more of a file's debug information, all borrowed. */
struct inline_files {
	int alternate; /* the file of dwz that it names (obj/elf_links.h); -1: none */
	const struct split_file *splits; /* of its units, SPLIT_FILES_MAX at most */
	size_t n_splits;
};

struct inline_request {
	int fd;
	struct inline_files files;
	const uint64_t *addrs; /* as linked, in any order, distinct */
	size_t n;
};

/* 0 or a negative errno: -EBADMSG of what can't be read, -EFBIG of what is too much.
 * What neither covers is not called back. Without its alternate file,
 * a file's inlined functions may lack their names, and then count for their callers; a
 * unit without its split file has lines alone. */
int elf_inlines(const struct inline_request *request, inline_sink sink, void *arg);

#endif
