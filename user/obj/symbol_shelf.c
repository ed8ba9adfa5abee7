// SPDX-License-Identifier: BSD-2-Clause
#include "obj/symbol_shelf.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHELF_FILES_MAX 64

/* Questions. An order costs some three passes over the table; where there are more than
 * the shelf holds, they are made ever more rarely. */
#define NEEDED_FIRST 2
#define NEEDED_MAX   (1u << 20)

struct symbol_shelf {
	struct shelf_file files[SHELF_FILES_MAX];
	size_t n;
	uint64_t n_asked;
};

int symbol_shelf_new(struct symbol_shelf **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for a shelf of symbols");
}

static void empty(struct shelf_file *file)
{
	for (size_t i = 0; i < N_SHELF_TABLES; i++) {
		symbol_order_free(file->orders[i]);
		file->orders[i] = NULL;
	}
	elf_debugdata_close(&file->data);
	file->has_data = false;
}

void symbol_shelf_free(struct symbol_shelf *shelf)
{
	if (!shelf)
		return;
	while (shelf->n)
		empty(&shelf->files[--shelf->n]);
	free(shelf);
}

static uint64_t time_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static bool is_same(const struct shelf_file *a, const struct shelf_file *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->bytes == b->bytes &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

static size_t bytes_of(const struct shelf_file *file)
{
	size_t n = file->data.n;

	for (size_t i = 0; i < N_SHELF_TABLES; i++)
		if (file->orders[i])
			n += symbol_order_bytes(file->orders[i]);
	return n;
}

/* Of those that have so many bytes at least; NULL: none has. */
static struct shelf_file *oldest(struct symbol_shelf *shelf, size_t bytes)
{
	struct shelf_file *oldest = NULL;

	for (size_t i = 0; i < shelf->n; i++) {
		struct shelf_file *file = &shelf->files[i];

		if (bytes_of(file) >= bytes &&
		    (!oldest || file->asked_at < oldest->asked_at))
			oldest = file;
	}
	return oldest;
}

static struct shelf_file *place_for(struct symbol_shelf *shelf,
				    const struct shelf_file *asked)
{
	struct shelf_file *place;

	for (size_t i = 0; i < shelf->n; i++)
		if (is_same(&shelf->files[i], asked))
			return &shelf->files[i];
	place = shelf->n < SHELF_FILES_MAX ? &shelf->files[shelf->n++] : oldest(shelf, 0);
	empty(place);
	*place = *asked;
	return place;
}

struct shelf_file *symbol_shelf_ask(struct symbol_shelf *shelf, int fd)
{
	struct shelf_file asked = { .n_needed = NEEDED_FIRST }, *file;
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	asked.dev = st.st_dev;
	asked.ino = st.st_ino;
	asked.bytes = (uint64_t)st.st_size;
	asked.mtime_ns = time_ns(&st.st_mtim);
	asked.ctime_ns = time_ns(&st.st_ctim);
	file = place_for(shelf, &asked);
	file->asked_at = ++shelf->n_asked;
	file->n_asked++;
	return file;
}

bool shelf_file_is_usual(const struct shelf_file *file)
{
	return file->n_asked >= file->n_needed;
}

static void let_go(struct shelf_file *file)
{
	empty(file);
	file->n_asked = 0;
	if (file->n_needed < NEEDED_MAX)
		file->n_needed *= 2;
}

void symbol_shelf_trim(struct symbol_shelf *shelf)
{
	size_t bytes = 0;

	for (size_t i = 0; i < shelf->n; i++)
		bytes += bytes_of(&shelf->files[i]);
	while (bytes > SHELF_BYTES_MAX) {
		struct shelf_file *file = oldest(shelf, 1);

		bytes -= bytes_of(file);
		let_go(file);
	}
}
