/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array of any type: VEC(struct mapping) maps = {0};
 * items is one allocation, owned by the vector; pointers into it live until
 * the next push.
 */
#ifndef WEFT_BASE_VEC_H
#define WEFT_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#include <errno.h>

#define VEC(type)                                                                        \
	struct {                                                                         \
		type *items;                                                             \
		size_t n, room;                                                          \
	}

/* Makes room for n more; 0 or -ENOMEM. */
#define vec_reserve(v, more)                                                             \
	vec_grow_((void **)&(v)->items, &(v)->room, (v)->n + (more), sizeof(*(v)->items))

/* 0 or -ENOMEM; the item is copied. */
#define vec_push(v, ...)                                                                 \
	({                                                                               \
		int err_ = (v)->n < (v)->room ? 0 : vec_reserve(v, 1);                   \
		if (!err_)                                                               \
			(v)->items[(v)->n++] = (__VA_ARGS__);                            \
		err_;                                                                    \
	})

/* By a comparison as qsort(3) takes it, which takes no NULL, not even of nothing. */
#define vec_sort(v, compare)                                                             \
	do {                                                                             \
		if ((v)->n)                                                              \
			qsort((v)->items, (v)->n, sizeof(*(v)->items), compare);         \
	} while (0)

#define vec_free(v)                                                                      \
	do {                                                                             \
		free((v)->items);                                                        \
		(v)->items = NULL;                                                       \
		(v)->n = (v)->room = 0;                                                  \
	} while (0)

static inline int vec_grow_(void **items, size_t *room, size_t need, size_t size)
{
	size_t want = *room ? *room * 2 : 8;
	void *bigger;

	if (need <= *room)
		return 0;
	if (want < need)
		want = need;
	bigger = reallocarray(*items, want, size);
	if (!bigger)
		return fail(-ENOMEM, "no memory for %zu items", want);
	*items = bigger;
	*room = want;
	return 0;
}

#endif
