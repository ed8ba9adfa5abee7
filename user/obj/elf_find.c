// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_find.h"

#include "base/error.h"
#include "obj/elf_hash.h"
#include "obj/elf_pieces.h"

#include <string.h>

/* Linkers merge strings, so that a name is there once, or few times as the
 * tail of others. */
#define HITS_MAX 64

struct hit {
	uint64_t offset; /* of the name among the strings */
	int what;
};

struct hits {
	size_t n;
	struct hit items[HITS_MAX];
	const struct elf_search *search;
};

static void add_hit(struct hits *hits, uint64_t offset, int what)
{
	for (size_t i = 0; i < hits->n; i++)
		if (hits->items[i].offset == offset)
			return;
	if (hits->n < HITS_MAX)
		hits->items[hits->n++] = (struct hit){ offset, what };
}

/* Behind the zeroes at `at`: a file of holes has many. */
static const char *skip_zeroes(const char *at, const char *end)
{
	uint64_t word = 0;

	while (end - at >= 8 && !word) {
		memcpy(&word, at, 8);
		at += word ? 0 : 8;
	}
	while (at < end && !*at)
		at++;
	return at;
}

/* All names in one pass: at each string's end, which of the wanted ones is that of? */
static void search_piece(const char *piece, size_t n, uint64_t offset, struct hits *hits)
{
	const struct elf_query *queries = hits->search->queries;
	const char *at = piece, *end = piece + n;

	for (; (at = memchr(at, 0, (size_t)(end - at))); at = skip_zeroes(at, end)) {
		for (size_t i = 0; i < hits->search->n; i++) {
			size_t len = queries[i].length;

			if (len > (size_t)(at - piece) ||
			    at[-1] != queries[i].name[len - 1] ||
			    memcmp(at - len, queries[i].name, len))
				continue;
			add_hit(hits, offset + (uint64_t)(at - len - piece),
				queries[i].what);
		}
	}
}

/* Pieces overlap by the longest name, so that none is missed at a seam. */
static int search_strings(struct elf_file *file, const struct elf_table *table,
			  struct hits *hits)
{
	const struct elf_search *search = hits->search;
	AUTO(elf_pieces) pieces = NULL;
	size_t overlap = 0;
	int err = elf_pieces_new(&pieces, file);

	if (err)
		return err;
	for (size_t i = 0; i < search->n; i++)
		if (search->queries[i].length > overlap)
			overlap = search->queries[i].length;
	elf_pieces_begin(pieces, table->strings_offset, table->strings_bytes);
	while ((err = elf_pieces_next(pieces, overlap)) > 0)
		search_piece((const char *)pieces->bytes, pieces->n, pieces->at, hits);
	return err;
}

static int match(void *arg, const Elf64_Sym *sym)
{
	const struct hits *hits = arg;

	for (size_t i = 0; i < hits->n; i++) {
		if (sym->st_name == hits->items[i].offset && elf_search_may_find(sym))
			hits->search->sink(hits->search->arg, hits->items[i].what, sym);
	}
	return 0;
}

int elf_find(struct elf_file *file, const struct elf_table *table,
	     const struct elf_search *search)
{
	struct hits hits = { .search = search };
	int err;

	if (!table->n_syms || elf_hash_find(file, table, search))
		return 0;
	err = search_strings(file, table, &hits);
	if (err || !hits.n)
		return err;
	return elf_table_symbols(file, table, match, &hits);
}
