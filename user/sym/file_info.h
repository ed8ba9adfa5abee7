/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file's ELF info, which nobody need ask for while the file is what it was when an
 * earlier run scanned it (unwind/known_files.h). The caller frees what is returned; NULL:
 * it is not known, or there is no memory.
 */
#ifndef WEFT_SYM_FILE_INFO_H
#define WEFT_SYM_FILE_INFO_H

#include "unwind/cache.h"

/* *ret is for file_info_keep(). */
struct elf_info *file_info_recall(const struct cache *cache, int fd,
				  struct file_stamp *ret);

/* A copy of it, as it was scanned after the file had this stamp. */
struct elf_info *file_info_keep(struct cache *cache, int fd,
				const struct file_stamp *stamp,
				const struct elf_info *info);

#endif
