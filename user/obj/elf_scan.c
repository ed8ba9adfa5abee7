// SPDX-License-Identifier: BSD-2-Clause
/*
 * What cannot be read of notes and symbols is left out; only a file whose
 * headers are garbage fails as a whole, since the rest is of use without.
 */
#include "obj/elf_scan.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_find.h"
#include "obj/elf_marks.h"
#include "obj/elf_note.h"
#include "obj/elf_tls.h"
#include "shared/async_abi.h"
#include "shared/hotspot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define GLIBC_SPECIFIC	     "_thread_db_pthread_specific"
#define SPECIFIC_LARGEST     8192 /* struct pthread is some 2 KB */
#define NAME_OF_LIBC_LONGEST 256

enum {
	KEY,
	METADATA,
	SUSPENDED,
	CONTEXT,
	HOTSPOT,
	HOTSPOT_TYPES,
	SPECIFIC,
	OF_GLIBC,
	OF_STATIC_GLIBC,
	OF_MUSL
};

/* Marks of a libc are names that it alone defines; __libc_start_main is none,
 * musl has it too. */
#define WANTED(name, what)                                                               \
	{                                                                                \
		name, sizeof(name) - 1, what                                             \
	}
static const struct elf_query queries[] = {
	WANTED(ASYNC_KEY_SYMBOL, KEY),
	WANTED(ASYNC_METADATA_COOKIE, METADATA),
	WANTED(ASYNC_SUSPENDED_COOKIE, SUSPENDED),
	WANTED(THREAD_CONTEXT_SYMBOL, CONTEXT),
	WANTED(HOTSPOT_SYMBOL, HOTSPOT),
	WANTED(HOTSPOT_TYPES_SYMBOL, HOTSPOT_TYPES),
	WANTED(GLIBC_SPECIFIC, SPECIFIC),
	WANTED("_dl_relocate_static_pie", OF_STATIC_GLIBC),
	WANTED("gnu_get_libc_version", OF_GLIBC),
	WANTED("_rtld_global", OF_GLIBC),
	WANTED("__pthread_tsd_size", OF_MUSL),
	WANTED("__init_libc", OF_MUSL),
	WANTED("__dls3", OF_MUSL),
};
#undef WANTED

struct scan {
	struct elf_file *file;
	struct elf_info *info;
	const struct elf_dynamic *dynamic; /* while its symbols are gone through */
	bool has_interpreter;
	bool has_start_files; /* glibc's, which every program of its own has */
};

static void add_key(struct scan *scan, uint64_t vaddr)
{
	struct elf_info *info = scan->info;

	if (!elf_file_loads(scan->file, vaddr, sizeof(uint32_t), PF_R | PF_W))
		return;
	for (uint32_t i = 0; i < info->n_keys; i++)
		if (info->key_vaddrs[i] == vaddr)
			return;
	if (info->n_keys < FILE_KEYS_MAX)
		info->key_vaddrs[info->n_keys++] = vaddr;
	else
		info->keys_left_out++;
}

static void take_note(void *arg, const struct elf_note *note)
{
	struct scan *scan = arg;
	struct elf_info *info = scan->info;
	uint64_t distance;

	if (elf_note_is(note, ASYNC_NOTE_OWNER, ASYNC_NOTE_TYPE)) {
		if (note->desc_bytes != sizeof(distance))
			return;
		memcpy(&distance, note->desc, sizeof(distance));
		add_key(scan, note->desc_vaddr + distance);
	} else if (elf_note_is(note, "GNU", NT_GNU_BUILD_ID)) {
		if (info->build_id_bytes)
			return;
		info->build_id_bytes =
			note->desc_bytes < BUILD_ID_MAX ? note->desc_bytes : BUILD_ID_MAX;
		memcpy(info->build_id, note->desc, info->build_id_bytes);
	} else if (elf_note_is(note, "GNU", NT_GNU_ABI_TAG)) {
		scan->has_start_files = true;
	}
}

/* glibc tells debuggers {bits, count, offset} of each field they need. */
static void take_specific(struct scan *scan, uint64_t vaddr)
{
	uint64_t offset, bytes;
	uint32_t field[3];

	if (!elf_file_offset(scan->file, vaddr, &offset, &bytes) ||
	    bytes < sizeof(field) ||
	    elf_file_read(scan->file, offset, field, sizeof(field)))
		return;
	if (field[2] < SPECIFIC_LARGEST && field[2] % sizeof(void *) == 0)
		scan->info->specific_offset = field[2];
}

static void take_libc(struct scan *scan, enum elf_libc libc)
{
	if (scan->info->libc != LIBC_MUSL)
		scan->info->libc = libc;
}

static void take_symbol(void *arg, int what, const Elf64_Sym *sym)
{
	unsigned char type = ELF64_ST_TYPE(sym->st_info);
	struct scan *scan = arg;

	if (what == CONTEXT && scan->dynamic)
		elf_tls_variable(scan->file, scan->dynamic, sym, &scan->info->context);
	if (type == STT_SECTION || type == STT_FILE || type == STT_TLS)
		return;
	if (what == KEY && type != STT_FUNC)
		add_key(scan, sym->st_value);
	else if (what == METADATA)
		scan->info->metadata_cookie_vaddr = sym->st_value;
	else if (what == SUSPENDED)
		scan->info->suspended_cookie_vaddr = sym->st_value;
	else if (what == HOTSPOT)
		scan->info->hotspot_vaddr = sym->st_value;
	else if (what == HOTSPOT_TYPES)
		scan->info->hotspot_types_vaddr = sym->st_value;
	else if (what == SPECIFIC)
		take_specific(scan, sym->st_value);
	if (what == OF_MUSL)
		take_libc(scan, LIBC_MUSL);
	else if (what == OF_GLIBC || what == SPECIFIC)
		take_libc(scan, LIBC_GLIBC);
	else if (what == OF_STATIC_GLIBC)
		scan->has_start_files = true;
}

/* Does the string there name musl, as its loader and library do? */
static bool names_musl(struct elf_file *file, uint64_t offset, uint64_t bytes)
{
	char name[NAME_OF_LIBC_LONGEST + 1] = "";
	size_t n = bytes < NAME_OF_LIBC_LONGEST ? bytes : NAME_OF_LIBC_LONGEST;

	if (elf_file_read(file, offset, name, n))
		return false;
	return strstr(name, "ld-musl") || strstr(name, "libc.musl");
}

static int scan_symbols(struct scan *scan)
{
	const struct elf_search search = { queries, sizeof(queries) / sizeof(*queries),
					   take_symbol, scan };
	struct elf_file *file = scan->file;
	struct elf_dynamic dynamic;
	struct elf_table table;
	int err = elf_table_dynamic(file, &dynamic);

	scan->dynamic = &dynamic;
	if (!err)
		err = elf_find(file, &dynamic.table, &search);
	scan->dynamic = NULL;
	if (err && err != -EBADMSG)
		return err;
	if (!err && dynamic.soname && dynamic.soname < dynamic.table.strings_bytes &&
	    names_musl(file, dynamic.table.strings_offset + dynamic.soname,
		       dynamic.table.strings_bytes - dynamic.soname))
		take_libc(scan, LIBC_MUSL);
	err = 0;
	if (elf_table_static(file, &table))
		err = elf_find(file, &table, &search);
	else if (!scan->info->n_keys)
		scan->info->hides_key = elf_marks_async(file, &dynamic);
	return err == -EBADMSG ? 0 : err;
}

static void take_segment(struct elf_info *info, const Elf64_Phdr *ph)
{
	if (info->n_segments < SEGMENTS_MAX)
		info->segments[info->n_segments++] = (struct elf_segment){
			.offset = ph->p_offset,
			.vaddr = ph->p_vaddr,
			.file_bytes = ph->p_filesz,
			.memory_bytes = ph->p_memsz,
			.flags = ph->p_flags,
		};
}

/* In the file's order; what only can be read goes first when it is too many. */
static void scan_headers(struct scan *scan)
{
	uint32_t loads = 0, keep_if = 0;

	for (size_t i = 0; i < scan->file->n_phdrs; i++)
		loads += scan->file->phdrs[i].p_type == PT_LOAD;
	if (loads > SEGMENTS_MAX)
		keep_if = PF_X | PF_W;
	for (size_t i = 0; i < scan->file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &scan->file->phdrs[i];

		if (ph->p_type == PT_LOAD && (!keep_if || (ph->p_flags & keep_if)))
			take_segment(scan->info, ph);
		if (ph->p_type == PT_GNU_EH_FRAME) {
			scan->info->fde_index_offset = ph->p_offset;
			scan->info->fde_index_vaddr = ph->p_vaddr;
		}
		if (ph->p_type != PT_INTERP)
			continue;
		scan->has_interpreter = true;
		if (names_musl(scan->file, ph->p_offset, ph->p_filesz))
			take_libc(scan, LIBC_MUSL);
	}
}

int elf_scan(int fd, struct elf_info *ret)
{
	AUTO_ELF file = { 0 };
	struct elf_info info = { 0 };
	struct scan scan = { .file = &file, .info = &info };
	int err = elf_file_open(&file, fd);

	if (err)
		return err;
	info.machine = file.header.e_machine;
	info.type = file.header.e_type;
	info.is_64bit = 1;
	scan_headers(&scan);
	err = elf_note_each(&file, take_note, &scan);
	if (!err)
		err = scan_symbols(&scan);
	if (err)
		return err;
	/* all that a static program has of glibc to show; a dynamic one has it, too,
	 * and its loader may be another */
	if (info.libc == LIBC_UNKNOWN && scan.has_start_files && !scan.has_interpreter)
		info.libc = LIBC_GLIBC;
	*ret = info;
	return 0;
}

bool elf_info_holds(const struct elf_info *info)
{
	return info->n_segments <= SEGMENTS_MAX && info->n_keys <= FILE_KEYS_MAX &&
	       info->build_id_bytes <= BUILD_ID_MAX && info->libc <= LIBC_MUSL &&
	       info->is_64bit <= 1 && info->hides_key <= 1 &&
	       info->context.access < N_TLS_ACCESSES;
}

bool elf_vaddr_of_offset(const struct elf_info *info, uint64_t offset,
			 uint64_t *ret_vaddr)
{
	bool found = false;

	for (uint32_t i = 0; i < info->n_segments; i++) {
		const struct elf_segment *seg = &info->segments[i];
		uint64_t into = offset - seg->offset;

		if (offset < seg->offset || into >= seg->file_bytes)
			continue;
		if (found && !(seg->flags & PF_X))
			continue; /* where two overlap, code is meant */
		*ret_vaddr = seg->vaddr + into;
		found = true;
	}
	return found;
}

bool elf_vaddr_of_mapping(const struct elf_info *info, uint64_t pgoff,
			  uint64_t *ret_vaddr)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < info->n_segments; i++) {
		const struct elf_segment *seg = &info->segments[i];
		uint64_t begin = seg->offset & -page;

		if (!(seg->flags & PF_X) || pgoff < begin ||
		    pgoff - begin >= seg->offset - begin + seg->file_bytes)
			continue;
		*ret_vaddr = seg->vaddr + (pgoff - seg->offset);
		return true;
	}
	return elf_vaddr_of_offset(info, pgoff, ret_vaddr);
}

uint64_t elf_address(const struct elf_info *info, uint64_t start, uint64_t pgoff,
		     uint64_t vaddr)
{
	uint64_t start_vaddr;

	if (!vaddr || !elf_vaddr_of_mapping(info, pgoff, &start_vaddr))
		return 0;
	return start + vaddr - start_vaddr;
}
