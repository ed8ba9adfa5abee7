// SPDX-License-Identifier: BSD-2-Clause
#include "sym/debug_cache.h"

#include "base/error.h"
#include "base/log.h"
#include "base/outfile.h"
#include "unwind/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER_BELOW "debuginfod"
#define STEP_BYTES   (4u << 20)
#define PART_BYTES   16384

struct debug_cache {
	struct cache_dir dir;
	struct outfile *out; /* NULL: nothing is being kept */
	int fd;		     /* what it is copied from, borrowed */
	uint64_t at, bytes;
};

static int open_folder(struct debug_cache *cache, const char *where)
{
	struct cache_dir parent = { .fd = -1 };
	char path[PATH_MAX];
	int err = cache_dir_open(&parent, where, true);

	if (!err && snprintf(path, sizeof(path), "%s/" FOLDER_BELOW, parent.path) >=
			    (int)sizeof(path))
		err = fail(-ENAMETOOLONG, "%s: the path is too long", parent.path);
	if (!err)
		err = cache_dir_open(&cache->dir, path, true);
	cache_dir_close(&parent);
	return err;
}

static int trim(const struct debug_cache *cache, uint64_t most)
{
	struct cache_dir_sum sum;
	unsigned long removed;
	int err = cache_dir_expire(&cache->dir, DEBUG_CACHE_AGE_S);

	return err ? err : cache_dir_trim(&cache->dir, most, &sum, &removed);
}

int debug_cache_new(struct debug_cache **ret, const char *where)
{
	AUTO(debug_cache) cache = NULL;

	*ret = NULL;
	if (where && !strcmp(where, CACHE_NONE))
		return 0;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return fail(-ENOMEM, "no memory for the cache of debug files");
	cache->dir.fd = -1;
	if (open_folder(cache, where) || trim(cache, DEBUG_CACHE_BYTES_MAX)) {
		log_verbose("no debug files are kept: %s", error_sentence());
		error_clear();
		return 0;
	}
	*ret = GIVE(cache);
	return 0;
}

void debug_cache_free(struct debug_cache *cache)
{
	if (!cache)
		return;
	outfile_free(cache->out);
	cache_dir_close(&cache->dir);
	free(cache);
}

/* An entry is called as one of any hash: the build id, and zeros. */
static void name_of(const struct build_id *id, char ret[CACHE_DIR_NAME_BYTES])
{
	struct hash hash = { 0 };

	_Static_assert(BUILD_ID_MAX <= sizeof(hash.bytes), "a build id is an entry");
	memcpy(hash.bytes, id->id, id->bytes);
	cache_dir_name(&hash, ret);
}

/* Ours, and for nobody else to write to. */
static int open_own(int folder, const char *name, int flags)
{
	AUTO_CLOSE int fd = openat(
		folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022)
		return -1;
	return GIVE_FD(fd);
}

/* Where elfutils' client keeps its files; an empty path: nobody can tell. */
static void clients_path(char path[PATH_MAX])
{
	const char *chosen = getenv("DEBUGINFOD_CACHE_PATH");
	const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = 0;

	*path = '\0';
	if (getuid() != geteuid()) /* and its environment is another's */
		return;
	if (chosen && *chosen == '/')
		n = snprintf(path, PATH_MAX, "%s", chosen);
	else if (caches && *caches == '/')
		n = snprintf(path, PATH_MAX, "%s/debuginfod_client", caches);
	else if (home && *home == '/')
		n = snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client", home);
	if (n >= PATH_MAX)
		*path = '\0';
}

/* FOLDER_BELOW/BUILDID/debuginfo; an empty one says that no server had it. */
static int open_clients(const struct build_id *id)
{
	char path[PATH_MAX], text[BUILD_ID_HEX];
	AUTO_CLOSE int top = -1, folder = -1, fd = -1;
	struct stat st;

	clients_path(path);
	if (*path)
		top = open_own(AT_FDCWD, path, O_DIRECTORY);
	if (top >= 0)
		folder = open_own(top, build_id_hex(id, text), O_DIRECTORY);
	if (folder >= 0)
		fd = open_own(folder, "debuginfo", 0);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return -1;
	return GIVE_FD(fd);
}

int debug_cache_open(struct debug_cache *cache, const struct build_id *id)
{
	char name[CACHE_DIR_NAME_BYTES];
	uint64_t bytes;
	int fd = -ENOENT;

	if (!build_id_is_there(id))
		return -1;
	name_of(id, name);
	if (cache)
		fd = cache_dir_read(&cache->dir, name, DEBUG_CACHE_BYTES_MAX, &bytes);
	if (fd < 0 && fd != -ENOENT)
		log_verbose("%s/%s: %s", cache->dir.path, name, error_sentence());
	error_clear();
	return fd >= 0 ? fd : open_clients(id);
}

void debug_cache_drop(struct debug_cache *cache, const struct build_id *id)
{
	char name[CACHE_DIR_NAME_BYTES];

	if (!cache || !build_id_is_there(id))
		return;
	name_of(id, name);
	unlinkat(cache->dir.fd, name, 0);
}

int debug_cache_begin(struct debug_cache *cache, const struct build_id *id, int fd)
{
	char name[CACHE_DIR_NAME_BYTES];
	struct stat st;
	int err;

	outfile_free(cache->out);
	cache->out = NULL;
	if (!build_id_is_there(id) || fstat(fd, &st) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > DEBUG_CACHE_BYTES_MAX / 2)
		return fail(-EINVAL, "nothing that could be kept");
	name_of(id, name);
	cache->fd = fd;
	cache->at = 0;
	cache->bytes = (uint64_t)st.st_size;
	err = trim(cache, DEBUG_CACHE_BYTES_MAX - cache->bytes);
	return err ? err : outfile_new_in(&cache->out, cache->dir.fd, name);
}

static int copy_part(struct debug_cache *cache)
{
	char bytes[PART_BYTES];
	ssize_t n = pread(cache->fd, bytes, sizeof(bytes), (off_t)cache->at);

	if (n <= 0)
		return fail(-EIO, "cannot read a debug file that came");
	cache->at += (uint64_t)n;
	return outfile_add(cache->out, bytes, (size_t)n);
}

int debug_cache_step(struct debug_cache *cache)
{
	uint64_t until = cache->at + STEP_BYTES;
	int err = 0;

	if (!cache->out)
		return 0;
	while (!err && cache->at < cache->bytes && cache->at < until)
		err = copy_part(cache);
	if (!err && cache->at < cache->bytes)
		return DEBUG_CACHE_MORE;
	if (!err)
		err = outfile_finish(cache->out);
	outfile_free(cache->out);
	cache->out = NULL;
	return err;
}

void debug_cache_keep(struct debug_cache *cache, const struct build_id *id, int fd)
{
	int err;

	if (!cache)
		return;
	err = debug_cache_begin(cache, id, fd);
	if (!err)
		do
			err = debug_cache_step(cache);
		while (err == DEBUG_CACHE_MORE);
	if (err)
		log_verbose("%s: a debug file is not kept: %s", cache->dir.path,
			    error_sentence());
	error_clear();
}
