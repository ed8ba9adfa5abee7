// SPDX-License-Identifier: BSD-2-Clause
#include "sym/symbol_batch.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/name.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

#define INLINES_MS 2000 /* a file: what came until then stays */

int symbol_batch_begin(struct symbol_batch *batch)
{
	batch->addrs = malloc(batch->n * sizeof(*batch->addrs));
	batch->first = malloc((batch->n + 1) * sizeof(*batch->first));
	if (!batch->addrs || !batch->first)
		return fail(-ENOMEM, "no memory for %zu addresses", batch->n);
	for (size_t i = 0; i < batch->n; i++) {
		if (i && batch->wants[i].at == batch->wants[i - 1].at)
			continue;
		batch->first[batch->n_addrs] = i;
		batch->addrs[batch->n_addrs++] = batch->wants[i].at;
	}
	batch->first[batch->n_addrs] = batch->n;
	return 0;
}

void symbol_batch_end(struct symbol_batch *batch)
{
	free(batch->addrs);
	free(batch->first);
}

int symbol_batch_left_ms(const struct symbol_batch *batch)
{
	uint64_t taken_ns = worker_names_ns(batch->worker) - batch->begun_ns;
	int64_t left = batch->deadline_ms - (int64_t)(taken_ns / 1000000);

	return left > 0 ? (int)left : 0;
}

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct symbol_batch *batch = arg;
	int err = 0;

	for (size_t i = batch->first[index]; !err && i < batch->first[index + 1]; i++)
		err = names_set(batch->names, batch->wants[i].frame, name);
	return err;
}

int symbol_batch_read(struct symbol_batch *batch, enum name_source source, int fd)
{
	names_set_origin(batch->names,
			 source == NAMES_PERF_MAP ? NAME_ORIGIN_JIT : NAME_ORIGIN_SYMBOL);
	return worker_names(batch->worker,
			    &(struct name_request){ source, fd, batch->addrs,
						    batch->n_addrs,
						    symbol_batch_left_ms(batch) },
			    on_name, batch);
}

uint64_t *symbol_batch_linked(const struct symbol_batch *batch,
			      const struct elf_info *info)
{
	uint64_t *linked = calloc(batch->n_addrs, sizeof(*linked));

	if (!linked)
		fail(-ENOMEM, "no memory for %zu addresses", batch->n_addrs);
	for (size_t i = 0; linked && i < batch->n_addrs; i++)
		if (!elf_vaddr_of_offset(info, batch->addrs[i], &linked[i]))
			linked[i] = UINT64_MAX; /* which no symbol covers */
	return linked;
}

/* Its segments hold no bytes, so only the addresses as linked mean something. */
int symbol_batch_read_debug(struct symbol_batch *batch, int fd,
			    const struct elf_info *info)
{
	AUTO_FREE uint64_t *linked = symbol_batch_linked(batch, info);

	if (!linked)
		return -ENOMEM;
	names_set_origin(batch->names, NAME_ORIGIN_DEBUG_FILE);
	return worker_names(batch->worker,
			    &(struct name_request){ NAMES_ELF_LINKED, fd, linked,
						    batch->n_addrs,
						    symbol_batch_left_ms(batch) },
			    on_name, batch);
}

/* The addresses of a batch that no name was found for. */
struct unnamed {
	struct symbol_batch *batch;
	uint64_t *addrs; /* n of them */
	size_t *index;	 /* of each, in the batch */
	size_t n;
	const char *module;
	struct str name;
};

static int on_start(void *arg, size_t index, const char *name, uint64_t start)
{
	struct unnamed *unnamed = arg;

	str_clear(&unnamed->name);
	name_add(&unnamed->name, unnamed->module, strlen(unnamed->module));
	str_addf(&unnamed->name, "!%s", name);
	if (unnamed->name.failed)
		return str_error(&unnamed->name);
	return on_name(unnamed->batch, unnamed->index[index], unnamed->name.s, start);
}

static int on_go_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct unnamed *unnamed = arg;

	return on_name(unnamed->batch, unnamed->index[index], name, start);
}

static void collect_unnamed(struct unnamed *unnamed)
{
	const struct symbol_batch *batch = unnamed->batch;

	for (size_t i = 0; i < batch->n_addrs; i++) {
		if (names_get(batch->names, batch->wants[batch->first[i]].frame))
			continue;
		unnamed->addrs[unnamed->n] = batch->addrs[i];
		unnamed->index[unnamed->n++] = i;
	}
}

bool symbol_batch_lacks_names(const struct symbol_batch *batch)
{
	for (size_t i = 0; i < batch->n_addrs; i++)
		if (!names_get(batch->names, batch->wants[batch->first[i]].frame))
			return true;
	return false;
}

int symbol_batch_read_unnamed(struct symbol_batch *batch, enum name_source source, int fd,
			      const char *path)
{
	bool is_go = source == NAMES_GO;
	AUTO_FREE uint64_t *addrs = calloc(batch->n_addrs + 1, sizeof(*addrs));
	AUTO_FREE size_t *index = calloc(batch->n_addrs + 1, sizeof(*index));
	const char *base = strrchr(path, '/');
	struct unnamed unnamed = { .batch = batch, .addrs = addrs, .index = index };
	int err = 0;

	if (!addrs || !index)
		return fail(-ENOMEM, "no memory for %zu addresses", batch->n_addrs);
	unnamed.module = base && base[1] ? base + 1 : path;
	collect_unnamed(&unnamed);
	names_set_origin(batch->names, is_go ? NAME_ORIGIN_GO : NAME_ORIGIN_START);
	if (unnamed.n)
		err = worker_names(batch->worker,
				   &(struct name_request){ source, fd, addrs, unnamed.n,
							   symbol_batch_left_ms(batch) },
				   is_go ? on_go_name : on_start, &unnamed);
	str_free(&unnamed.name);
	return err;
}

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	struct names_location copied[INLINES_MAX + 1];
	struct symbol_batch *batch = arg;
	int err = 0;

	for (size_t i = 0; i < n; i++)
		copied[i] = (struct names_location){ locations[i].name, locations[i].file,
						     locations[i].line };
	for (size_t i = batch->first[index]; !err && i < batch->first[index + 1]; i++)
		err = names_set_locations(batch->names, batch->wants[i].frame, copied, n);
	batch->inlines_found |= n > 0;
	return err;
}

void symbol_batch_read_locations(struct symbol_batch *batch,
				 const struct location_source *source)
{
	int left_ms = symbol_batch_left_ms(batch);
	const struct name_request request = {
		.source = NAMES_LOCATIONS,
		.fd = source->fd,
		.addrs = source->linked,
		.n = batch->n_addrs,
		.deadline_ms = left_ms < INLINES_MS ? left_ms : INLINES_MS,
	};
	uint64_t begun_ns = clock_now_ns();
	int err = 0;

	batch->inlines_sought = true;
	if (batch->inlines_left_ns <= 0)
		err = fail(-ETIMEDOUT, "no time left");
	if (!err)
		err = worker_locations(batch->worker, &request, source->files,
				       on_locations, batch);
	batch->inlines_left_ns -= (int64_t)(clock_now_ns() - begun_ns);
	if (!err)
		return;
	batch->inlines_failed = true;
	log_verbose("inlined functions of %s: %s", source->path, error_sentence());
}
