// SPDX-License-Identifier: BSD-2-Clause
#include "obj/dwarf_image.h"

#include "base/error.h"
#include "obj/elf_section.h"
#include "obj/paged_memory.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KEEP_BYTES	   (4u << 20)  /* of a section; most units are less */
#define KEEP_TEXTS	   (64u << 20) /* of packed texts: any may be next */
#define KINDS		   10
#define SECTIONS_MAX	   (2 * KINDS + 2)
#define SECTION_NAME_BYTES 24
#define VIEW_BYTES	   (8u << 10)
#define FOLDER_MAX	   4096
#define MADE_VERSION	   4
#define ABBREV_BYTES	   17

/* All that is asked for; what is left out costs nothing. */
static const struct kind {
	const char *name;
	bool is_text; /* found by offsets from everywhere */
	bool in_lines;
} kinds[KINDS] = {
	{ ".debug_info", false, false },       { ".debug_types", false, false },
	{ ".debug_abbrev", false, false },     { ".debug_line", false, true },
	{ ".debug_line_str", true, true },     { ".debug_str", true, true },
	{ ".debug_str_offsets", false, true }, { ".debug_addr", false, false },
	{ ".debug_ranges", false, false },     { ".debug_rnglists", false, false },
};

/* The head of an ELF file whose sections are elsewhere in the memory. */
struct view {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS_MAX];
	char names[SECTIONS_MAX][SECTION_NAME_BYTES];
	/* of the view of lines, a unit that is made here */
	unsigned char abbrevs[ABBREV_BYTES];
	unsigned char unit[64 + FOLDER_MAX];
};

_Static_assert(sizeof(struct view) <= VIEW_BYTES, "a head");

struct dwarf_image {
	struct paged_memory *memory;
	struct view *whole, *lines;
	size_t bytes;
	struct elf_file file;
	struct paged_part parts[PAGED_PARTS_MAX];
	char names[PAGED_PARTS_MAX][SECTION_NAME_BYTES];
	bool in_lines[PAGED_PARTS_MAX];
	size_t n;
};

/* As it lies there. DWARF_IMAGE_NONE if it is packed in another way. */
static int set_part(struct dwarf_image *image, const Elf64_Shdr *sh, bool is_text,
		    struct paged_part *part)
{
	Elf64_Chdr packed;
	int err;

	*part = (struct paged_part){ .offset = sh->sh_offset,
				     .n = sh->sh_size,
				     .size = sh->sh_size,
				     .keep = KEEP_BYTES };
	if (!(sh->sh_flags & SHF_COMPRESSED))
		return 0;
	if (sh->sh_size < sizeof(packed))
		return DWARF_IMAGE_NONE;
	err = elf_file_read(&image->file, sh->sh_offset, &packed, sizeof(packed));
	if (err)
		return err;
	if (packed.ch_type != ELFCOMPRESS_ZLIB)
		return DWARF_IMAGE_NONE;
	part->offset += sizeof(packed);
	part->n -= sizeof(packed);
	part->size = packed.ch_size;
	part->is_packed = true;
	if (is_text)
		part->keep = KEEP_TEXTS;
	return 0;
}

static int find_part(struct dwarf_image *image, const struct kind *kind,
		     const char *ending)
{
	char *name = image->names[image->n];
	const Elf64_Shdr *sh;
	int err;

	snprintf(name, SECTION_NAME_BYTES, "%s%s", kind->name, ending);
	err = elf_section_find(&image->file, name, &sh);
	if (err || !sh)
		return err;
	image->in_lines[image->n] = kind->in_lines;
	err = set_part(image, sh, kind->is_text, &image->parts[image->n]);
	if (!err)
		image->n++;
	return err;
}

/* What older tools packed, or more names of sections than are looked through. */
static int is_odd(struct elf_file *file)
{
	const Elf64_Shdr *sh = NULL;

	if (file->header.e_shstrndx >= file->n_shdrs ||
	    file->shdrs[file->header.e_shstrndx].sh_size > SECTION_NAMES_MAX)
		return 1;
	return elf_section_find(file, ".zdebug_info", &sh) || sh;
}

static int find_parts(struct dwarf_image *image)
{
	int err = is_odd(&image->file) ? DWARF_IMAGE_NONE : 0;

	for (size_t i = 0; !err && i < KINDS; i++) {
		err = find_part(image, &kinds[i], "");
		if (!err)
			err = find_part(image, &kinds[i], ".dwo");
	}
	return err || image->n ? err : DWARF_IMAGE_NONE;
}

static Elf64_Shdr *add_section(struct view *view, const char *name, uint64_t at,
			       uint64_t size)
{
	size_t i = view->header.e_shnum++;
	Elf64_Shdr *sh = &view->sections[i];

	snprintf(view->names[i], SECTION_NAME_BYTES, "%s", name);
	*sh = (Elf64_Shdr){ .sh_name = (uint32_t)(i * SECTION_NAME_BYTES),
			    .sh_type = SHT_PROGBITS,
			    .sh_offset = at,
			    .sh_size = size,
			    .sh_addralign = 1 };
	return sh;
}

/* at: of the view in the memory. */
static void make_view(const struct dwarf_image *image, struct view *view, size_t at,
		      bool of_lines)
{
	view->header = image->file.header;
	view->header.e_phoff = view->header.e_phnum = 0;
	view->header.e_shoff = offsetof(struct view, sections);
	view->header.e_shnum = 1;
	for (size_t i = 0; i < image->n; i++)
		if (!of_lines || image->in_lines[i])
			add_section(view, image->names[i], image->parts[i].at - at,
				    image->parts[i].size);
	if (of_lines) {
		add_section(view, ".debug_abbrev", offsetof(struct view, abbrevs),
			    sizeof(view->abbrevs));
		add_section(view, ".debug_info", offsetof(struct view, unit), 0);
	}
	view->header.e_shstrndx = view->header.e_shnum;
	add_section(view, ".shstrtab", offsetof(struct view, names), sizeof(view->names))
		->sh_type = SHT_STRTAB;
}

static int map_parts(struct dwarf_image *image, int fd)
{
	int err = paged_memory_new(&image->memory, fd, 2 * VIEW_BYTES, image->parts,
				   image->n);
	char *start;

	if (err)
		return err;
	start = paged_memory_start(image->memory, &image->bytes);
	image->whole = (void *)start;
	image->lines = (void *)(start + VIEW_BYTES);
	make_view(image, image->whole, 0, false);
	make_view(image, image->lines, VIEW_BYTES, true);
	return 0;
}

int dwarf_image_new(struct dwarf_image **ret, int fd)
{
	AUTO(dwarf_image) image = calloc(1, sizeof(*image));
	int err;

	if (!image)
		return fail(-ENOMEM, "no memory for debug information");
	if (elf_file_open(&image->file, fd)) {
		error_clear();
		return DWARF_IMAGE_NONE;
	}
	err = find_parts(image);
	if (!err)
		err = map_parts(image, fd);
	if (!err)
		*ret = GIVE(image);
	return err;
}

void dwarf_image_free(struct dwarf_image *image)
{
	if (!image)
		return;
	paged_memory_free(image->memory);
	elf_file_close(&image->file);
	free(image);
}

void *dwarf_image_bytes(const struct dwarf_image *image, size_t *ret_n)
{
	*ret_n = image->bytes;
	return image->whole;
}

static void put(unsigned char **at, const void *bytes, size_t n)
{
	memcpy(*at, bytes, n);
	*at += n;
}

/* The unit's one entry: where its lines are, and the folder that some count from. */
static size_t make_unit(struct view *view, uint32_t lines, uint8_t address_bytes,
			const char *folder)
{
	static const unsigned char abbrevs[ABBREV_BYTES] = {
		1,
		DW_TAG_compile_unit,
		0,
		DW_AT_stmt_list,
		DW_FORM_sec_offset,
		DW_AT_comp_dir,
		DW_FORM_string,
		0,
		0,
		2,
		DW_TAG_compile_unit,
		0,
		DW_AT_stmt_list,
		DW_FORM_sec_offset,
		0,
		0,
		0,
	};
	const uint8_t code = folder ? 1 : 2;
	const uint16_t version = MADE_VERSION;
	const uint32_t abbrev = 0;
	unsigned char *at = view->unit + sizeof(uint32_t);
	uint32_t n;

	memcpy(view->abbrevs, abbrevs, sizeof(abbrevs));
	put(&at, &version, sizeof(version));
	put(&at, &abbrev, sizeof(abbrev));
	put(&at, &address_bytes, 1);
	put(&at, &code, 1);
	put(&at, &lines, sizeof(lines));
	if (folder)
		put(&at, folder, strlen(folder) + 1);
	n = (uint32_t)(at - view->unit - sizeof(n));
	memcpy(view->unit, &n, sizeof(n));
	return (size_t)(at - view->unit);
}

int dwarf_image_lines(const struct dwarf_image *image, Dwarf_Die *unit, void **ret,
		      size_t *ret_n)
{
	struct view *view = image->lines;
	Elf64_Shdr *info = &view->sections[view->header.e_shstrndx - 1];
	Dwarf_Attribute attr;
	Dwarf_Word lines;
	uint8_t address_bytes = 0;
	const char *folder;

	if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attr), &lines) ||
	    lines > UINT32_MAX ||
	    dwarf_cu_info(unit->cu, NULL, NULL, NULL, NULL, NULL, &address_bytes, NULL))
		return fail(-EBADMSG, "debug information: a unit without lines");
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	if (folder && strlen(folder) >= FOLDER_MAX)
		folder = NULL;
	info->sh_size = make_unit(view, (uint32_t)lines, address_bytes, folder);
	*ret = view;
	*ret_n = image->bytes - VIEW_BYTES;
	return 0;
}

int dwarf_image_error(const struct dwarf_image *image)
{
	int err = paged_memory_error(image->memory);

	return err ? fail(err, "debug information: a section cannot be unpacked") : 0;
}
