/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that its file system keeps even from root, as it lies in the memory of who
 * maps it. What a user mounts (FUSE) lets in that user alone, or that user's namespace:
 * programs that bring their own file system, images of unprivileged containers, files of
 * another machine.
 *
 * What is mapped is there, each byte where the file has it: code, call frame information
 * and the names that the loader needs. What is not (debug information, most names of
 * functions) reads as zeros or lies behind the end. To read memory may wait: see
 * proc/opener.h.
 */
#ifndef WEFT_PROC_OPEN_IMAGE_H
#define WEFT_PROC_OPEN_IMAGE_H

#include "core/module.h"
#include "proc/map_list.h"

#include <sys/types.h>

/*
 * As open_mapped(); if that may not read the file, the copy of it that lies in memory, as
 * a memfd that can't be changed. Also -EFBIG: it is more than OPEN_COPY_BYTES_MAX;
 * -ETIMEDOUT; -EPERM: the memory can't be read either; -ENOMEM.
 *
 * Who maps a file can change what lies in its own memory, and others' samples are
 * walked by that. So this is for FUSE alone: whom that lets in is who made it, who can
 * change the file as well.
 */
int open_mapped_or_image(pid_t pid, const struct mapping *map,
			 const struct module *module, int *ret_fd);

#endif
