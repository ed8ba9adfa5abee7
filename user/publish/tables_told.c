// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which files ticks may walk by without having heard of the process: those that tell all
 * that a sample needs of them. One with async keys, or that publishes for which traces
 * its threads work, is left to what is published of a process.
 */
#include "base/clock.h"
#include "base/error.h"
#include "publish/tables_parts.h"

#include <sys/stat.h>

/* The kernel's own number, as MMAP2 records and /proc/PID/maps have it in two parts. */
#define DEVICE(maj, min) ((maj) << 20 | (min))

/* Its segments that can run; false: too many. */
static bool find_texts(const struct elf_info *info, struct unwind_file *file)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int n = 0;

	for (uint32_t i = 0; i < info->n_segments; i++) {
		const struct elf_segment *seg = &info->segments[i];

		if (!(seg->flags & PF_X))
			continue;
		if (n == UNWIND_FILE_TEXTS)
			return false;
		file->texts[n++] = (struct unwind_file_text){
			.begin = seg->offset & -page,
			.end = seg->offset + seg->file_bytes,
			.shift = seg->vaddr - seg->offset,
		};
	}
	return n > 0;
}

void tables_tell(struct tables *tables, struct table *table)
{
	uint32_t id = (uint32_t)(table - tables->tables.items);
	const struct module *module = module_get(tables->modules, id);
	const struct elf_info *info = files_elf_info(tables->files, id);
	const struct stat *st = files_opened(tables->files, id);
	struct unwind_file file = { .table = table->first, .flags = table->flags };

	if (module->kind != MODULE_FILE || !st || !info || info->n_keys ||
	    info->context.access || !find_texts(info, &file))
		return;
	if (tables->all_by_table)
		file.flags &= ~(uint32_t)UNWIND_KEEPS_FP;
	file.bytes = (uint64_t)st->st_size;
	file.written_ns =
		(uint64_t)st->st_mtim.tv_sec * SECOND_NS + (uint64_t)st->st_mtim.tv_nsec;
	table->told = (struct unwind_file_key){
		.ino = module->ino,
		.device = DEVICE(module->maj, module->min),
	};
	table->is_told = !tables->outside->tell_file(tables->maps, &table->told, &file);
	if (!table->is_told)
		error_clear(); /* no room: it waits to be heard of, as its process */
}

void tables_take_word_back(struct tables *tables, struct table *table)
{
	if (table->is_told)
		tables->outside->tell_file(tables->maps, &table->told, NULL);
	table->is_told = false;
}
