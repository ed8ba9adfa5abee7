// SPDX-License-Identifier: BSD-2-Clause
#include "sym/file_info.h"

#include <stdlib.h>

static struct elf_info *copy_of(const struct elf_info *info)
{
	struct elf_info *copy = malloc(sizeof(*copy));

	if (copy)
		*copy = *info;
	return copy;
}

struct elf_info *file_info_recall(const struct cache *cache, int fd,
				  struct file_stamp *ret)
{
	const struct elf_info *info = cache_recall_info(cache, fd, ret);

	return info ? copy_of(info) : NULL;
}

struct elf_info *file_info_keep(struct cache *cache, int fd,
				const struct file_stamp *stamp,
				const struct elf_info *info)
{
	cache_remember_info(cache, fd, stamp, info);
	return copy_of(info);
}
