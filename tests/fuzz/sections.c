// SPDX-License-Identifier: BSD-2-Clause
#include "sections.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PACKED_MAX (2 * SECTION_BYTES_MAX)
#define BOLT_NAME  16 /* behind the section's */

struct layout {
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[3]; /* code, what is read, .eh_frame_hdr */
	Elf64_Shdr shdrs[4]; /* null, names, the section, BOLT's note */
	char names[32];
	uint8_t eh_frame_hdr[8];
	uint8_t section[PACKED_MAX];
};

static void add(struct sections *sections, const uint8_t *file, const Elf64_Shdr *sh,
		bool debug)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	struct section *section = &sections->items[sections->n];

	if (sections->n == SECTIONS_MAX || sh->sh_type == SHT_NOBITS || !sh->sh_size ||
	    (sh->sh_flags & SHF_COMPRESSED))
		return;
	section->n = sh->sh_size < SECTION_BYTES_MAX ? sh->sh_size : SECTION_BYTES_MAX;
	section->bytes = malloc(section->n);
	memcpy(section->bytes, file + sh->sh_offset, section->n);
	section->vaddr = debug ? 0 : sh->sh_addr;
	section->arm64 = header->e_machine == EM_AARCH64;
	section->debug = debug;
	sections->n++;
}

/* Trusts the file: it is one of ours. */
void sections_add(struct sections *sections, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *header;
	const Elf64_Shdr *shdrs;
	struct stat st;
	uint8_t *file;

	if (fd < 0 || fstat(fd, &st))
		return;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return;
	header = (const Elf64_Ehdr *)file;
	shdrs = (const Elf64_Shdr *)(file + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		const char *name = (const char *)file +
				   shdrs[header->e_shstrndx].sh_offset + shdrs[i].sh_name;

		if (!strcmp(name, ".eh_frame") || !strcmp(name, ".debug_frame"))
			add(sections, file, &shdrs[i], name[1] == 'd');
	}
	munmap(file, (size_t)st.st_size);
}

void sections_free(struct sections *sections)
{
	for (size_t i = 0; i < sections->n; i++)
		free(sections->items[i].bytes);
	sections->n = 0;
}

int section_file_open(struct section_file *file)
{
	file->section = malloc(SECTION_BYTES_MAX);
	file->packed = malloc(PACKED_MAX);
	return !file->section || !file->packed ? -1 : 0;
}

void section_file_close(struct section_file *file)
{
	free(file->section);
	free(file->packed);
}

static void write_headers(struct layout *layout, const struct section_shape *shape,
			  size_t n, bool packed)
{
	const uint64_t at = offsetof(struct layout, section);
	const uint64_t hdr = offsetof(struct layout, eh_frame_hdr);
	int32_t distance = (int32_t)(at - hdr - 4);

	layout->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
		.e_type = ET_DYN,
		.e_machine = shape->arm64 ? EM_AARCH64 : EM_X86_64,
		.e_phoff = offsetof(struct layout, phdrs),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = shape->headers ? 2 : 3,
		.e_shoff = offsetof(struct layout, shdrs),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = !shape->headers ? 0
			   : shape->bolt   ? 4
					   : 3,
		.e_shstrndx = 1,
	};
	layout->phdrs[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_offset = 64,
					 .p_vaddr = 64,
					 .p_filesz = sizeof(*layout),
					 .p_memsz = 1u << 21 };
	layout->phdrs[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
					 .p_flags = PF_R,
					 .p_offset = hdr,
					 .p_vaddr = shape->vaddr + hdr - at,
					 .p_filesz = sizeof(*layout) - hdr };
	layout->phdrs[2] = layout->phdrs[1];
	layout->phdrs[2].p_type = PT_GNU_EH_FRAME;
	layout->shdrs[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct layout, names),
					 .sh_size = sizeof(layout->names) };
	layout->shdrs[2] = (Elf64_Shdr){ .sh_name = 1,
					 .sh_type = SHT_PROGBITS,
					 .sh_flags = packed ? SHF_COMPRESSED : 0,
					 .sh_addr = shape->vaddr,
					 .sh_offset = at,
					 .sh_size = n };
	layout->shdrs[3] = (Elf64_Shdr){ .sh_name = BOLT_NAME,
					 .sh_type = SHT_NOTE,
					 .sh_offset = offsetof(struct layout, names),
					 .sh_size = sizeof(layout->names) };
	strcpy(layout->names + BOLT_NAME, ".note.bolt_info");
	strcpy(layout->names + 1, shape->debug ? ".debug_frame" : ".eh_frame");
	memcpy(layout->eh_frame_hdr, "\x01\x1b\xff\xff", 4);
	memcpy(layout->eh_frame_hdr + 4, &distance, sizeof(distance));
}

static size_t pack(struct section_file *file, size_t n)
{
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = n };
	uLongf room = PACKED_MAX - sizeof(head);

	memcpy(file->packed, &head, sizeof(head));
	if (compress2(file->packed + sizeof(head), &room, file->section, n, 1) != Z_OK)
		return 0;
	return sizeof(head) + room;
}

static struct layout now;
static size_t now_bytes;

void section_file_write(struct section_file *file, const struct section_shape *shape,
			size_t n)
{
	size_t packed = shape->packed && shape->debug ? pack(file, n) : 0;
	const uint8_t *bytes = packed ? file->packed : file->section;

	n = packed ? packed : n;
	write_headers(&now, shape, n, packed != 0);
	memcpy(now.section, bytes, n);
	now_bytes = offsetof(struct layout, section) + n;
}

int __real_fstat(int fd, struct stat *st);
ssize_t __real_pread(int fd, void *buf, size_t n, off_t offset);
int __wrap_fstat(int fd, struct stat *st);
ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t offset);

int __wrap_fstat(int fd, struct stat *st)
{
	if (fd != SECTION_FD)
		return __real_fstat(fd, st);
	*st = (struct stat){ .st_mode = S_IFREG, .st_size = (off_t)now_bytes };
	return 0;
}

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t offset)
{
	size_t at = (size_t)offset;

	if (fd != SECTION_FD)
		return __real_pread(fd, buf, n, offset);
	if (at >= now_bytes)
		return 0;
	n = n < now_bytes - at ? n : now_bytes - at;
	memcpy(buf, (const char *)&now + at, n);
	return (ssize_t)n;
}
