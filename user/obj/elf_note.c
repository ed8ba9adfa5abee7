// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_note.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

/* One of ours is 32 bytes for each object that was linked in. */
#define NOTES_BYTES_MAX (1u << 20)

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

struct notes {
	const unsigned char *bytes;
	size_t n;
	uint64_t vaddr, align;
};

static void walk(const struct notes *notes, elf_note_sink sink, void *arg)
{
	const unsigned char *bytes = notes->bytes;
	uint64_t n = notes->n, align = notes->align, at = 0;
	Elf64_Nhdr head;

	while (n - at >= sizeof(head)) {
		uint64_t owner = at + sizeof(head), desc, end;

		memcpy(&head, bytes + at, sizeof(head));
		desc = align_up(owner + head.n_namesz, align);
		end = desc + head.n_descsz;
		if (desc > n || end > n)
			return;
		sink(arg, &(struct elf_note){
				  .owner = (const char *)bytes + owner,
				  .owner_bytes = head.n_namesz,
				  .type = head.n_type,
				  .desc = bytes + desc,
				  .desc_bytes = head.n_descsz,
				  .desc_vaddr = notes->vaddr + desc,
			  });
		at = align_up(end, align);
		if (at > n)
			return;
	}
}

/* where: offset, size, address and alignment of the notes. */
static int read_notes(struct elf_file *file, const Elf64_Phdr *where, elf_note_sink sink,
		      void *arg)
{
	AUTO_FREE unsigned char *bytes = NULL;
	size_t n = where->p_filesz;
	int err;

	if (n > NOTES_BYTES_MAX)
		n = NOTES_BYTES_MAX;
	bytes = malloc(n + 1);
	if (!bytes)
		return fail(-ENOMEM, "no memory for notes");
	err = elf_file_read(file, where->p_offset, bytes, n);
	if (!err)
		walk(&(struct notes){ bytes, n, where->p_vaddr,
				      where->p_align == 8 ? 8 : 4 },
		     sink, arg);
	return err == -EBADMSG ? 0 : err;
}

int elf_note_each(struct elf_file *file, elf_note_sink sink, void *arg)
{
	int err = 0;

	for (size_t i = 0; !err && i < file->n_phdrs; i++)
		if (file->phdrs[i].p_type == PT_NOTE && file->phdrs[i].p_filesz)
			err = read_notes(file, &file->phdrs[i], sink, arg);
	return err;
}

int elf_note_section(struct elf_file *file, const Elf64_Shdr *sh, elf_note_sink sink,
		     void *arg)
{
	const Elf64_Phdr where = {
		.p_offset = sh->sh_offset,
		.p_filesz = sh->sh_size,
		.p_vaddr = sh->sh_addr,
		.p_align = sh->sh_addralign,
	};

	return read_notes(file, &where, sink, arg);
}

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type)
{
	size_t n = strlen(owner) + 1;

	/* Go's linker counts the name's padding, too */
	return note->type == type && note->owner_bytes >= n &&
	       note->owner_bytes <= align_up(n, 4) && !memcmp(note->owner, owner, n);
}
