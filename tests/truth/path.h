/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allowed stacks, as a case's table spells them: a path of functions from the
 * root to the deepest leaf. Every beginning of a path is allowed as well, since
 * a sample can fall in any function on the way, but none that ends at or before
 * the path's last "--": where async callers are shown, so is what runs.
 *
 *	main;a;b             a function after the other
 *	main;a|b;c           either of them
 *	main;deep*600        so many times; as the last one also fewer
 *	main;x*0-1;c         so many to so many times
 *	hop_{000..399};--;c  400 functions
 *	(a;b)*2;c            a;b;a;b;c; not one in the other
 *	(a;b)*0-9;c          so many to so many times
 *	^a;--;b              nothing before a: no start of the thread
 *
 * In a stack, ANY_FRAME stands for any one function and GAP_FRAME for one or
 * more that were lost.
 */
#ifndef TRUTH_PATH_H
#define TRUTH_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define ANY_FRAME "?"
#define GAP_FRAME "[missing frames]"
#define CUT_FRAME "[cut]"
#define SEAM	  "--"

struct path_item {
	char *names; /* "a|b" */
	unsigned int min, max;
	size_t skip_to; /* index of the item that may come in its place; 0: none */
};

struct path {
	struct path_item *items;
	size_t n, room;
	size_t after_seam; /* index of the first item that a stack may end with */
	bool rooted;	   /* ^ */
};

/* 0, -ENOMEM, or -EINVAL for what is no path. */
int path_parse(struct path *ret, const char *text);
void path_free(struct path *path); /* what it holds, not path itself */

/* Is the stack a beginning of the path? */
bool path_fits(const struct path *path, const char *const *frames, size_t n);

/* Is it a piece of the path that reaches an allowed end? */
bool path_fits_cut(const struct path *path, const char *const *frames, size_t n);

/* Does the path name this function? */
bool path_names(const struct path *path, const char *frame);

/* Is name one of "a|b|c"? */
bool path_is_one_of(const char *names, const char *name);

#endif
