// SPDX-License-Identifier: BSD-2-Clause
#include "obj/split_package.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_BYTES_MAX (64u << 20)
#define UNIT_BYTES_MAX	(256u << 20)
#define COLUMNS_MAX	8
#define ALIGNMENT	8

/* Of a part's number in the index, by version: which section it is of. */
static const char *const parts_of_gnu[COLUMNS_MAX + 1] = {
	[1] = ".debug_info.dwo", [3] = ".debug_abbrev.dwo",	 [4] = ".debug_line.dwo",
	[5] = ".debug_loc.dwo",	 [6] = ".debug_str_offsets.dwo",
};
static const char *const parts_of_5[COLUMNS_MAX + 1] = {
	[1] = ".debug_info.dwo",	[3] = ".debug_abbrev.dwo",
	[4] = ".debug_line.dwo",	[5] = ".debug_loclists.dwo",
	[6] = ".debug_str_offsets.dwo", [8] = ".debug_rnglists.dwo",
};
static const char all_strings[] = ".debug_str.dwo";

struct index_head {
	uint32_t version, parts, units, slots;
};

struct package {
	struct elf_file file;
	unsigned char *index;
	uint64_t bytes;
	struct index_head head;
};

struct image {
	struct str *out;
	struct str names;
	Elf64_Shdr
		sections[COLUMNS_MAX + 3]; /* none, the parts, all strings, their names */
	size_t n;
};

static uint32_t word(const struct package *package, uint64_t at)
{
	uint32_t value;

	memcpy(&value, package->index + at, sizeof(value));
	return value;
}

/* Behind the head: a number of a unit and which row it has, for each slot; which parts
 * the columns are; for each row where they begin; and how long they are. */
static uint64_t columns_at(const struct package *package)
{
	return sizeof(package->head) + (uint64_t)package->head.slots * 12;
}

static int check_index(const struct package *package)
{
	const struct index_head *head = &package->head;
	uint64_t rows = 2 * (uint64_t)head->units + 1;

	if ((head->version != 2 && head->version != 5) || head->parts > COLUMNS_MAX ||
	    columns_at(package) + rows * head->parts * 4 > package->bytes)
		return fail(-EBADMSG, "the index of a .dwp file is damaged");
	return 0;
}

static int read_index(struct package *package, const Elf64_Shdr *sh)
{
	int err;

	if (sh->sh_flags & SHF_COMPRESSED || sh->sh_size > INDEX_BYTES_MAX ||
	    sh->sh_size < sizeof(package->head))
		return fail(-EBADMSG, "the index of a .dwp file cannot be read");
	package->bytes = sh->sh_size;
	package->index = malloc(sh->sh_size);
	if (!package->index)
		return fail(-ENOMEM, "no memory for the index of a .dwp file");
	err = elf_file_read(&package->file, sh->sh_offset, package->index, sh->sh_size);
	if (err)
		return err;
	memcpy(&package->head, package->index, sizeof(package->head));
	return check_index(package);
}

/* Counted from 1; 0: it is not there. */
static uint32_t find_row(const struct package *package, uint64_t id)
{
	uint64_t at = sizeof(package->head);

	for (uint32_t slot = 0; slot < package->head.slots; slot++) {
		uint64_t its_id;
		uint32_t row;

		memcpy(&its_id, package->index + at + 8ULL * slot, sizeof(its_id));
		if (its_id != id)
			continue;
		row = word(package, at + 8ULL * package->head.slots + 4ULL * slot);
		if (row && row <= package->head.units)
			return row;
	}
	return 0;
}

static void pad(struct str *out)
{
	do
		str_add_char(out, '\0'); /* at least one: strings end in their section */
	while (out->n % ALIGNMENT);
}

static Elf64_Shdr *begin_section(struct image *image, const char *name, uint32_t type)
{
	Elf64_Shdr *sh = &image->sections[image->n++];

	*sh = (Elf64_Shdr){ .sh_name = (uint32_t)image->names.n,
			    .sh_type = type,
			    .sh_offset = image->out->n,
			    .sh_addralign = 1 };
	str_add_bytes(&image->names, name, strlen(name) + 1);
	return sh;
}

/* n bytes of a package's section, from an offset on. */
static int add_part(struct image *image, struct package *package, const char *name,
		    uint64_t offset, uint64_t n)
{
	const Elf64_Shdr *sh;
	AUTO_FREE unsigned char *bytes = NULL;
	int err = elf_section_find(&package->file, name, &sh);

	if (err || !sh)
		return err;
	if (n == UINT64_MAX)
		n = sh->sh_size;
	if (sh->sh_flags & SHF_COMPRESSED || offset > sh->sh_size ||
	    n > sh->sh_size - offset || n > UNIT_BYTES_MAX - image->out->n)
		return fail(-EBADMSG, "%s of a .dwp file cannot be read", name);
	bytes = malloc(n + 1);
	if (!bytes)
		return fail(-ENOMEM, "no memory for %s", name);
	err = elf_file_read(&package->file, sh->sh_offset + offset, bytes, n);
	if (err)
		return err;
	begin_section(image, name, SHT_PROGBITS)->sh_size = n;
	str_add_bytes(image->out, bytes, n);
	pad(image->out);
	return 0;
}

static int add_parts(struct image *image, struct package *package, uint32_t row)
{
	const struct index_head *head = &package->head;
	const char *const *names = head->version == 5 ? parts_of_5 : parts_of_gnu;
	uint64_t ids = columns_at(package);
	uint64_t offsets = ids + 4ULL * head->parts * row;
	uint64_t sizes = offsets + 4ULL * head->parts * head->units;
	int err = 0;

	for (uint32_t i = 0; !err && i < head->parts; i++) {
		uint32_t part = word(package, ids + 4ULL * i);

		if (part <= COLUMNS_MAX && names[part])
			err = add_part(image, package, names[part],
				       word(package, offsets + 4ULL * i),
				       word(package, sizes + 4ULL * i));
	}
	return err ? err : add_part(image, package, all_strings, 0, UINT64_MAX);
}

static int finish(struct image *image, const struct package *package)
{
	Elf64_Ehdr header = package->file.header;
	Elf64_Shdr *names = begin_section(image, ".shstrtab", SHT_STRTAB);

	names->sh_size = image->names.n;
	str_add_bytes(image->out, image->names.s, image->names.n);
	pad(image->out);
	header.e_shoff = image->out->n;
	header.e_shnum = (uint16_t)image->n;
	header.e_shstrndx = (uint16_t)(image->n - 1);
	header.e_phoff = header.e_phnum = 0;
	str_add_bytes(image->out, image->sections, image->n * sizeof(*image->sections));
	if (str_error(image->out) || str_error(&image->names))
		return fail(-ENOMEM, "no memory for a unit of a .dwp file");
	memcpy(image->out->s, &header, sizeof(header));
	return 0;
}

static int make_image(struct package *package, uint32_t row, struct str *ret)
{
	struct image image = { .out = ret, .n = 1 };
	int err;

	str_add_bytes(ret, &package->file.header, sizeof(package->file.header));
	str_add_char(&image.names, '\0');
	err = add_parts(&image, package, row);
	if (!err)
		err = finish(&image, package);
	str_free(&image.names);
	return err;
}

int split_package_take(int fd, uint64_t id, bool *ret_is_package, struct str *ret)
{
	struct package package = { 0 };
	const Elf64_Shdr *sh = NULL;
	uint32_t row;
	int err = elf_file_open(&package.file, fd);

	if (!err)
		err = elf_section_find(&package.file, ".debug_cu_index", &sh);
	*ret_is_package = sh;
	if (!err && sh)
		err = read_index(&package, sh);
	row = !err && sh ? find_row(&package, id) : 0;
	if (row)
		err = make_image(&package, row, ret);
	free(package.index);
	elf_file_close(&package.file);
	return err;
}
