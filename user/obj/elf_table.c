// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_table.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>

#define DYNAMIC_ENTRIES_MAX 1024

/* Addresses, as linked; 0 = absent. */
struct tags {
	uint64_t symtab, strtab, strings_bytes, hash, gnu_hash;
};

static void take_tag(struct tags *tags, struct elf_dynamic *dynamic, const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_SYMTAB:
		tags->symtab = d->d_un.d_ptr;
		break;
	case DT_STRTAB:
		tags->strtab = d->d_un.d_ptr;
		break;
	case DT_STRSZ:
		tags->strings_bytes = d->d_un.d_val;
		break;
	case DT_HASH:
		tags->hash = d->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		tags->gnu_hash = d->d_un.d_ptr;
		break;
	case DT_NEEDED:
		dynamic->needs_libraries = true;
		break;
	case DT_SONAME:
		dynamic->soname = d->d_un.d_val;
		break;
	case DT_FLAGS_1:
		dynamic->is_program = d->d_un.d_val & DF_1_PIE;
		break;
	case DT_JMPREL:
		dynamic->jmprel = d->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		dynamic->jmprel_bytes = d->d_un.d_val;
		break;
	case DT_RELA:
		dynamic->rela = d->d_un.d_ptr;
		break;
	case DT_RELASZ:
		dynamic->rela_bytes = d->d_un.d_val;
		break;
	}
}

static int read_tags(struct elf_file *file, const Elf64_Phdr *ph, struct tags *tags,
		     struct elf_dynamic *dynamic)
{
	AUTO_FREE Elf64_Dyn *entries = NULL;
	size_t n = ph->p_filesz / sizeof(*entries);
	int err;

	if (n > DYNAMIC_ENTRIES_MAX)
		n = DYNAMIC_ENTRIES_MAX;
	entries = calloc(n ? n : 1, sizeof(*entries));
	if (!entries)
		return fail(-ENOMEM, "no memory for the dynamic section");
	err = elf_file_read(file, ph->p_offset, entries, n * sizeof(*entries));
	for (size_t i = 0; !err && i < n && entries[i].d_tag != DT_NULL; i++)
		take_tag(tags, dynamic, &entries[i]);
	return err;
}

/* The largest of n words; they may be many, so they come in pieces. */
static int largest_word(struct elf_file *file, uint64_t offset, uint64_t n,
			uint32_t *ret_largest)
{
	uint32_t words[1024], largest = 0;

	while (n) {
		size_t some = n < 1024 ? n : 1024;
		int err = elf_file_read(file, offset, words, some * sizeof(*words));

		if (err)
			return err;
		for (size_t i = 0; i < some; i++)
			if (words[i] > largest)
				largest = words[i];
		offset += some * sizeof(*words);
		n -= some;
	}
	*ret_largest = largest;
	return 0;
}

/* A chain ends at the first word whose lowest bit is set. */
static int chain_end(struct elf_file *file, uint64_t offset, uint64_t bytes,
		     uint64_t *ret_n)
{
	uint32_t words[256];
	uint64_t before = 0, n = bytes / sizeof(*words);

	while (before < n) {
		size_t some = n - before < 256 ? n - before : 256;
		int err = elf_file_read(file, offset + before * sizeof(*words), words,
					some * sizeof(*words));

		if (err)
			return err;
		for (size_t i = 0; i < some; i++) {
			if (words[i] & 1) {
				*ret_n = before + i + 1;
				return 0;
			}
		}
		before += some;
	}
	return fail(-EBADMSG, "endless chain in .gnu.hash");
}

/*
 * .gnu.hash does not tell how many symbols there are; the end of the chain
 * that begins last is the end of the table.
 */
static int count_gnu(struct elf_file *file, uint64_t vaddr, uint64_t *ret_n)
{
	struct {
		uint32_t buckets, first, bloom_words, bloom_shift;
	} head;
	uint64_t offset, bytes, skip;
	uint32_t last = 0;
	int err;

	if (!elf_file_offset(file, vaddr, &offset, &bytes) || bytes < sizeof(head))
		return fail(-EBADMSG, ".gnu.hash outside of the file");
	err = elf_file_read(file, offset, &head, sizeof(head));
	if (err)
		return err;
	skip = sizeof(head) + 8 * (uint64_t)head.bloom_words;
	if (skip > bytes || head.buckets > (bytes - skip) / 4)
		return fail(-EBADMSG, ".gnu.hash is cut short");
	err = largest_word(file, offset + skip, head.buckets, &last);
	if (err)
		return err;
	if (last < head.first) {
		*ret_n = head.first; /* nothing is defined */
		return 0;
	}
	skip += 4 * ((uint64_t)head.buckets + last - head.first);
	if (skip >= bytes)
		return fail(-EBADMSG, ".gnu.hash is cut short");
	err = chain_end(file, offset + skip, bytes - skip, ret_n);
	*ret_n = err ? 0 : *ret_n + last;
	return err;
}

static int count_symbols(struct elf_file *file, const struct tags *tags, uint64_t *ret_n)
{
	uint64_t offset, bytes;
	uint32_t words[2];
	int err;

	*ret_n = 0;
	if (!tags->hash)
		return tags->gnu_hash ? count_gnu(file, tags->gnu_hash, ret_n) : 0;
	if (!elf_file_offset(file, tags->hash, &offset, &bytes) || bytes < sizeof(words))
		return fail(-EBADMSG, ".hash outside of the file");
	err = elf_file_read(file, offset, words, sizeof(words));
	*ret_n = err ? 0 : words[1];
	return err;
}

static int find_table(struct elf_file *file, const struct tags *tags,
		      struct elf_table *table)
{
	uint64_t bytes;
	int err = count_symbols(file, tags, &table->n_syms);

	if (err)
		return err;
	if (tags->gnu_hash && !elf_file_offset(file, tags->gnu_hash, &table->hash_offset,
					       &table->hash_bytes))
		table->hash_bytes = 0;
	if (!elf_file_offset(file, tags->strtab, &table->strings_offset,
			     &table->strings_bytes))
		return fail(-EBADMSG, ".dynstr outside of the file");
	if (table->strings_bytes > tags->strings_bytes)
		table->strings_bytes = tags->strings_bytes;
	if (!elf_file_offset(file, tags->symtab, &table->syms_offset, &bytes))
		return fail(-EBADMSG, ".dynsym outside of the file");
	if (table->n_syms > bytes / sizeof(Elf64_Sym))
		table->n_syms = bytes / sizeof(Elf64_Sym);
	return 0;
}

int elf_table_dynamic(struct elf_file *file, struct elf_dynamic *ret)
{
	struct tags tags = { 0 };
	const Elf64_Phdr *ph = NULL;
	int err;

	*ret = (struct elf_dynamic){ 0 };
	for (size_t i = 0; i < file->n_phdrs && !ph; i++)
		if (file->phdrs[i].p_type == PT_DYNAMIC)
			ph = &file->phdrs[i];
	if (!ph)
		return 0;
	err = read_tags(file, ph, &tags, ret);
	if (err || !tags.symtab || !tags.strtab)
		return err;
	return find_table(file, &tags, &ret->table);
}

static bool in_file(const struct elf_file *file, const Elf64_Shdr *sh)
{
	return sh->sh_type != SHT_NOBITS && !(sh->sh_flags & SHF_COMPRESSED) &&
	       sh->sh_offset <= file->bytes && sh->sh_size <= file->bytes - sh->sh_offset;
}

bool elf_table_static(const struct elf_file *file, struct elf_table *ret)
{
	for (size_t i = 0; i < file->n_shdrs; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i], *strings;

		if (sh->sh_type != SHT_SYMTAB || sh->sh_link >= file->n_shdrs ||
		    sh->sh_entsize != sizeof(Elf64_Sym))
			continue;
		strings = &file->shdrs[sh->sh_link];
		if (strings->sh_type != SHT_STRTAB || !in_file(file, sh) ||
		    !in_file(file, strings))
			continue;
		*ret = (struct elf_table){
			.syms_offset = sh->sh_offset,
			.n_syms = sh->sh_size / sizeof(Elf64_Sym),
			.strings_offset = strings->sh_offset,
			.strings_bytes = strings->sh_size,
		};
		return true;
	}
	return false;
}

int elf_table_symbols(struct elf_file *file, const struct elf_table *table,
		      elf_symbol_sink sink, void *arg)
{
	const size_t most = ELF_PIECE_MAX / sizeof(Elf64_Sym);
	AUTO_FREE Elf64_Sym *syms = malloc(most * sizeof(*syms));
	int err = 0;

	if (!syms)
		return fail(-ENOMEM, "no memory for symbols");
	for (uint64_t at = 0; !err && at < table->n_syms; at += most) {
		uint64_t left = table->n_syms - at;
		size_t n = left < most ? left : most;

		err = elf_file_read(file, table->syms_offset + at * sizeof(*syms), syms,
				    n * sizeof(*syms));
		for (size_t i = 0; !err && i < n; i++) {
			syms[i].st_value = elf_file_symbol(file, &syms[i]);
			err = sink(arg, &syms[i]);
		}
	}
	return err;
}

int elf_table_symbol(struct elf_file *file, const struct elf_table *table,
		     uint32_t number, Elf64_Sym *ret)
{
	int err = elf_file_read(file, table->syms_offset + number * sizeof(*ret), ret,
				sizeof(*ret));

	if (!err)
		ret->st_value = elf_file_symbol(file, ret);
	return err;
}
