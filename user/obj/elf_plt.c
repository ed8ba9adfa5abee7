// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_plt.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "obj/x86_insn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STUB_BYTES 16 /* of x86-64; .plt.got has 8, arm64 with bti 24 */
#define R11D_BYTES 6  /* mov $n, %r11d */

struct code {
	uint64_t vaddr;
	const unsigned char *bytes;
	size_t n;
};

/* [endbr64] [bnd] jmp *slot(%rip); mold's with mov $n, %r11d before it */
static bool decode_x86(const struct code *code, uint64_t *ret_slot)
{
	size_t at = x86_insn_endbr64(code->bytes, code->n);
	int32_t distance;

	if (code->n - at > R11D_BYTES && code->bytes[at] == 0x41 &&
	    code->bytes[at + 1] == 0xbb)
		at += R11D_BYTES;
	if (at < code->n && code->bytes[at] == 0xf2)
		at++;
	if (code->n - at < 6 || code->bytes[at] != 0xff || code->bytes[at + 1] != 0x25)
		return false;
	memcpy(&distance, code->bytes + at + 2, sizeof(distance));
	*ret_slot = code->vaddr + at + 6 + (uint64_t)(int64_t)distance;
	return true;
}

/* [bti c] adrp x16, page; ldr x17, [x16, #slot] */
static bool decode_arm64(const struct code *code, uint64_t *ret_slot)
{
	const uint32_t bti_c = 0xd503245f;
	uint64_t vaddr = code->vaddr;
	uint32_t words[3];
	size_t i = 0;
	int64_t page;

	if (code->n < sizeof(words))
		return false;
	memcpy(words, code->bytes, sizeof(words));
	if (words[0] == bti_c)
		i++;
	if ((words[i] & 0x9f00001f) != 0x90000010 ||
	    (words[i + 1] & 0xffc003ff) != 0xf9400211)
		return false;
	page = (int64_t)((uint64_t)(words[i] >> 5 & 0x7ffff) << 45) >> 31;
	page |= (int64_t)(words[i] >> 29 & 3) << 12;
	vaddr += 4 * i;
	*ret_slot = (vaddr & ~0xfffULL) + (uint64_t)page +
		    8 * (uint64_t)(words[i + 1] >> 10 & 0xfff);
	return true;
}

/* .plt.sec: with IBT what calls go to; .plt.got: bound at the start; .iplt: of
 * indirect functions, as lld has it. */
static const char *const names[] = { ".plt",  ".plt.sec", ".plt.got",
				     ".iplt", ".init",	  ".fini" };

#define N_NAMES	   (sizeof(names) / sizeof(*names))
#define FIRST_INIT 4

/* Which of these a section has; N_NAMES: none. */
static size_t name_of(struct elf_file *file, const Elf64_Shdr *sh)
{
	const Elf64_Shdr *strings;
	char name[10] = "";
	size_t room = sizeof(name) - 1, i = 0;

	if (file->header.e_shstrndx >= file->n_shdrs)
		return N_NAMES;
	strings = &file->shdrs[file->header.e_shstrndx];
	if (sh->sh_name >= strings->sh_size)
		return N_NAMES;
	if (room > strings->sh_size - sh->sh_name)
		room = strings->sh_size - sh->sh_name;
	if (elf_file_read(file, strings->sh_offset + sh->sh_name, name, room))
		return N_NAMES;
	while (i < N_NAMES && strcmp(name, names[i]))
		i++;
	return i;
}

size_t elf_plt_find(struct elf_file *file, struct elf_code ret[ELF_CODE_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < file->n_shdrs && n < ELF_CODE_MAX; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i];
		size_t name;

		if (!elf_section_is_code(sh) ||
		    !elf_file_loads(file, sh->sh_addr, sh->sh_size, PF_X))
			continue;
		name = name_of(file, sh);
		if (name < N_NAMES)
			ret[n++] =
				(struct elf_code){ sh->sh_addr, sh->sh_addr + sh->sh_size,
						   name >= FIRST_INIT };
	}
	return n;
}

/* A stub begins at the address or some instructions before it, in steps of
 * the smallest stub there is. */
static bool find_start(struct elf_file *file, const Elf64_Shdr *sh, struct elf_stub *stub)
{
	bool is_x86 = file->header.e_machine == EM_X86_64;
	uint64_t step = is_x86 ? 8 : 4;
	uint64_t most = is_x86 ? STUB_BYTES : 24;
	uint64_t into = (stub->vaddr - sh->sh_addr) & ~(step - 1);
	unsigned char bytes[STUB_BYTES];

	for (uint64_t back = 0; back < most && back <= into; back += step) {
		struct code code = { sh->sh_addr + into - back, bytes, sizeof(bytes) };

		if (code.n > sh->sh_size - (into - back))
			code.n = sh->sh_size - (into - back);
		if (elf_file_read(file, sh->sh_offset + into - back, bytes, code.n))
			return false;
		if (is_x86 ? decode_x86(&code, &stub->slot)
			   : decode_arm64(&code, &stub->slot)) {
			stub->start = code.vaddr;
			return true;
		}
	}
	return false;
}

static int by_slot(const void *a, const void *b)
{
	const struct elf_stub *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

size_t elf_plt_decode(struct elf_file *file, struct elf_stub *stubs, size_t n)
{
	const Elf64_Shdr *plt = NULL;
	size_t kept = 0;

	if (file->header.e_machine != EM_X86_64 && file->header.e_machine != EM_AARCH64)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct elf_stub stub = stubs[i];
		const Elf64_Shdr *sh = plt;

		if (!sh || stub.vaddr < sh->sh_addr ||
		    stub.vaddr - sh->sh_addr >= sh->sh_size)
			sh = elf_file_code_section(file, stub.vaddr);
		if (!sh || (sh != plt && name_of(file, sh) >= FIRST_INIT))
			continue;
		plt = sh;
		if (find_start(file, sh, &stub))
			stubs[kept++] = stub;
	}
	qsort(stubs, kept, sizeof(*stubs), by_slot);
	return kept;
}

static bool fills_slot(const struct elf_file *file, const Elf64_Rela *rela)
{
	uint32_t type = ELF64_R_TYPE(rela->r_info);

	if (rela->r_addend)
		return false;
	if (file->header.e_machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static int take_rela(struct elf_file *file, const struct elf_table *table,
		     const Elf64_Rela *rela, struct elf_stub *stubs, size_t n)
{
	uint64_t index = ELF64_R_SYM(rela->r_info);
	size_t at = LOWER_BOUND(n, i, stubs[i].slot < rela->r_offset);
	Elf64_Sym sym;
	int err;

	if (at == n || stubs[at].slot != rela->r_offset || stubs[at].found || !index ||
	    index >= table->n_syms)
		return 0;
	err = elf_file_read(file, table->syms_offset + index * sizeof(sym), &sym,
			    sizeof(sym));
	for (; !err && at < n && stubs[at].slot == rela->r_offset; at++) {
		stubs[at].name = sym.st_name;
		stubs[at].found = true;
	}
	return err;
}

struct relas {
	uint64_t vaddr, bytes;
};

static int read_relas(struct elf_file *file, const struct elf_table *table,
		      struct relas where, struct elf_stub *stubs, size_t n)
{
	const size_t most = ELF_PIECE_MAX / sizeof(Elf64_Rela);
	AUTO_FREE Elf64_Rela *relas = malloc(most * sizeof(*relas));
	uint64_t offset, room, left;
	int err = 0;

	if (!relas)
		return fail(-ENOMEM, "no memory for relocations");
	if (!where.vaddr || !elf_file_offset(file, where.vaddr, &offset, &room))
		return 0;
	left = (where.bytes < room ? where.bytes : room) / sizeof(*relas);
	for (; !err && left; offset += most * sizeof(*relas)) {
		size_t some = left < most ? left : most;

		err = elf_file_read(file, offset, relas, some * sizeof(*relas));
		for (size_t i = 0; !err && i < some; i++)
			if (fills_slot(file, &relas[i]))
				err = take_rela(file, table, &relas[i], stubs, n);
		left -= some;
	}
	return err;
}

int elf_plt_resolve(struct elf_file *file, const struct elf_dynamic *dynamic,
		    struct elf_stub *stubs, size_t n)
{
	const struct relas lazy = { dynamic->jmprel, dynamic->jmprel_bytes };
	const struct relas eager = { dynamic->rela, dynamic->rela_bytes };
	int err = read_relas(file, &dynamic->table, lazy, stubs, n);

	for (size_t i = 0; !err && i < n; i++)
		if (!stubs[i].found) /* .plt.got: bound at start, not lazily */
			return read_relas(file, &dynamic->table, eager, stubs, n);
	return err;
}
