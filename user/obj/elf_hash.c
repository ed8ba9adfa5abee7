// SPDX-License-Identifier: BSD-2-Clause
/*
 * The section has a head, words of a filter, buckets with the number of the first symbol
 * of each, and of each symbol from the first one on its hash, the lowest bit of which
 * says that it is its bucket's last.
 */
#include "obj/elf_hash.h"

#include "base/error.h"

#include <string.h>

#define QUERY_BYTES_MAX 64
#define CHAIN_WORDS	16 /* that are read at once */

struct head {
	uint32_t n_buckets, first, filter_words, filter_shift;
};

struct hash_search {
	struct elf_file *file;
	const struct elf_table *table;
	const struct elf_search *search;
	uint64_t buckets, chains; /* in the file */
	struct head head;
};

static uint32_t name_hash(const struct elf_query *query)
{
	uint32_t hash = 5381;

	for (size_t i = 0; i < query->length; i++)
		hash = hash * 33 + (unsigned char)query->name[i];
	return hash;
}

static bool open_hash(struct hash_search *in)
{
	const struct elf_table *table = in->table;
	uint64_t words = table->hash_bytes / 4, buckets;

	if (table->hash_bytes < sizeof(in->head) ||
	    elf_file_read(in->file, table->hash_offset, &in->head, sizeof(in->head)))
		return false;
	buckets = sizeof(in->head) / 4 + 2 * (uint64_t)in->head.filter_words;
	if (!in->head.n_buckets || in->head.first > table->n_syms ||
	    buckets + in->head.n_buckets + table->n_syms - in->head.first > words)
		return false;
	in->buckets = table->hash_offset + 4 * buckets;
	in->chains = in->buckets + 4 * (uint64_t)in->head.n_buckets;
	return true;
}

/* Tells the n-th symbol if it has that name and is defined. */
static int look_at(const struct hash_search *in, uint64_t n,
		   const struct elf_query *query)
{
	const struct elf_table *table = in->table;
	char name[QUERY_BYTES_MAX];
	Elf64_Sym sym;
	int err = elf_file_read(in->file, table->syms_offset + n * sizeof(sym), &sym,
				sizeof(sym));

	if (err || !elf_search_may_find(&sym) || sym.st_name >= table->strings_bytes ||
	    table->strings_bytes - sym.st_name <= query->length)
		return err;
	err = elf_file_read(in->file, table->strings_offset + sym.st_name, name,
			    query->length + 1);
	if (err || memcmp(name, query->name, query->length) || name[query->length])
		return err;
	sym.st_value = elf_file_symbol(in->file, &sym);
	in->search->sink(in->search->arg, query->what, &sym);
	return 0;
}

/* Of the bucket that begins with the n-th symbol. */
static bool follow_chain(const struct hash_search *in, uint64_t n, uint32_t hash,
			 const struct elf_query *query)
{
	uint32_t words[CHAIN_WORDS];

	while (n < in->table->n_syms) {
		uint64_t left = in->table->n_syms - n;
		size_t some = left < CHAIN_WORDS ? left : CHAIN_WORDS;

		if (elf_file_read(in->file, in->chains + 4 * (n - in->head.first), words,
				  some * sizeof(*words)))
			return false;
		for (size_t i = 0; i < some; i++, n++) {
			if (!((words[i] ^ hash) >> 1) && look_at(in, n, query))
				return false;
			if (words[i] & 1)
				return true;
		}
	}
	return false;
}

static bool find_one(const struct hash_search *in, const struct elf_query *query)
{
	uint32_t hash = name_hash(query), n;

	if (query->length >= QUERY_BYTES_MAX ||
	    elf_file_read(in->file, in->buckets + 4 * (hash % in->head.n_buckets), &n,
			  sizeof(n)))
		return false;
	if (!n)
		return true;
	return n >= in->head.first && follow_chain(in, n, hash, query);
}

bool elf_hash_find(struct elf_file *file, const struct elf_table *table,
		   const struct elf_search *search)
{
	struct hash_search in = { .file = file, .table = table, .search = search };
	bool found = open_hash(&in);

	for (size_t i = 0; found && i < search->n; i++)
		found = find_one(&in, &search->queries[i]);
	error_clear();
	return found;
}
