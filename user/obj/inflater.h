/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a packed section (zlib), a piece at a time and from any place, without all
 * of them in memory: while it unpacks for the first time, it notes from where it could
 * begin again, with the 32 KB that what follows may repeat. To read on from where it is
 * costs nothing more; to go back costs about what lies between two such places, a
 * 128th of the section or a megabyte. Foreign bytes: run in the parse worker.
 */
#ifndef WEFT_OBJ_INFLATER_H
#define WEFT_OBJ_INFLATER_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflater;

/* Of n bytes of fd, which is borrowed, from an offset on, that unpack to size. Reads
 * nothing yet. 0, -ENOMEM, or -EBADMSG: they never do. */
int inflater_new(struct inflater **ret, int fd, uint64_t offset, uint64_t n,
		 uint64_t size);
void inflater_free(struct inflater *inflater);
DEFINE_FREEP(inflater)

/* Must it go back for the byte there? */
bool inflater_is_behind(const struct inflater *inflater, uint64_t at);

/* All n bytes of the unpacked ones; or -EBADMSG: damaged, or the file changed, or -EFBIG:
 * it was gone back too often. */
int inflater_read(struct inflater *inflater, uint64_t at, void *buf, size_t n);

#endif
