// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_tls.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <stdlib.h>

#define ARM64_TCB_BYTES 16 /* that the ABI puts before a program's variables */

static const Elf64_Phdr *tls_segment(const struct elf_file *file)
{
	for (size_t i = 0; i < file->n_phdrs; i++)
		if (file->phdrs[i].p_type == PT_TLS)
			return &file->phdrs[i];
	return NULL;
}

/*
 * A program's own segment is the one next to the thread pointer: on x86-64 below it, on
 * arm64 behind 16 bytes above it, at an address that is to its alignment what the
 * segment's address is. Linkers count on it, so no C library does otherwise.
 */
static bool program_offset(uint16_t machine, const Elf64_Phdr *ph, int64_t *ret)
{
	uint64_t mask = ph->p_align ? ph->p_align - 1 : 0;

	if (machine == EM_X86_64) {
		*ret = -(int64_t)(ph->p_memsz + (-(ph->p_vaddr + ph->p_memsz) & mask));
		return true;
	}
	if (machine == EM_AARCH64) {
		*ret = (int64_t)(ARM64_TCB_BYTES +
				 ((ph->p_vaddr - ARM64_TCB_BYTES) & mask));
		return true;
	}
	return false;
}

static bool is_sound(const Elf64_Phdr *ph, const Elf64_Sym *sym)
{
	if (!ph || ph->p_align & (ph->p_align - 1))
		return false;
	return ph->p_memsz >= sizeof(void *) &&
	       sym->st_value <= ph->p_memsz - sizeof(void *);
}

/* What of a library is gone through: a lie has no end. */
#define RELOCATIONS_MAX	 (4u << 20)
#define SYMBOLS_READ_MAX 64

struct context_search {
	struct elf_file *file;
	const struct elf_dynamic *dynamic;
	const Elf64_Sym *sym;
	struct tls_variable *ret;
	unsigned int n_candidates;
};

static enum tls_access access_of(uint16_t machine, uint32_t type)
{
	static const struct {
		uint16_t machine;
		uint32_t type;
		enum tls_access access;
	} known[] = {
		{ EM_X86_64, R_X86_64_TPOFF64, TLS_BY_WORD },
		{ EM_X86_64, R_X86_64_DTPMOD64, TLS_BY_MODULE },
		{ EM_X86_64, R_X86_64_TLSDESC, TLS_BY_DESCRIPTOR },
		{ EM_AARCH64, R_AARCH64_TLS_TPREL, TLS_BY_WORD },
		{ EM_AARCH64, R_AARCH64_TLS_DTPMOD, TLS_BY_MODULE },
		{ EM_AARCH64, R_AARCH64_TLSDESC, TLS_BY_DESCRIPTOR },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].machine == machine && known[i].type == type)
			return known[i].access;
	return TLS_NONE;
}

/* Of a library that was linked so that nobody else's variable goes before its own, a
 * relocation says where in the block it means, but for that of a module's number. */
static bool is_for(struct context_search *search, const Elf64_Rela *rela,
		   enum tls_access access)
{
	const struct elf_table *table = &search->dynamic->table;
	uint64_t index = ELF64_R_SYM(rela->r_info);
	Elf64_Sym sym;

	if (!index)
		return access != TLS_BY_MODULE &&
		       (uint64_t)rela->r_addend == search->sym->st_value;
	if (index >= table->n_syms || search->n_candidates++ >= SYMBOLS_READ_MAX)
		return false;
	if (elf_file_read(search->file, table->syms_offset + index * sizeof(sym), &sym,
			  sizeof(sym))) {
		error_clear();
		return false;
	}
	return sym.st_name == search->sym->st_name && !rela->r_addend;
}

static bool try_relocation(struct context_search *search, const Elf64_Rela *rela)
{
	enum tls_access access =
		access_of(search->file->header.e_machine, ELF64_R_TYPE(rela->r_info));

	if (access == TLS_NONE || !is_for(search, rela, access) ||
	    !elf_file_loads(search->file, rela->r_offset, 2 * sizeof(uint64_t), PF_R))
		return false;
	search->ret->access = access;
	search->ret->at = (int64_t)rela->r_offset;
	return true;
}

static bool search_relocations(struct context_search *search, uint64_t vaddr,
			       uint64_t bytes)
{
	AUTO_FREE Elf64_Rela *piece = malloc(ELF_PIECE_MAX);
	const uint64_t most = ELF_PIECE_MAX / sizeof(*piece);
	uint64_t offset, room, n;

	if (!piece || !vaddr || !elf_file_offset(search->file, vaddr, &offset, &room))
		return false;
	n = (bytes < room ? bytes : room) / sizeof(*piece);
	if (n > RELOCATIONS_MAX)
		n = RELOCATIONS_MAX;
	for (uint64_t at = 0; at < n; at += most) {
		size_t some = n - at < most ? n - at : most;

		if (elf_file_read(search->file, offset + at * sizeof(*piece), piece,
				  some * sizeof(*piece))) {
			error_clear();
			return false;
		}
		for (size_t i = 0; i < some; i++)
			if (try_relocation(search, &piece[i]))
				return true;
	}
	return false;
}

static void find_words(struct elf_file *file, const struct elf_dynamic *dynamic,
		       const Elf64_Sym *sym, struct tls_variable *ret)
{
	struct context_search search = { file, dynamic, sym, ret, 0 };

	if (!search_relocations(&search, dynamic->rela, dynamic->rela_bytes))
		search_relocations(&search, dynamic->jmprel, dynamic->jmprel_bytes);
}

void elf_tls_variable(struct elf_file *file, const struct elf_dynamic *dynamic,
		      const Elf64_Sym *sym, struct tls_variable *ret)
{
	const Elf64_Phdr *ph = tls_segment(file);
	int64_t offset;

	if (ELF64_ST_TYPE(sym->st_info) != STT_TLS || !is_sound(ph, sym))
		return;
	if (file->header.e_type != ET_EXEC && !dynamic->is_program) {
		find_words(file, dynamic, sym, ret);
		return;
	}
	if (!program_offset(file->header.e_machine, ph, &offset))
		return;
	ret->access = TLS_BY_OFFSET;
	ret->at = offset + (int64_t)sym->st_value;
}
