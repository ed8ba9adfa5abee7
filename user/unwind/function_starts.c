// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the functions start that no symbol covers: a stripped file still has an FDE for
 * each, since its unwinder needs one. The table that unwinders search finds it with some
 * twenty small reads. Only a file without such a table, and what the table does not cover
 * in a file that has .debug_frame, has its FDEs read one after the other.
 *
 * A function's cold part has an FDE of its own and is a function of its own here; which
 * belongs to which is not guessed.
 */
#include "obj/names.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "obj/fde_index.h"
#include "unwind/cfi_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct place {
	uint64_t vaddr, start; /* as linked */
	size_t index;	       /* among the addresses that were asked for */
	bool is_found;
};

struct starts {
	struct elf_file *file;
	struct place *places; /* by vaddr */
	size_t n, n_found;
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

/* False: there is no table, or its FDEs are not in the usual form. */
static bool search_index(struct starts *starts)
{
	const struct elf_file *file = starts->file;
	struct elf_info info = { 0 };

	for (size_t i = 0; i < file->n_phdrs; i++) {
		if (file->phdrs[i].p_type != PT_GNU_EH_FRAME)
			continue;
		info.fde_index_offset = file->phdrs[i].p_offset;
		info.fde_index_vaddr = file->phdrs[i].p_vaddr;
	}
	if (!fde_index_is_usual(file->fd, &info))
		return false;
	for (size_t i = 0; i < starts->n; i++) {
		struct place *place = &starts->places[i];
		struct fde fde;

		if (!fde_index_find(file->fd, &info, place->vaddr, &fde))
			continue;
		if (!fde.end)
			return false;
		if (place->vaddr < fde.end)
			found(starts, place, fde.begin);
	}
	return true;
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

static int search(struct starts *starts)
{
	int err = 0;

	if (!search_index(starts))
		err = search_section(starts, cfi_section_eh);
	if (!err && starts->n_found < starts->n)
		err = search_section(starts, cfi_section_debug);
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
	struct starts starts = { .file = &file, .places = places };
	int err;

	if (!places)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	err = elf_file_open(&file, fd);
	if (err)
		return err;
	set_places(&starts, addrs, n);
	err = search(&starts);
	if (err && !starts.n_found)
		return err;
	error_clear(); /* a damaged .debug_frame costs no start that the table told */
	return deliver(&starts, addrs, sink, arg);
}
