// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/known_files.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* linux/stat.h, Linux 6.8: a mount's number that is never used again */
#define MOUNT_ID_UNIQUE 0x4000

#define BOOT_ID_BYTES 36

struct list_head {
	uint8_t magic[8];
	char boot[BOOT_ID_BYTES];
	uint32_t n, n_infos;
	struct hash hash; /* of what follows: a folder_sum, then those, then
			     these without segments unused */
};

_Static_assert(sizeof(struct file_stamp) == 56, "a stamp has no gaps");
_Static_assert(sizeof(struct known_file) == 120, "a record has no gaps");

static const uint8_t magic[8] = "weftkf4";

/* linux/magic.h and the file systems' own sources. Of tmpfs and its like no inode tells
 * of what is written through a mapping, of others the inode is another's. */
static bool tells_of_writes(int fd)
{
	static const unsigned int magics[] = {
		0xef53,	    /* ext2, ext3, ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0xf2f52010, /* f2fs */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if ((unsigned int)fs.f_type == magics[i])
			return true;
	return false;
}

bool file_stamp_take(int fd, int64_t settled_s, struct file_stamp *ret)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | MOUNT_ID_UNIQUE, &st) ||
	    !(st.stx_mask & MOUNT_ID_UNIQUE) ||
	    st.stx_ctime.tv_sec > time(NULL) - settled_s || !tells_of_writes(fd))
		return false;
	*ret = (struct file_stamp){
		.mount = st.stx_mnt_id,
		.inode = st.stx_ino,
		.bytes = st.stx_size,
		.changed_s = st.stx_ctime.tv_sec,
		.written_s = st.stx_mtime.tv_sec,
		.changed_ns = st.stx_ctime.tv_nsec,
		.written_ns = st.stx_mtime.tv_nsec,
		.major = st.stx_dev_major,
		.minor = st.stx_dev_minor,
	};
	return true;
}

void known_files_free(struct known_files *known)
{
	vec_free(&known->all);
	vec_free(&known->infos);
	hmap_free(&known->by_stamp);
	hmap_free(&known->infos_by_stamp);
	*known = (struct known_files){ 0 };
}

/* Two files with one key: the later one is known. */
static uint64_t key_of(const struct file_stamp *stamp)
{
	return stamp->inode ^ stamp->mount << 40 ^ (uint64_t)stamp->changed_ns << 20;
}

const struct known_file *known_files_get(const struct known_files *known,
					 const struct file_stamp *stamp)
{
	uintptr_t at = (uintptr_t)hmap_get(&known->by_stamp, key_of(stamp));
	const struct known_file *file = at ? &known->all.items[at - 1] : NULL;

	return file && !memcmp(&file->stamp, stamp, sizeof(*stamp)) ? file : NULL;
}

int known_files_add(struct known_files *known, const struct known_file *file)
{
	if (known->all.n >= KNOWN_FILES_MAX)
		known_files_free(known);
	if (vec_push(&known->all, *file))
		return -ENOMEM;
	known->is_changed = true;
	return hmap_put(&known->by_stamp, key_of(&file->stamp),
			(void *)(uintptr_t)known->all.n);
}

const struct elf_info *known_files_get_info(const struct known_files *known,
					    const struct file_stamp *stamp)
{
	uintptr_t at = (uintptr_t)hmap_get(&known->infos_by_stamp, key_of(stamp));
	const struct known_info *file = at ? &known->infos.items[at - 1] : NULL;

	return file && !memcmp(&file->stamp, stamp, sizeof(*stamp)) ? &file->info : NULL;
}

int known_files_add_info(struct known_files *known, const struct file_stamp *stamp,
			 const struct elf_info *info)
{
	const struct known_info file = { *stamp, *info };

	if (known->infos.n >= KNOWN_FILES_MAX)
		known_files_free(known);
	if (vec_push(&known->infos, file))
		return -ENOMEM;
	known->is_changed = true;
	return hmap_put(&known->infos_by_stamp, key_of(stamp),
			(void *)(uintptr_t)known->infos.n);
}

static bool read_boot(char ret[BOOT_ID_BYTES])
{
	AUTO_CLOSE int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, ret, BOOT_ID_BYTES) == BOOT_ID_BYTES;
}

static size_t info_bytes(uint32_t n_segments)
{
	return offsetof(struct known_info, info.segments) +
	       n_segments * sizeof(struct elf_segment);
}

int known_files_write(const struct known_files *known, struct str *ret)
{
	struct list_head head = { .n = (uint32_t)known->all.n,
				  .n_infos = (uint32_t)known->infos.n };
	size_t begin = ret->n;
	int err;

	memcpy(head.magic, magic, sizeof(magic));
	if (!read_boot(head.boot))
		return fail(-EBADMSG, "nobody says which boot this is");
	str_add_bytes(ret, &head, sizeof(head));
	str_add_bytes(ret, &known->folder, sizeof(known->folder));
	str_add_bytes(ret, known->all.items, known->all.n * sizeof(*known->all.items));
	for (size_t i = 0; i < known->infos.n; i++)
		str_add_bytes(ret, &known->infos.items[i],
			      info_bytes(known->infos.items[i].info.n_segments));
	err = str_error(ret);
	if (err)
		return err;
	hash_of(ret->s + begin + sizeof(head), ret->n - begin - sizeof(head), &head.hash);
	memcpy(ret->s + begin, &head, sizeof(head));
	return 0;
}

static bool is_head(const struct list_head *head, const void *files, size_t n)
{
	char boot[BOOT_ID_BYTES];
	struct hash hash;

	if (memcmp(head->magic, magic, sizeof(magic)) || head->n > KNOWN_FILES_MAX ||
	    head->n_infos > KNOWN_FILES_MAX ||
	    n < sizeof(struct folder_sum) + head->n * sizeof(struct known_file) ||
	    !read_boot(boot) || memcmp(head->boot, boot, sizeof(boot)))
		return false;
	hash_of(files, n, &hash);
	return !memcmp(&head->hash, &hash, sizeof(hash));
}

/* One at *at, which it steps over; -EBADMSG: there is none. */
static int read_info(struct known_files *known, const char **at, const char *end)
{
	struct known_info file = { 0 };
	size_t left = (size_t)(end - *at);

	if (left < info_bytes(0))
		return -EBADMSG;
	memcpy(&file, *at, info_bytes(0));
	if (!elf_info_holds(&file.info) || left < info_bytes(file.info.n_segments))
		return -EBADMSG;
	memcpy(&file, *at, info_bytes(file.info.n_segments));
	*at += info_bytes(file.info.n_segments);
	return known_files_add_info(known, &file.stamp, &file.info);
}

static int read_all(struct known_files *known, const struct list_head *head,
		    const char *at, const char *end)
{
	struct known_file file;
	int err = 0;

	memcpy(&known->folder, at, sizeof(known->folder));
	at += sizeof(known->folder);
	for (uint32_t i = 0; !err && i < head->n; i++, at += sizeof(file)) {
		memcpy(&file, at, sizeof(file));
		err = known_files_add(known, &file);
	}
	for (uint32_t i = 0; !err && i < head->n_infos; i++)
		err = read_info(known, &at, end);
	known->is_changed = false;
	return !err && at != end ? -EBADMSG : err;
}

int known_files_read(struct known_files *known, const void *bytes, size_t n)
{
	const char *files = (const char *)bytes + sizeof(struct list_head);
	struct list_head head;
	int err;

	if (n < sizeof(head))
		return fail(-EBADMSG, "no list of known files");
	memcpy(&head, bytes, sizeof(head));
	if (!is_head(&head, files, n - sizeof(head)))
		return fail(-EBADMSG, "no list of known files, or of another boot");
	err = read_all(known, &head, files, (const char *)bytes + n);
	if (err)
		known_files_free(known);
	return err == -EBADMSG ? fail(err, "a list of known files is corrupt") : err;
}
