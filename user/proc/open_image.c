// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_image.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "proc/maps_text.h"
#include "proc/open.h"
#include "proc/open_below.h"
#include "proc/open_copy.h"
#include "proc/open_moved.h"
#include "proc/open_words.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define IMAGE_PIECE_BYTES (256u << 10)
#define IMAGE_NS	  150000000ULL /* as copies of files have (opener_child.c) */

/* A mapping of the file, of whatever kind. */
struct piece {
	uint64_t start, end, pgoff;
	bool is_writable;
};

struct mapped_image {
	pid_t pid;
	VEC(struct piece) pieces; /* by address */
	int memfd;
	uint64_t until_ns;
};

static bool is_kept_from_us(pid_t pid, const struct mapping *map)
{
	AUTO_CLOSE int place = open_map_place(pid, map);
	AUTO_CLOSE int fd = place < 0 ? -ENOENT : open_place(place);
	struct statfs fs;

	return fd == -EACCES && !fstatfs(place, &fs) &&
	       (unsigned int)fs.f_type == FUSE_SUPER_MAGIC;
}

/* False: another file's. */
static bool read_line(const char *line, const struct module *module, struct piece *ret)
{
	struct maps_line map;

	if (!maps_text_parse(line, &map) || map.maj != module->maj ||
	    map.min != module->min || map.ino != module->ino)
		return false;
	*ret = (struct piece){ map.start, map.end, map.pgoff, map.rights[1] == 'w' };
	return true;
}

/*
 * A file may be mapped more than once, and each time its loader writes other addresses
 * into it: those from a beginning of the file up to the next that are around `map`.
 */
static int find_pieces(struct mapped_image *image, const struct mapping *map,
		       const struct module *module)
{
	AUTO_FCLOSE FILE *f = NULL;
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	struct piece piece;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", image->pid);
	f = fopen(path, "re");
	if (!f)
		return fail_errno(-errno, "cannot read %s", path);
	while (!err && getline(&line, &room, f) > 0) {
		if (!read_line(line, module, &piece))
			continue;
		if (!piece.pgoff && piece.start > map->start)
			break;
		if (!piece.pgoff)
			image->pieces.n = 0;
		err = vec_push(&image->pieces, piece);
	}
	if (!err && !image->pieces.n)
		err = fail(-ENOENT, "pid %d maps %s no more", image->pid, module->path);
	return err;
}

/* What lies behind the file's end can't be read: the piece ends before that. */
static int copy_piece(struct mapped_image *image, const struct piece *piece)
{
	static char bytes[IMAGE_PIECE_BYTES];
	const uint64_t most = OPEN_COPY_BYTES_MAX;
	uint64_t at = piece->start;

	if (piece->pgoff > most || piece->end - piece->start > most - piece->pgoff)
		return fail(-EFBIG, "more than %u MB can't be copied",
			    OPEN_COPY_BYTES_MAX >> 20);
	while (at < piece->end) {
		uint64_t left = piece->end - at;
		struct iovec into = { bytes,
				      left < sizeof(bytes) ? left : sizeof(bytes) };
		ssize_t n = open_memory_part(image->pid, at, into);

		if (n <= 0)
			return (int)n;
		if (clock_now_ns() > image->until_ns)
			return fail(-ETIMEDOUT, "its bytes come too slowly");
		if (pwrite(image->memfd, bytes, (size_t)n,
			   (off_t)(piece->pgoff + at - piece->start)) != n)
			return fail(-ENOMEM, "no memory for a copy");
		at += (uint64_t)n;
	}
	return 0;
}

/* Where pages are mapped twice, those that were not written to have the last word. */
static int copy_pieces(struct mapped_image *image)
{
	int err = 0;

	for (int is_writable = 1; is_writable >= 0; is_writable--)
		for (size_t i = 0; !err && i < image->pieces.n; i++)
			if (image->pieces.items[i].is_writable == is_writable)
				err = copy_piece(image, &image->pieces.items[i]);
	return err;
}

static int make(struct mapped_image *image, const struct mapping *map,
		const struct module *module)
{
	int err = find_pieces(image, map, module);

	if (!err)
		err = copy_pieces(image);
	if (!err && !image->pieces.items[0].pgoff)
		err = open_move_back(image->memfd, image->pieces.items[0].start);
	return err ? err : open_copy_seal(image->memfd);
}

static int open_image(pid_t pid, const struct mapping *map, const struct module *module,
		      int *ret_fd)
{
	AUTO_CLOSE int memfd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct mapped_image image = {
		.pid = pid,
		.memfd = memfd,
		.until_ns = clock_now_ns() + IMAGE_NS,
	};
	int err = memfd < 0 ? fail_errno(-errno, "no memory for a copy")
			    : make(&image, map, module);

	vec_free(&image.pieces);
	if (!err)
		*ret_fd = GIVE_FD(memfd);
	return err;
}

int open_mapped_or_image(pid_t pid, const struct mapping *map,
			 const struct module *module, int *ret_fd)
{
	int err = open_mapped(pid, map, module, ret_fd);

	if (!err || !is_kept_from_us(pid, map))
		return err;
	error_clear();
	return open_image(pid, map, module, ret_fd);
}
