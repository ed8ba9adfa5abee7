// SPDX-License-Identifier: BSD-2-Clause
/* Which files hold the functions of a program's units, and what tells each of them from
 * others (obj/split_unit.h). */
#include "obj/dwarf_file.h"
#include "obj/dwarf_ref.h"
#include "obj/elf_section.h"
#include "obj/names.h"
#include "obj/split_unit.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "base/str.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#define HEAD_BYTES     9   /* of a unit: up to its type */
#define SKELETON_BYTES 128 /* before version 5 only that tells one */
#define DWARF_64       0xfffffff0

/* Has a file a unit that may be a skeleton? libdw would read all of its debug information
 * to say so, and most files have none: all that have some have addresses for them, by
 * number. Where it is packed or odd, libdw is asked. */
static bool may_have_skeletons(int fd)
{
	AUTO_ELF file = { 0 };
	const Elf64_Shdr *sh;
	unsigned char head[HEAD_BYTES];
	uint32_t n;

	if (elf_file_open(&file, fd) || elf_section_find(&file, ".debug_addr", &sh) ||
	    (sh && elf_section_find(&file, ".debug_info", &sh))) {
		error_clear();
		return false;
	}
	for (uint64_t at = 0; sh && at + sizeof(head) < sh->sh_size; at += 4 + n) {
		if (sh->sh_flags & SHF_COMPRESSED ||
		    elf_file_read(&file, sh->sh_offset + at, head, sizeof(head)))
			return true;
		memcpy(&n, head, sizeof(n));
		if (n >= DWARF_64)
			return true;
		if (head[4] >= 5 ? head[6] == DW_UT_skeleton : n < SKELETON_BYTES)
			return true;
	}
	return false;
}

struct split_links {
	uint64_t *addrs; /* ascending */
	size_t n, told;
	struct str path;
	name_sink sink;
	void *arg;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool holds_any(const struct split_links *links, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		size_t i = LOWER_BOUND(links->n, k, links->addrs[k] < start);

		if (start && i < links->n && links->addrs[i] < end)
			return true;
	}
	return false;
}

static const char *text_of(Dwarf_Die *unit, unsigned int name, unsigned int gnu_name)
{
	Dwarf_Attribute attr;

	return dwarf_ref_text(dwarf_attr(unit, name, &attr)
				      ?: dwarf_attr(unit, gnu_name, &attr));
}

static int tell(struct split_links *links, Dwarf_Die *unit)
{
	const char *name = text_of(unit, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
	const char *folder = text_of(unit, DW_AT_comp_dir, DW_AT_comp_dir);
	uint64_t id;

	if (!name || !*name || !split_unit_is_skeleton(unit, &id) ||
	    !holds_any(links, unit))
		return 0;
	str_clear(&links->path);
	if (*name != '/' && folder)
		str_addf(&links->path, "%s/", folder);
	str_add(&links->path, name);
	if (links->path.failed)
		return str_error(&links->path);
	return links->sink(links->arg, links->told++, links->path.s, id);
}

static int tell_all(struct split_links *links, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int more = 0, err = 0;

	while (!err && links->told < links->n &&
	       !(more = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL)))
		if (type == DW_UT_skeleton)
			err = tell(links, &die);
	if (!err && more < 0)
		return fail(-EBADMSG, "debug information: %s", dwarf_errmsg(-1));
	return err < 0 ? err : 0;
}

int elf_splits(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_FREE uint64_t *sorted = calloc(n + 1, sizeof(*sorted));
	struct split_links links = { .addrs = sorted, .n = n, .sink = sink, .arg = arg };
	AUTO_DWARF file = { 0 };
	int err;

	if (!sorted)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	memcpy(sorted, addrs, n * sizeof(*addrs));
	qsort(sorted, n, sizeof(*sorted), by_value);
	err = may_have_skeletons(fd) ? dwarf_file_open(&file, fd) : 0;
	if (!err && file.dwarf)
		err = tell_all(&links, file.dwarf);
	str_free(&links.path);
	return err;
}
