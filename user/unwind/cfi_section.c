// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/cfi_section.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_section.h"

#include <errno.h>
#include <zlib.h>

#define HEADER_BYTES 32 /* of .eh_frame_hdr, before its table */

void cfi_section_close(struct cfi_section *section)
{
	free(section->bytes);
	section->bytes = NULL;
	section->n = 0;
}

/* n bytes of the file become the section's. */
static int load(struct elf_file *file, uint64_t offset, uint64_t n,
		struct cfi_section *section)
{
	if (n > CFI_SECTION_MAX)
		return fail(-E2BIG, "more than %u bytes of call frame information",
			    CFI_SECTION_MAX);
	section->bytes = malloc(n ? n : 1);
	if (!section->bytes)
		return fail(-ENOMEM, "no memory for call frame information");
	section->n = n;
	return elf_file_read(file, offset, section->bytes, n);
}

uint64_t cfi_pointer_value(struct cfi_cursor *in, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case CFI_PTR_ABS:
	case CFI_PTR_U8:
	case CFI_PTR_S8:
		return cfi_fixed(in, 8);
	case CFI_PTR_U2:
		return cfi_fixed(in, 2);
	case CFI_PTR_S2:
		return (uint64_t)(int64_t)(int16_t)cfi_fixed(in, 2);
	case CFI_PTR_U4:
		return cfi_fixed(in, 4);
	case CFI_PTR_S4:
		return (uint64_t)(int64_t)(int32_t)cfi_fixed(in, 4);
	case CFI_PTR_ULEB:
		return cfi_uleb(in);
	case CFI_PTR_SLEB:
		return (uint64_t)cfi_sleb(in);
	}
	return cfi_mark_bad(in);
}

uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_cursor *in,
		     uint8_t encoding)
{
	uint64_t place = section->vaddr + (uint64_t)(in->at - section->bytes);

	if (encoding & CFI_PTR_INDIRECT) /* the loader fills it in */
		return cfi_mark_bad(in);
	switch (encoding & 0x70) {
	case CFI_PTR_ABS:
		return cfi_pointer_value(in, encoding);
	case CFI_PTR_PCREL:
		return place + cfi_pointer_value(in, encoding);
	case CFI_PTR_DATAREL:
		return section->header ? section->header + cfi_pointer_value(in, encoding)
				       : cfi_mark_bad(in);
	case CFI_PTR_ALIGNED:
		cfi_skip(in, -place & 7);
		return cfi_fixed(in, 8);
	}
	return cfi_mark_bad(in);
}

static const Elf64_Phdr *find_header(const struct elf_file *file)
{
	for (size_t i = 0; i < file->n_phdrs; i++)
		if (file->phdrs[i].p_type == PT_GNU_EH_FRAME)
			return &file->phdrs[i];
	return NULL;
}

/* .eh_frame_hdr: version 1, three encodings, then .eh_frame's address and how
 * many FDEs there are. False: it does not lead there. */
static bool read_header(struct elf_file *file, const Elf64_Phdr *phdr,
			struct cfi_section *section, uint64_t *ret_vaddr)
{
	uint8_t bytes[HEADER_BYTES];
	size_t n = phdr->p_filesz < sizeof(bytes) ? phdr->p_filesz : sizeof(bytes);
	struct cfi_section header = { .bytes = bytes,
				      .vaddr = phdr->p_vaddr,
				      .header = phdr->p_vaddr };
	struct cfi_cursor in = { .at = bytes, .end = bytes + n };
	uint64_t vaddr, count;

	if (n < 4 || elf_file_read(file, phdr->p_offset, bytes, n))
		return false;
	in.at += 4;
	vaddr = cfi_pointer(&header, &in, bytes[1]);
	if (bytes[0] != 1 || bytes[1] == CFI_PTR_OMIT || in.bad)
		return false;
	*ret_vaddr = vaddr;
	count = bytes[2] == CFI_PTR_OMIT ? 0 : cfi_pointer(&header, &in, bytes[2]);
	section->fdes_at_least = in.bad ? 0 : count;
	return true;
}

int cfi_section_eh(struct elf_file *file, struct cfi_section *ret)
{
	const Elf64_Phdr *phdr = find_header(file);
	const Elf64_Shdr *sh;
	uint64_t vaddr = 0, offset, n;
	bool led = phdr && read_header(file, phdr, ret, &vaddr);
	int err = elf_section_find(file, ".eh_frame", &sh);

	ret->is_eh = true;
	ret->header = phdr ? phdr->p_vaddr : 0;
	if (err)
		return err;
	if (sh && !(sh->sh_flags & SHF_COMPRESSED)) {
		ret->vaddr = sh->sh_addr;
		return load(file, sh->sh_offset, sh->sh_size, ret);
	}
	error_clear();
	if (!led || !elf_file_offset(file, vaddr, &offset, &n))
		return 0;
	ret->vaddr = vaddr;
	ret->ends_at_zero = true;
	return load(file, offset, n < CFI_SECTION_MAX ? n : CFI_SECTION_MAX, ret);
}

static int inflate_section(struct cfi_section *section)
{
	AUTO_FREE uint8_t *packed = GIVE(section->bytes);
	size_t n = section->n;
	uLongf room;
	Elf64_Chdr head;

	section->n = 0;
	if (n < sizeof(head))
		return fail(-EBADMSG, ".debug_frame is cut short");
	memcpy(&head, packed, sizeof(head));
	if (head.ch_type != ELFCOMPRESS_ZLIB || head.ch_size > CFI_SECTION_MAX)
		return fail(
			-EBADMSG,
			".debug_frame is compressed in a way that weft does not read");
	section->bytes = malloc(head.ch_size ? head.ch_size : 1);
	if (!section->bytes)
		return fail(-ENOMEM, "no memory for call frame information");
	room = head.ch_size;
	if (uncompress(section->bytes, &room, packed + sizeof(head), n - sizeof(head)) !=
	    Z_OK)
		return fail(-EBADMSG, ".debug_frame can't be decompressed");
	section->n = room;
	return 0;
}

int cfi_section_debug(struct elf_file *file, struct cfi_section *ret)
{
	const Elf64_Shdr *sh;
	int err = elf_section_find(file, ".debug_frame", &sh);

	if (err || !sh)
		return err;
	err = load(file, sh->sh_offset, sh->sh_size, ret);
	return err || !(sh->sh_flags & SHF_COMPRESSED) ? err : inflate_section(ret);
}
