/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of one module that want names, and what the parse worker is asked for them:
 * once for each distinct address, however many frames have it.
 */
#ifndef WEFT_SYM_SYMBOL_BATCH_H
#define WEFT_SYM_SYMBOL_BATCH_H

#include "core/names.h"
#include "worker/worker.h"

/* A frame that wants a name: where to look, and for whom. */
struct symbol_want {
	uint32_t module;
	uint32_t frame;
	uint64_t at; /* in the module; of a return address, the byte before */
};

struct symbol_batch {
	struct worker *worker;
	struct names *names;
	const struct aggregator *aggregator;
	const struct symbol_want *wants; /* of one module, by address */
	size_t n;
	uint64_t *addrs; /* the distinct ones */
	size_t *first;	 /* of each: its first want; one more at the end */
	size_t n_addrs;
	int deadline_ms;   /* for all requests, of the parser's time */
	uint64_t begun_ns; /* by worker_names_ns() */
	bool inlines_sought, inlines_found, inlines_failed, dump_failed;
	int64_t inlines_left_ns; /* for this and all further ones */
};

/* The caller has set worker, names, aggregator, wants, n, deadline_ms, begun_ns and
 * inlines_left_ns. 0 or -ENOMEM; ends with _end() in either case. */
int symbol_batch_begin(struct symbol_batch *batch);
void symbol_batch_end(struct symbol_batch *batch);

/* All of these: 0, or the worker's negative errno; fd is borrowed. A frame keeps the
 * first name that it is given. */
int symbol_batch_read(struct symbol_batch *batch, enum name_source source, int fd);

/* fd: the debug file of what info is of. */
int symbol_batch_read_debug(struct symbol_batch *batch, int fd,
			    const struct elf_info *info);

/* How much of its time is left. */
int symbol_batch_left_ms(const struct symbol_batch *batch);

/* The batch's addresses as linked, or NULL: no memory. The caller frees them. */
uint64_t *symbol_batch_linked(const struct symbol_batch *batch,
			      const struct elf_info *info);

/* Is there any without a name so far? */
bool symbol_batch_lacks_names(const struct symbol_batch *batch);

/* Names for frames that have none yet, of GO or FUNCTION_STARTS: the latter get their
 * module's name and where their function starts,
 * "libz.so.1!0x5a20". path: the module's. */
int symbol_batch_read_unnamed(struct symbol_batch *batch, enum name_source source, int fd,
			      const char *path);

/* A file with debug information. */
struct location_source {
	int fd;
	const struct inline_files *files; /* that it names */
	const uint64_t *linked;		  /* symbol_batch_linked() */
	const char *path;		  /* the module's */
};

/* Inlined functions and lines; what fails here costs nobody a name. */
void symbol_batch_read_locations(struct symbol_batch *batch,
				 const struct location_source *source);

#endif
