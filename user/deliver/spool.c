// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/spool.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define YEAR_2020_NS (1577836800 * SECOND_NS)

struct spool {
	struct spool_config config;
	int folder;		      /* locked */
	VEC(struct spool_item) items; /* in turn; from first on */
	size_t first;
	bool is_held; /* the first */
	uint64_t next_sequence;
	struct spool_counts counts;
};

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);

	return n > e && !strcmp(name + n - e, ending);
}

/* Is this one of ours, and which? */
static bool read_name(const struct spool *spool, const char *name, uint64_t *sequence)
{
	size_t digits = strspn(name, "0123456789");

	if (digits != 12 || name[digits] != '-' || strlen(name) >= SPOOL_NAME_BYTES)
		return false;
	*sequence = strtoull(name, NULL, 10);
	return has_ending(name, spool->config.ending);
}

/* What a crash left of an item that was being written. */
static bool is_remnant(const char *name)
{
	return strspn(name, "0123456789") == 12 && has_ending(name, ".part");
}

static int find_item(struct spool *spool, const char *name)
{
	struct spool_item item = { 0 };
	struct stat st;

	if (is_remnant(name)) {
		unlinkat(spool->folder, name, 0);
		return 0;
	}
	if (!read_name(spool, name, &item.sequence) ||
	    fstatat(spool->folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0;
	item.bytes = (uint64_t)st.st_size;
	item.unix_ns =
		(uint64_t)st.st_mtim.tv_sec * SECOND_NS + (uint64_t)st.st_mtim.tv_nsec;
	strcpy(item.name, name);
	spool->counts.found++;
	spool->counts.items++;
	spool->counts.bytes += item.bytes;
	return vec_push(&spool->items, item);
}

static int by_sequence(const void *a, const void *b)
{
	const struct spool_item *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return strcmp(x->name, y->name);
}

static uint64_t last_sequence(const struct spool *spool)
{
	return spool->items.items[spool->items.n - 1].sequence;
}

/* Behind all that an earlier life numbered, also if none of it waits any more: in ms, and
 * nobody makes as many profiles as that. 12 digits are enough until 2051. */
static uint64_t first_sequence(void)
{
	uint64_t now = clock_unix_ns();

	return now > YEAR_2020_NS ? (now - YEAR_2020_NS) / 1000000 : 0;
}

static int find_items(struct spool *spool)
{
	int fd = dup(spool->folder), err = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!folder) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return fail_errno(err, "cannot read %s", spool->config.path);
	}
	while (!err && (entry = readdir(folder)))
		err = find_item(spool, entry->d_name);
	closedir(folder);
	vec_sort(&spool->items, by_sequence);
	spool->next_sequence = first_sequence();
	if (spool->items.n && last_sequence(spool) >= spool->next_sequence)
		spool->next_sequence = last_sequence(spool) + 1;
	return err;
}

/* With those above it, which everybody may enter. */
static int make_folders(const char *path)
{
	AUTO_FREE char *above = strdup(path);

	if (!above)
		return fail(-ENOMEM, "no memory for a path");
	for (char *s = strchr(above + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		if (mkdir(above, 0755) && errno != EEXIST)
			return fail_errno(-errno, "cannot make the folder %s", above);
		*s = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return fail_errno(-errno, "cannot make the folder %s", path);
	return 0;
}

static int open_folder(struct spool *spool)
{
	const char *path = spool->config.path;
	int err = make_folders(path);

	if (err)
		return err;
	spool->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->folder < 0)
		return fail_errno(-errno, "cannot open the folder %s", path);
	if (!flock(spool->folder, LOCK_EX | LOCK_NB))
		return 0;
	fail(-EBUSY, "%s is used by another process", path);
	return fail_hint(-EBUSY, "give each agent a spool of its own");
}

int spool_new(struct spool **ret, const struct spool_config *config)
{
	AUTO(spool) spool = calloc(1, sizeof(*spool));
	int err;

	if (!spool)
		return fail(-ENOMEM, "no memory for a spool");
	spool->config = *config;
	spool->folder = -1;
	err = open_folder(spool);
	if (!err)
		err = find_items(spool);
	if (err)
		return err;
	spool_trim(spool);
	*ret = GIVE(spool);
	return 0;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->folder >= 0)
		close(spool->folder);
	vec_free(&spool->items);
	free(spool);
}

const struct spool_item *spool_oldest(struct spool *spool)
{
	return spool->first < spool->items.n ? &spool->items.items[spool->first] : NULL;
}

/* The place of one that has gone, so that the rest need not move each time. */
static void forget_at(struct spool *spool, size_t i)
{
	struct spool_item *items = spool->items.items;

	spool->counts.items--;
	spool->counts.bytes -= items[i].bytes;
	memmove(items + spool->first + 1, items + spool->first,
		(i - spool->first) * sizeof(*items));
	if (++spool->first < 1024 && spool->first < spool->items.n)
		return;
	memmove(items, items + spool->first,
		(spool->items.n - spool->first) * sizeof(*items));
	spool->items.n -= spool->first;
	spool->first = 0;
}

static void unlink_at(struct spool *spool, size_t i)
{
	const char *name = spool->items.items[i].name;

	if (unlinkat(spool->folder, name, 0) && errno != ENOENT)
		log_warn("cannot remove %s/%s: %s", spool->config.path, name,
			 strerror(errno));
	forget_at(spool, i);
}

/* The oldest that nobody holds. */
static bool drop_oldest(struct spool *spool)
{
	size_t i = spool->first + spool->is_held;

	if (i >= spool->items.n)
		return false;
	if (!spool->config.is_the_end)
		log_warn("dropped undelivered: %s/%s", spool->config.path,
			 spool->items.items[i].name);
	unlink_at(spool, i);
	spool->counts.dropped++;
	return true;
}

void spool_trim(struct spool *spool)
{
	uint64_t now = clock_unix_ns();

	for (;;) {
		size_t i = spool->first + spool->is_held;

		/* a clock that was set back makes nothing old */
		if (i >= spool->items.n || spool->items.items[i].unix_ns > now ||
		    now - spool->items.items[i].unix_ns <= spool->config.age_max_ns)
			return;
		drop_oldest(spool);
	}
}

static bool is_full(const struct spool *spool)
{
	return spool->counts.bytes > spool->config.bytes_max ||
	       spool->counts.items > SPOOL_ITEMS_MAX;
}

/* What is in the folder now under this name, as the newest item. */
static int enter(struct spool *spool, struct spool_item *item)
{
	struct stat st;
	int err;

	if (fstatat(spool->folder, item->name, &st, AT_SYMLINK_NOFOLLOW))
		return fail_errno(-errno, "cannot look at %s", item->name);
	item->bytes = (uint64_t)st.st_size;
	item->unix_ns = clock_unix_ns();
	err = vec_push(&spool->items, *item);
	if (err) {
		unlinkat(spool->folder, item->name, 0);
		return err;
	}
	spool->next_sequence = item->sequence + 1;
	spool->counts.items++;
	spool->counts.bytes += item->bytes;
	spool->counts.added++;
	/* the name as well as what it names */
	if (fsync(spool->folder))
		log_warn("cannot write %s to the disk: %s", spool->config.path,
			 strerror(errno));
	while (is_full(spool) && drop_oldest(spool))
		;
	return 0;
}

static struct spool_item new_item(const struct spool *spool, const char *what)
{
	struct spool_item item = { .sequence = spool->next_sequence };
	time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(item.name, sizeof(item.name), "%012" PRIu64 "-%s-%s%s",
		 item.sequence % 1000000000000, when, what, spool->config.ending);
	return item;
}

int spool_add(struct spool *spool, const char *what,
	      int (*write)(void *arg, struct outfile *out), void *arg)
{
	struct spool_item item = new_item(spool, what);
	AUTO(outfile) file = NULL;
	int err = outfile_new_in(&file, spool->folder, item.name);

	if (!err)
		err = write(arg, file);
	if (!err)
		err = outfile_sync(file);
	if (!err)
		err = outfile_finish(file);
	return err ? err : enter(spool, &item);
}

static int copy_bytes(int from, struct outfile *out)
{
	char buf[16384];
	ssize_t n;
	int err = 0;

	while (!err && (n = read(from, buf, sizeof(buf))) != 0)
		err = n < 0 ? fail_errno(-errno, "cannot read a profile")
			    : outfile_add(out, buf, (size_t)n);
	return err;
}

static int write_copy(void *arg, struct outfile *out)
{
	return copy_bytes(*(int *)arg, out);
}

int spool_add_of(struct spool *spool, const struct spool *from, const char *what)
{
	const struct spool_item *newest = from->items.items + from->items.n - 1;
	struct spool_item item = new_item(spool, what);
	AUTO_CLOSE int fd = -1;

	if (from->items.n == from->first)
		return fail(-ENOENT, "%s holds nothing", from->config.path);
	if (!linkat(from->folder, newest->name, spool->folder, item.name, 0))
		return enter(spool, &item);
	fd = openat(from->folder, newest->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return fail_errno(-errno, "cannot read %s", newest->name);
	return spool_add(spool, what, write_copy, &fd);
}

int spool_hold(struct spool *spool)
{
	const struct spool_item *item = spool_oldest(spool);
	int fd;

	if (!item)
		return -ENOENT;
	fd = openat(spool->folder, item->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	spool->is_held = true;
	return fd;
}

void spool_let(struct spool *spool)
{
	spool->is_held = false;
}

void spool_remove(struct spool *spool)
{
	spool->is_held = false;
	if (!spool_oldest(spool))
		return;
	unlink_at(spool, spool->first);
	spool->counts.removed++;
}

const struct spool_counts *spool_counts(const struct spool *spool)
{
	return &spool->counts;
}
