/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of which files it was proven, since this machine booted, which entry of the cache is
 * theirs; and what a scan of their headers and symbols found. While such a file is what
 * it was, nobody reads it again for that.
 *
 * A stamp says that: the mount, whose number no other gets until the next boot, the
 * inode, and when that changed last. Only file systems count whose inodes say so of every
 * write, those through a mapping, too, and only files that have not changed for so long
 * that what a program wrote through a mapping before was noticed.
 */
#ifndef WEFT_UNWIND_KNOWN_FILES_H
#define WEFT_UNWIND_KNOWN_FILES_H

#include "base/hash.h"
#include "base/hmap.h"
#include "base/str.h"
#include "base/vec.h"
#include "obj/elf_scan.h"

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_FILES_MAX 4096 /* then it begins anew */

/* Plain data, without gaps; all zeroes: none. */
struct file_stamp {
	uint64_t mount, inode, bytes;
	int64_t changed_s, written_s;
	uint32_t changed_ns, written_ns;
	uint32_t major, minor;
};

/* Pages that were written through a mapping go to the disk after half a minute
 * (vm.dirty_expire_centisecs), and the next write is then noticed. */
#define FILE_SETTLED_S 120

/* False: it has changed within the last settled_s, or what will become of it its inode
 * need not tell. */
bool file_stamp_take(int fd, int64_t settled_s, struct file_stamp *ret);

/* By what the cache finds an entry, and knows it to be right (unwind/cache.h). */
struct known_file {
	struct file_stamp stamp;
	struct hash ends, hash;
};

struct known_info {
	struct file_stamp stamp;
	struct elf_info info;
};

/* What the cache's folder held when it was counted last, and what came since. */
struct folder_sum { /* {0}: it was not counted */
	uint64_t counted_bytes, added_bytes;
};

struct known_files { /* {0}: none is known */
	struct folder_sum folder;
	VEC(struct known_file) all;
	VEC(struct known_info) infos;
	struct hmap by_stamp, infos_by_stamp;
	bool is_changed; /* since it was read */
};

void known_files_free(struct known_files *known);

/* NULL: it is not among them. Theirs until the next one is added. */
const struct known_file *known_files_get(const struct known_files *known,
					 const struct file_stamp *stamp);

/* 0 or -ENOMEM. */
int known_files_add(struct known_files *known, const struct known_file *file);

/* The same of a file's info. */
const struct elf_info *known_files_get_info(const struct known_files *known,
					    const struct file_stamp *stamp);
int known_files_add_info(struct known_files *known, const struct file_stamp *stamp,
			 const struct elf_info *info);

/* As bytes of a file, and back. What is no such file, or of an earlier boot, is none:
 * -EBADMSG, or -ENOMEM. */
int known_files_write(const struct known_files *known, struct str *ret);
int known_files_read(struct known_files *known, const void *bytes, size_t n);

#endif
