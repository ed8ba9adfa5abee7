// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the functions start that no symbol covers: a stripped file still has an FDE for
 * each, since its unwinder needs one. The table that unwinders search finds it with some
 * twenty small reads. Only a file without such a table, and what the table does not cover
 * in a file that has .debug_frame, has its FDEs read one after the other.
 *
 * A function's cold part has an FDE of its own and is a function of its own here; which
 * belongs to which is not guessed. Assembly often has no FDEs; its functions are told
 * apart by its instructions (obj/code_starts.h).
 */
#include "obj/names.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "obj/code_starts.h"
#include "obj/fde_index.h"
#include "unwind/cfi_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CODE_BUDGET   (16u << 20) /* bytes that are read for one request */
#define CODE_GAPS_MAX 4096	  /* that are looked for */
#define CODE_AROUND   (64u << 10) /* a place, in gaps that are too large to be read */

struct place {
	uint64_t vaddr, start; /* as linked */
	size_t index;	       /* among the addresses that were asked for */
	bool is_found;
};

struct starts {
	struct elf_file *file;
	struct paged_file paged; /* the same, for its index */
	struct place *places;	 /* by vaddr */
	size_t n, n_found;
	struct elf_info index; /* where .eh_frame_hdr is, if there is one */
	bool has_index;	       /* in the usual form, and so are its FDEs */
	size_t code_budget;
};

static int by_vaddr(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static void set_places(struct starts *starts, const uint64_t *addrs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct place place = { .index = i };

		if (elf_file_vaddr(starts->file, addrs[i], &place.vaddr))
			starts->places[starts->n++] = place;
	}
	qsort(starts->places, starts->n, sizeof(*starts->places), by_vaddr);
}

static void found(struct starts *starts, struct place *place, uint64_t start)
{
	starts->n_found += !place->is_found;
	place->is_found = true;
	place->start = start;
}

static void find_index(struct starts *starts)
{
	const struct elf_file *file = starts->file;

	for (size_t i = 0; i < file->n_phdrs; i++) {
		if (file->phdrs[i].p_type != PT_GNU_EH_FRAME)
			continue;
		starts->index.fde_index_offset = file->phdrs[i].p_offset;
		starts->index.fde_index_vaddr = file->phdrs[i].p_vaddr;
	}
	starts->has_index = fde_index_is_usual(&starts->paged, &starts->index);
}

static void search_index(struct starts *starts)
{
	for (size_t i = 0; starts->has_index && i < starts->n; i++) {
		struct place *place = &starts->places[i];
		struct fde fde;

		if (!fde_index_find(&starts->paged, &starts->index, place->vaddr, &fde))
			continue;
		starts->has_index = fde.end;
		if (place->vaddr < fde.end)
			found(starts, place, fde.begin);
	}
}

/* Of several that cover an address, the one that begins last. */
static void take_fde(struct starts *starts, const struct cfi_fde *fde)
{
	size_t i = LOWER_BOUND(starts->n, k, starts->places[k].vaddr < fde->begin);

	for (; i < starts->n && starts->places[i].vaddr < fde->end; i++) {
		struct place *place = &starts->places[i];

		if (!place->is_found || place->start < fde->begin)
			found(starts, place, fde->begin);
	}
}

static void read_section(struct starts *starts, const struct cfi_section *section)
{
	struct cfi_cursor in = { .at = section->bytes,
				 .end = section->bytes + section->n };
	struct cfi_cie cie = { .offset = UINT64_MAX };
	bool is_good = false;

	for (uint64_t seen = 0; in.at < in.end && seen < CFI_FDES_MAX;) {
		struct cfi_record record = cfi_record_next(section, &in);
		struct cfi_fde fde;

		if (record.kind == CFI_PADDING && section->ends_at_zero &&
		    seen >= section->fdes_at_least)
			break;
		if (record.kind != CFI_FDE)
			continue;
		seen++;
		if (cie.offset != record.cie) {
			is_good = cfi_cie_read(section, record.cie, &cie);
			cie.offset = record.cie;
		}
		if (is_good && cfi_fde_read(section, &record, &cie, &fde) &&
		    elf_file_loads(starts->file, fde.begin, fde.end - fde.begin, PF_X))
			take_fde(starts, &fde);
	}
}

static int search_section(struct starts *starts,
			  int (*load)(struct elf_file *file, struct cfi_section *ret))
{
	struct cfi_section section = { 0 };
	int err = load(starts->file, &section);

	if (!err && section.n)
		read_section(starts, &section);
	cfi_section_close(&section);
	return err;
}

struct code_gap {
	uint64_t begin, end;
	bool is_part; /* of a larger one: maybe nothing begins with its first byte */
};

/* The section of code that the address is in, or the segment. */
static struct code_gap gap_of_file(const struct elf_file *file, uint64_t vaddr)
{
	const Elf64_Shdr *sh = elf_file_code_section(file, vaddr);

	if (sh)
		return (struct code_gap){ sh->sh_addr, sh->sh_addr + sh->sh_size, false };
	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X && vaddr >= ph->p_vaddr &&
		    vaddr - ph->p_vaddr < ph->p_filesz)
			return (struct code_gap){ ph->p_vaddr, ph->p_vaddr + ph->p_filesz,
						  false };
	}
	return (struct code_gap){ 0 };
}

/* What of it no FDE covers around there. */
static struct code_gap gap_at(const struct starts *starts, uint64_t vaddr)
{
	struct code_gap gap = gap_of_file(starts->file, vaddr);
	const struct paged_file *paged = &starts->paged;
	struct fde before;
	uint64_t next = UINT64_MAX;

	if (!starts->has_index)
		return gap;
	if (fde_index_find(paged, &starts->index, vaddr, &before)) {
		if (before.end <= vaddr && before.end > gap.begin)
			gap.begin = before.end;
		next = before.next;
	} else {
		fde_index_next(paged, &starts->index, vaddr, &next);
	}
	if (next < gap.end)
		gap.end = next;
	return gap;
}

/* Of a large gap the code around some places, from one on; returns where those end that
 * are in it. */
static size_t take_part(const struct starts *starts, struct code_gap *gap, size_t first)
{
	const struct place *places = starts->places;
	uint64_t end = gap->end;
	size_t last = first;

	if (places[first].vaddr - gap->begin > CODE_AROUND) {
		gap->begin = places[first].vaddr - CODE_AROUND;
		gap->is_part = true;
	}
	do
		gap->end = places[last++].vaddr + CODE_AROUND;
	while (last < starts->n && places[last].vaddr < gap->end &&
	       places[last].vaddr + CODE_AROUND - gap->begin <= CODE_STARTS_MAX);
	if (gap->end > end)
		gap->end = end;
	return last;
}

/* Of the places [first, end), which lie in the text. */
static int read_starts(struct starts *starts, const struct code_text *text, bool is_part,
		       size_t first, size_t end)
{
	AUTO(code_starts) code = NULL;
	uint64_t start = 0, next = text->vaddr;
	int err = code_starts_new(&code, text);
	bool has_start = false, has_next = false;
	size_t passed;

	if (!err && is_part) /* whose first one may be the middle of another */
		code_starts_next(code, &passed);
	for (size_t i = first; !err && i < end; i++) {
		struct place *place = &starts->places[i];

		while (next <= place->vaddr) {
			size_t at;

			has_start = has_next;
			start = next;
			has_next = code_starts_next(code, &at);
			next = has_next ? text->vaddr + at : UINT64_MAX;
		}
		if (has_start && !place->is_found)
			found(starts, place, start);
	}
	return err;
}

/* The same of a gap's code; what can't be read costs only its own starts. */
static int read_gap(struct starts *starts, const struct code_gap *gap, size_t first,
		    size_t end)
{
	size_t n = gap->end - gap->begin;
	uint64_t offset, room;
	AUTO_FREE uint8_t *bytes = NULL;
	struct code_text text = {
		.n = n,
		.vaddr = gap->begin,
		.is_arm64 = starts->file->header.e_machine == EM_AARCH64,
	};

	if (n > CODE_STARTS_MAX || n > starts->code_budget ||
	    !elf_file_offset(starts->file, gap->begin, &offset, &room) || room < n)
		return 0;
	starts->code_budget -= n;
	text.bytes = bytes = malloc(n);
	if (!bytes)
		return fail(-ENOMEM, "no memory for %zu bytes of code", n);
	if (elf_file_read(starts->file, offset, bytes, n)) {
		error_clear();
		return 0;
	}
	return read_starts(starts, &text, gap->is_part, first, end);
}

static int search_code(struct starts *starts)
{
	unsigned int n_gaps = 0;
	int err = 0;

	if (!code_starts_knows(starts->file->header.e_machine))
		return 0;
	starts->code_budget = CODE_BUDGET;
	for (size_t i = 0, end; !err && i < starts->n; i = end) {
		uint64_t vaddr = starts->places[i].vaddr;
		struct code_gap gap;

		end = i + 1;
		if (starts->places[i].is_found)
			continue;
		if (n_gaps++ == CODE_GAPS_MAX)
			break;
		gap = gap_at(starts, vaddr);
		if (vaddr < gap.begin || vaddr >= gap.end)
			continue;
		if (gap.end - gap.begin > CODE_STARTS_MAX)
			end = take_part(starts, &gap, i);
		else
			while (end < starts->n && starts->places[end].vaddr < gap.end)
				end++;
		err = read_gap(starts, &gap, i, end);
	}
	return err;
}

static int search(struct starts *starts)
{
	int err = 0;

	find_index(starts);
	search_index(starts);
	if (!starts->has_index)
		err = search_section(starts, cfi_section_eh);
	if (!err && starts->n_found < starts->n)
		err = search_section(starts, cfi_section_debug);
	if (!err && starts->n_found < starts->n)
		err = search_code(starts);
	return err;
}

static int deliver(const struct starts *starts, const uint64_t *addrs, name_sink sink,
		   void *arg)
{
	int err = 0;

	for (size_t i = 0; err >= 0 && i < starts->n; i++) {
		const struct place *place = &starts->places[i];
		uint64_t addr = addrs[place->index], back = place->vaddr - place->start;
		char name[24];

		if (!place->is_found)
			continue;
		snprintf(name, sizeof(name), "0x%" PRIx64, place->start);
		err = sink(arg, place->index, name, addr > back ? addr - back : 0);
	}
	return err < 0 ? err : 0;
}

int function_starts(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_ELF file = { 0 };
	AUTO_FREE struct place *places = calloc(n + 1, sizeof(*places));
	AUTO(file_pages) pages = NULL;
	struct starts starts = { .file = &file, .places = places };
	int err;

	if (!places)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	err = elf_file_open(&file, fd);
	if (!err)
		err = file_pages_new(&pages);
	if (err)
		return err;
	starts.paged = (struct paged_file){ pages, fd };
	set_places(&starts, addrs, n);
	err = search(&starts);
	if (err && !starts.n_found)
		return err;
	error_clear(); /* a damaged .debug_frame costs no start that the table told */
	return deliver(&starts, addrs, sink, arg);
}
