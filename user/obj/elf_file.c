// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_file.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PHDRS_MAX 256
#define SHDRS_MAX (128u << 10)

static int read_all(struct elf_file *file, uint64_t offset, void *buf, size_t n)
{
	size_t done = 0;

	if (file->memory) {
		memcpy(buf, file->memory + offset, n);
		return 0;
	}
	while (done < n) {
		ssize_t got = pread(file->fd, (char *)buf + done, n - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(-errno, "cannot read ELF file");
		if (!got)
			return fail(-EBADMSG, "ELF file shrank while it was read");
		done += (size_t)got;
	}
	return 0;
}

void elf_file_stop_recording(struct elf_file *file)
{
	if (file->recorder)
		file->recorder->incomplete = true;
}

/* What its size or the budget refuses says nothing else of a file. */
int elf_file_read(struct elf_file *file, uint64_t offset, void *buf, size_t n)
{
	int err;

	if (offset > file->bytes || n > file->bytes - offset)
		return fail(-EBADMSG, "ELF file is cut short");
	if (n > file->budget)
		return fail(-EBADMSG, "the tables of the ELF file are too large");
	file->budget -= n;
	err = read_all(file, offset, buf, n);
	if (err)
		elf_file_stop_recording(file);
	else if (file->recorder)
		range_recorder_add(file->recorder, offset, buf, n);
	return err;
}

static int check_header(const Elf64_Ehdr *header)
{
	const unsigned char *ident = header->e_ident;

	if (memcmp(ident, ELFMAG, SELFMAG))
		return fail(-ENOEXEC, "not an ELF file");
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return fail(-ENOEXEC, "not a 64-bit little endian ELF file");
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN &&
	    header->e_type != ET_REL)
		return fail(-ENOEXEC, "not an executable or shared object");
	return 0;
}

static int read_phdrs(struct elf_file *file)
{
	size_t n = file->header.e_phnum;

	if (!n)
		return 0;
	if (file->header.e_phentsize != sizeof(Elf64_Phdr))
		return fail(-EBADMSG, "program headers of an unknown size");
	if (n > PHDRS_MAX)
		n = PHDRS_MAX;
	file->phdrs = calloc(n, sizeof(*file->phdrs));
	if (!file->phdrs)
		return fail(-ENOMEM, "no memory for program headers");
	file->n_phdrs = n;
	return elf_file_read(file, file->header.e_phoff, file->phdrs,
			     n * sizeof(*file->phdrs));
}

/* They are no part of the loaded program: without them less is found. */
static int read_shdrs(struct elf_file *file)
{
	size_t n = file->header.e_shnum;

	if (!n || n > SHDRS_MAX || file->header.e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	file->shdrs = calloc(n, sizeof(*file->shdrs));
	if (!file->shdrs)
		return fail(-ENOMEM, "no memory for section headers");
	if (!elf_file_read(file, file->header.e_shoff, file->shdrs,
			   n * sizeof(*file->shdrs)))
		file->n_shdrs = n;
	return 0;
}

static bool is_placed(const Elf64_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && sh->sh_flags & SHF_ALLOC;
}

/*
 * An object file of which nothing is left to link, as wasmtime precompiles modules to: it
 * is mapped as it lies there, so each section's address is its offset. Of another one no
 * address is known.
 */
static int place_sections(struct elf_file *file)
{
	size_t n = 0;

	if (file->n_phdrs)
		return fail(-ENOEXEC, "an object file with program headers");
	for (size_t i = 0; i < file->n_shdrs; i++) {
		if (file->shdrs[i].sh_type == SHT_RELA ||
		    file->shdrs[i].sh_type == SHT_REL)
			return fail(-ENOEXEC, "an object file that is not linked");
		n += is_placed(&file->shdrs[i]);
	}
	if (!n) /* dwz's alternate files hold nothing but debug information */
		return 0;
	if (n > PHDRS_MAX)
		return fail(-ENOEXEC, "an object file of %zu sections", n);
	file->phdrs = calloc(n, sizeof(*file->phdrs));
	if (!file->phdrs)
		return fail(-ENOMEM, "no memory for program headers");
	for (size_t i = 0; i < file->n_shdrs; i++) {
		Elf64_Shdr *sh = &file->shdrs[i];

		if (!is_placed(sh))
			continue;
		sh->sh_addr = sh->sh_offset;
		file->phdrs[file->n_phdrs++] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_R | (sh->sh_flags & SHF_EXECINSTR ? PF_X : 0),
			.p_offset = sh->sh_offset,
			.p_vaddr = sh->sh_offset,
			.p_filesz = sh->sh_size,
			.p_memsz = sh->sh_size,
		};
	}
	return 0;
}

static int read_headers(struct elf_file *file)
{
	int err = elf_file_read(file, 0, &file->header, sizeof(file->header));

	if (!err)
		err = check_header(&file->header);
	if (!err)
		err = read_phdrs(file);
	if (!err)
		err = read_shdrs(file);
	return err || file->header.e_type != ET_REL ? err : place_sections(file);
}

int elf_file_open(struct elf_file *file, int fd)
{
	return elf_file_open_recorded(file, fd, NULL);
}

int elf_file_open_recorded(struct elf_file *file, int fd, struct range_recorder *recorder)
{
	struct stat st;

	*file = (struct elf_file){ .fd = fd,
				   .budget = ELF_READ_MAX,
				   .recorder = recorder };
	if (fstat(fd, &st))
		return fail_errno(-errno, "cannot stat ELF file");
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(file->header))
		return fail(-ENOEXEC, "not an ELF file");
	file->bytes = (uint64_t)st.st_size;
	if (recorder)
		range_recorder_begin(recorder, file->bytes);
	return read_headers(file);
}

int elf_file_open_memory(struct elf_file *file, const void *bytes, size_t n)
{
	*file = (struct elf_file){
		.fd = -1, .memory = bytes, .bytes = n, .budget = ELF_READ_MAX
	};
	if (n < sizeof(file->header))
		return fail(-ENOEXEC, "not an ELF file");
	return read_headers(file);
}

uint64_t elf_file_symbol(const struct elf_file *file, const Elf64_Sym *sym)
{
	bool is_placed = file->header.e_type == ET_REL && sym->st_shndx < file->n_shdrs;

	return sym->st_value + (is_placed ? file->shdrs[sym->st_shndx].sh_addr : 0);
}

void elf_file_close(struct elf_file *file)
{
	free(file->phdrs);
	free(file->shdrs);
	file->phdrs = NULL;
	file->shdrs = NULL;
}

bool elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *ret_offset,
		     uint64_t *ret_bytes)
{
	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];
		uint64_t into = vaddr - ph->p_vaddr;

		if (ph->p_type != PT_LOAD || vaddr < ph->p_vaddr || into >= ph->p_filesz)
			continue;
		if (ph->p_offset > file->bytes || into >= file->bytes - ph->p_offset)
			continue;
		*ret_offset = ph->p_offset + into;
		*ret_bytes = ph->p_filesz - into;
		if (*ret_bytes > file->bytes - *ret_offset)
			*ret_bytes = file->bytes - *ret_offset;
		return true;
	}
	return false;
}

bool elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *ret_vaddr)
{
	bool found = false;

	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];
		uint64_t into = offset - ph->p_offset;

		if (ph->p_type != PT_LOAD || offset < ph->p_offset ||
		    into >= ph->p_filesz || (found && !(ph->p_flags & PF_X)))
			continue;
		*ret_vaddr = ph->p_vaddr + into;
		found = true;
	}
	return found;
}

bool elf_file_loads(const struct elf_file *file, uint64_t vaddr, uint64_t n,
		    uint32_t flags)
{
	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];
		uint64_t into = vaddr - ph->p_vaddr;

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr && into < ph->p_memsz &&
		    n <= ph->p_memsz - into && (ph->p_flags & flags) == flags)
			return true;
	}
	return false;
}

const Elf64_Shdr *elf_file_code_section(const struct elf_file *file, uint64_t vaddr)
{
	for (size_t i = 0; i < file->n_shdrs; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i];

		if (elf_section_is_code(sh) && vaddr >= sh->sh_addr &&
		    vaddr - sh->sh_addr < sh->sh_size)
			return sh;
	}
	return NULL;
}
