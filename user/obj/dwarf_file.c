// SPDX-License-Identifier: BSD-2-Clause
#include "obj/dwarf_file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/dwarf_image.h"
#include "obj/split_package.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (512u << 20) /* of a file's debug information, as it lies there */

/* The name of a section, or NULL. */
static const char *name_of(Elf *elf, Elf_Scn *section, GElf_Shdr *sh)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(section, sh))
		return NULL;
	return elf_strptr(elf, names, sh->sh_name);
}

/* Also where it is more than is read. */
static int has_debug_information(Elf *elf, bool *ret)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;
	GElf_Shdr sh;

	*ret = false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = name_of(elf, section, &sh);
		const char *part;

		if (!name || sh.sh_type == SHT_NOBITS ||
		    (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8)))
			continue;
		part = strchr(name, '_');
		*ret = *ret || !strcmp(part, "_info") || !strcmp(part, "_info.dwo");
		if (sh.sh_size > BYTES_MAX - bytes)
			return fail(-EFBIG, "more debug information than weft reads");
		bytes += sh.sh_size;
	}
	return 0;
}

/* In place of the file's own, where there is one. */
static int take_image(struct dwarf_file *file, int fd)
{
	void *bytes;
	size_t n;
	int err = dwarf_image_new(&file->image, fd);

	if (err)
		return err == DWARF_IMAGE_NONE ? 0 : err;
	elf_end(file->elf);
	bytes = dwarf_image_bytes(file->image, &n);
	file->elf = elf_memory(bytes, n);
	return file->elf ? 0 : fail(-ENOMEM, "no memory for debug information");
}

/* fd: its bytes; -1: they are in memory. */
static int begin(struct dwarf_file *file, int fd)
{
	bool has;
	int err;

	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return fail(-ENOEXEC, "not an ELF file");
	err = has_debug_information(file->elf, &has);
	if (!err && has && fd >= 0)
		err = take_image(file, fd);
	if (err || !has)
		return err;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return file->dwarf ? 0
			   : fail(-EBADMSG, "debug information: %s", dwarf_errmsg(-1));
}

int dwarf_file_open(struct dwarf_file *file, int fd)
{
	elf_version(EV_CURRENT);
	file->elf = elf_begin(fd, ELF_C_READ, NULL);
	return begin(file, fd);
}

int dwarf_file_open_split(struct dwarf_file *file, int fd, uint64_t id)
{
	AUTO_STR unit = { 0 };
	bool is_package = false;
	int err = split_package_take(fd, id, &is_package, &unit);

	if (err || !is_package)
		return err ? err : dwarf_file_open(file, fd);
	if (!unit.n)
		return fail(-EBADMSG, "a .dwp file has no such unit");
	elf_version(EV_CURRENT);
	file->elf = elf_memory(unit.s, unit.n);
	file->memory = GIVE(unit.s);
	return begin(file, -1);
}

void dwarf_file_close(struct dwarf_file *file)
{
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	dwarf_image_free(file->image);
	free(file->memory);
	*file = (struct dwarf_file){ 0 };
}

void dwarf_lines_open(struct dwarf_lines *lines, const struct dwarf_file *file,
		      Dwarf_Die *unit)
{
	Dwarf_CU *first = NULL;
	void *bytes;
	size_t n;

	*lines = (struct dwarf_lines){ .unit = *unit };
	if (!file->image)
		return;
	if (dwarf_image_lines(file->image, unit, &bytes, &n)) {
		error_clear();
		return;
	}
	lines->elf = elf_memory(bytes, n);
	lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
	if (dwarf_get_units(lines->dwarf, NULL, &first, NULL, NULL, &lines->unit, NULL))
		lines->unit = *unit;
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	*lines = (struct dwarf_lines){ 0 };
}

int dwarf_file_error(const struct dwarf_file *file)
{
	return file->image ? dwarf_image_error(file->image) : 0;
}

struct dwarf_bytes dwarf_file_section(const struct dwarf_file *file, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;

	while ((section = elf_nextscn(file->elf, section))) {
		const char *its = name_of(file->elf, section, &sh);
		Elf_Data *data;

		if (!its || strcmp(its, name) || sh.sh_type == SHT_NOBITS)
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		return (struct dwarf_bytes){ data->d_buf, (unsigned char *)data->d_buf +
								  data->d_size };
	}
	return (struct dwarf_bytes){ 0 };
}
