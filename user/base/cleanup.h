/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cleanup by attribute: a local that owns something gives it back when its
 * scope ends, on every way out. GIVE() hands it on instead.
 */
#ifndef WEFT_BASE_CLEANUP_H
#define WEFT_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AUTO(type) __attribute__((cleanup(type##_freep))) struct type *
#define GIVE(p)                                                                          \
	({                                                                               \
		__auto_type given_ = (p);                                                \
		(p) = NULL;                                                              \
		given_;                                                                  \
	})

/* After a type's _free(): what AUTO(type) calls. */
#define DEFINE_FREEP(type)                                                               \
	static inline void type##_freep(struct type **p)                                 \
	{                                                                                \
		type##_free(*p);                                                         \
	}

static inline void auto_free_(void *p)
{
	free(*(void **)p);
}
static inline void auto_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void auto_fclose_(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define AUTO_FREE   __attribute__((cleanup(auto_free_)))
#define AUTO_CLOSE  __attribute__((cleanup(auto_close_)))
#define AUTO_FCLOSE __attribute__((cleanup(auto_fclose_)))
#define GIVE_FD(fd)                                                                      \
	({                                                                               \
		int given_ = (fd);                                                       \
		(fd) = -1;                                                               \
		given_;                                                                  \
	})

#endif
