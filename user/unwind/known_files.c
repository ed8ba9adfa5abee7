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
	uint32_t n;
	struct hash hash; /* of what follows */
};

_Static_assert(sizeof(struct file_stamp) == 56, "a stamp has no gaps");
_Static_assert(sizeof(struct known_file) == 120, "a record has no gaps");

static const uint8_t magic[8] = "weftkf1";

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
	hmap_free(&known->by_stamp);
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

static bool read_boot(char ret[BOOT_ID_BYTES])
{
	AUTO_CLOSE int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, ret, BOOT_ID_BYTES) == BOOT_ID_BYTES;
}

int known_files_write(const struct known_files *known, struct str *ret)
{
	const size_t bytes = known->all.n * sizeof(*known->all.items);
	struct list_head head = { .n = (uint32_t)known->all.n };

	memcpy(head.magic, magic, sizeof(magic));
	if (!read_boot(head.boot))
		return fail(-EBADMSG, "nobody says which boot this is");
	hash_of(known->all.items, bytes, &head.hash);
	str_add_bytes(ret, &head, sizeof(head));
	str_add_bytes(ret, known->all.items, bytes);
	return str_error(ret);
}

static bool is_head(const struct list_head *head, const void *files, size_t n)
{
	char boot[BOOT_ID_BYTES];
	struct hash hash;

	if (memcmp(head->magic, magic, sizeof(magic)) || head->n > KNOWN_FILES_MAX ||
	    n != head->n * sizeof(struct known_file) || !read_boot(boot) ||
	    memcmp(head->boot, boot, sizeof(boot)))
		return false;
	hash_of(files, n, &hash);
	return !memcmp(&head->hash, &hash, sizeof(hash));
}

int known_files_read(struct known_files *known, const void *bytes, size_t n)
{
	const char *files = (const char *)bytes + sizeof(struct list_head);
	struct known_file file;
	struct list_head head;
	int err = 0;

	if (n < sizeof(head))
		return fail(-EBADMSG, "no list of known files");
	memcpy(&head, bytes, sizeof(head));
	if (!is_head(&head, files, n - sizeof(head)))
		return fail(-EBADMSG, "no list of known files, or of another boot");
	for (uint32_t i = 0; !err && i < head.n; i++) {
		memcpy(&file, files + i * sizeof(file), sizeof(file));
		err = known_files_add(known, &file);
	}
	known->is_changed = false;
	return err;
}
