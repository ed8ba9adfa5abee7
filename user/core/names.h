/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each frame is called in an output: filled in once a distinct frame,
 * after counting, by the symbolizer or from a tape. A frame that got no name
 * keeps its module and offset.
 */
#ifndef WEFT_CORE_NAMES_H
#define WEFT_CORE_NAMES_H

#include "base/cleanup.h"
#include "core/aggregator.h"
#include "core/module.h"

#include <stdbool.h>

/* Where a name comes from. What a tape holds has been told apart once, and no more. */
#define NAME_ORIGINS(X)                                                                  \
	X(NONE, "have no name")                                                          \
	X(TAPE, "have the name that the tape tells")                                     \
	X(SYMBOL, "are named by a symbol")                                               \
	X(DEBUG_FILE, "are named by a symbol of a debug file")                           \
	X(GO, "are named by the table of functions that Go's runtime needs")             \
	X(JIT, "are named by the runtime that generated them")                           \
	X(START, "are called after where their function starts")

enum name_origin {
#define X(name, text) NAME_ORIGIN_##name,
	NAME_ORIGINS(X)
#undef X
		N_NAME_ORIGINS
};

struct names;

int names_new(struct names **ret);
void names_free(struct names *names);
DEFINE_FREEP(names)

/* What is set from now on is of another file. Beyond 16 MB of one file's long names
 * those that it brings are shortened (base/name.h), so that the others have room. */
void names_begin_file(struct names *names);

/* What is set from now on is from there; from a tape, unless somebody says. */
void names_set_origin(struct names *names, enum name_origin origin);

/* NAME_ORIGIN_NONE: it has no name. */
enum name_origin names_origin(const struct names *names, uint32_t frame);

/* Copies name. The first name that a frame is given stays. Beyond 256 MB of them a
 * frame goes without, which is counted. */
int names_set(struct names *names, uint32_t frame, const char *name);

uint64_t names_refused(const struct names *names);
uint64_t names_shortened(const struct names *names);

/* NULL: none was set. */
const char *names_get(const struct names *names, uint32_t frame);

/* Where a frame is in the source: a function that was inlined there, or the frame's
 * own, whose name is "". */
struct names_location {
	const char *name, *file; /* "": not known */
	uint32_t line;
};

/* Copies locations: n of them, the innermost first, the frame's own last. The first
 * that a frame is given stay. */
int names_set_locations(struct names *names, uint32_t frame,
			const struct names_location *locations, size_t n);
/* How many a frame has; 0: none were set. And one of them. */
size_t names_n_locations(const struct names *names, uint32_t frame);
struct names_location names_location(const struct names *names, uint32_t frame, size_t i);

/* Why a frame, or what lies behind it, is not what it seems: no call leads to a return
 * address, and what did was */
enum bad_return {
	BAD_RETURN_NONE, /* nothing of that kind, or it is not known */
	/* a frame pointer that nothing proves: the number is another's */
	BAD_RETURN_MISTAKEN,
	/* a true step: the program put it there when it made this stack */
	BAD_RETURN_BOTTOM,
	/* or: the program is interrupted while it changes stacks */
	BAD_RETURN_SWITCH,
	N_BAD_RETURNS
};

int names_set_bad_return(struct names *names, uint32_t frame, enum bad_return bad_return);
enum bad_return names_bad_return(const struct names *names, uint32_t frame);

/* A frame that can't be the caller of the one below it, to which true steps led: its call
 * leads to another function, which would be there. */
int names_set_misled(struct names *names, uint32_t caller, uint32_t below);
bool names_is_misled(const struct names *names, uint32_t caller, uint32_t below);
/* for (uint32_t i = 0; names_next_misled(names, &i, pair);): caller and below */
bool names_next_misled(const struct names *names, uint32_t *i, uint32_t ret[2]);

/*
 * Is this a function that nobody calls, at which a thread (or a goroutine)
 * starts? By name, so only once names are set.
 */
bool names_is_start(const struct names *names, uint32_t frame);

/* And at which a stack starts that its runtime made, by frame pointers alone? */
bool names_is_made_start(const struct names *names, uint32_t frame);

/* Does a signal handler let whom it interrupted call this function, wherever that was?
 * By name as well. */
bool names_is_injected(const struct names *names, uint32_t frame);

/*
 * Do this frame's callers lie elsewhere, to be copied back when it returns? (Java's
 * virtual threads do so, with a return barrier in their place.) By name as well.
 */
bool names_is_return_barrier(const struct names *names, uint32_t frame);

/*
 * Does a stack begin at this function that is copied away while others run in its
 * place? Then what called it is long gone, and no address says so. By name as well, or
 * by its code, as somebody has found.
 */
int names_set_copied_start(struct names *names, uint32_t frame);
bool names_is_copied_start(const struct names *names, uint32_t frame);

/* Does this function give memory back? What copies stacks does so behind a copy. */
bool names_is_freeing(const struct names *names, uint32_t frame);

/* And is this function copying it? Then what lies behind is half of each. callee: what
 * it has called; NULL: it is the leaf. */
bool names_is_copying(const struct names *names, uint32_t frame, const uint32_t *callee);

#endif
