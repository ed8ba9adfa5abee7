// SPDX-License-Identifier: BSD-2-Clause
#include "obj/frame_pointers.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "obj/elf_file.h"
#include "obj/elf_table.h"

#include <string.h>

#define CODE_BYTES                                                                       \
	32 /* of a function that are looked at; shorter ones are not,
			 since most call nothing and need no frame */

/* Starts of functions as linked, in no order. */
struct starts {
	uint64_t vaddrs[PROLOGUES_MOST];
	size_t n;
	uint64_t seen, step; /* of a table's entries, each step-th is taken */
};

static bool is_taken(struct starts *starts)
{
	return starts->seen++ % starts->step == 0 && starts->n < PROLOGUES_MOST;
}

static void spread(struct starts *starts, uint64_t entries)
{
	starts->n = 0;
	starts->seen = 0;
	starts->step = entries / PROLOGUES_MOST + 1;
}

/* .eh_frame_hdr as linkers write it: a sorted table of {pc, FDE}, each 32 bits
 * relative to the header's own address. Any other form: no starts. */
static int starts_of_tables(struct elf_file *file, const Elf64_Phdr *phdr,
			    struct starts *starts)
{
	static const uint8_t usual[] = { 1, 0x1b, 0x03, 0x3b };
	struct {
		uint8_t forms[4];
		int32_t eh_frame;
		uint32_t n;
	} head;
	int err = elf_file_read(file, phdr->p_offset, &head, sizeof(head));

	if (err || memcmp(head.forms, usual, sizeof(usual)))
		return err;
	spread(starts, head.n);
	for (uint64_t i = 0; i + 1 < head.n && starts->n < PROLOGUES_MOST;
	     i += starts->step) {
		uint64_t offset = phdr->p_offset + sizeof(head) + i * 8;
		int32_t pcs[3]; /* this one's, its FDE, the next one's */

		err = elf_file_read(file, offset, pcs, sizeof(pcs));
		if (err)
			return err;
		if ((int64_t)pcs[2] - pcs[0] >= CODE_BYTES)
			starts->vaddrs[starts->n++] =
				phdr->p_vaddr + (uint64_t)(int64_t)pcs[0];
	}
	return 0;
}

static int take_symbol(void *arg, const Elf64_Sym *sym)
{
	struct starts *starts = arg;

	if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_value &&
	    sym->st_size >= CODE_BYTES && is_taken(starts))
		starts->vaddrs[starts->n++] = sym->st_value;
	return 0;
}

static int starts_of_symbols(struct elf_file *file, struct starts *starts)
{
	struct elf_dynamic dynamic;
	struct elf_table table;

	if (!elf_table_static(file, &table)) {
		int err = elf_table_dynamic(file, &dynamic);

		if (err)
			return err;
		table = dynamic.table;
	}
	spread(starts, table.n_syms);
	return table.n_syms ? elf_table_symbols(file, &table, take_symbol, starts) : 0;
}

static int find_starts(struct elf_file *file, struct starts *starts)
{
	for (size_t i = 0; i < file->n_phdrs && !starts->n; i++) {
		int err = 0;

		if (file->phdrs[i].p_type == PT_GNU_EH_FRAME)
			err = starts_of_tables(file, &file->phdrs[i], starts);
		if (err)
			return err;
	}
	return starts->n ? 0 : starts_of_symbols(file, starts);
}

/* push rbp, and mov rbp, rsp after it, perhaps with others in between. */
static bool x86_keeps(const uint8_t *code, size_t n)
{
	const uint8_t *at = memchr(code, 0x55, n);

	for (; at && at + 4 <= code + n; at++)
		if (at[1] == 0x48 && ((at[2] == 0x89 && at[3] == 0xe5) ||
				      (at[2] == 0x8b && at[3] == 0xec)))
			return true;
	return false;
}

/* mov x29, sp or add x29, sp, #n. */
static bool arm64_keeps(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint32_t insn;

		memcpy(&insn, code + i, sizeof(insn));
		if ((insn & 0xffc003ff) == 0x910003fd)
			return true;
	}
	return false;
}

static int look_at(struct elf_file *file, uint64_t vaddr, struct frame_pointers *ret)
{
	uint8_t code[CODE_BYTES];
	uint64_t offset, follow;
	size_t n = sizeof(code);
	int err;

	if (!elf_file_offset(file, vaddr, &offset, &follow))
		return 0; /* a table may say anything */
	if (follow < n)
		n = (size_t)follow;
	err = elf_file_read(file, offset, code, n);
	if (err)
		return err;
	ret->looked_at++;
	if (file->header.e_machine == EM_AARCH64)
		ret->kept += arm64_keeps(code, n);
	else
		ret->kept += x86_keeps(code, n);
	return 0;
}

int frame_pointers_guess(int fd, struct frame_pointers *ret)
{
	AUTO_FREE struct starts *starts = calloc(1, sizeof(*starts));
	struct frame_pointers found = { 0 };
	AUTO_ELF file = { 0 };
	int err;

	if (!starts)
		return fail(-ENOMEM, "no memory for the starts of functions");
	err = elf_file_open(&file, fd);
	if (!err)
		err = find_starts(&file, starts);
	for (size_t i = 0; i < starts->n && !err; i++)
		err = look_at(&file, starts->vaddrs[i], &found);
	if (!err)
		*ret = found;
	return err;
}
