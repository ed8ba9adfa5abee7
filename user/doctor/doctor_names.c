// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/doctor_names.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define ADDRESSES    512 /* of a file */
#define SEGMENT_CODE 1	 /* PF_X */
#define LACKING_SHARE_MIN                                                                \
	20 /* of the code that lacks names, to be told of: one in so many */
#define LACKING_BYTES_MIN 1024 /* and so many bytes */

struct name_probe {
	struct doctor_process *process;
	const struct symbol_sources *sources;
	struct aggregator *aggregator; /* whose frames are the addresses */
	VEC(uint32_t) file_of;	       /* by frame */
};

static uint64_t code_bytes(const struct elf_info *info)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < info->n_segments; i++)
		if (info->segments[i].flags & SEGMENT_CODE)
			sum += info->segments[i].file_bytes;
	return sum;
}

/* The file's offset of one of its bytes of code. */
static uint64_t code_offset(const struct elf_info *info, uint64_t byte)
{
	for (uint32_t i = 0; i < info->n_segments; i++) {
		const struct elf_segment *segment = &info->segments[i];

		if (!(segment->flags & SEGMENT_CODE))
			continue;
		if (byte < segment->file_bytes)
			return segment->offset + byte;
		byte -= segment->file_bytes;
	}
	return 0;
}

static int add_file(struct name_probe *probe, uint32_t file, uint32_t module)
{
	const struct elf_info *info = files_elf_info(probe->sources->files, module);
	uint64_t bytes = info ? code_bytes(info) : 0;
	int err = 0;

	probe->process->files[file].code_bytes = bytes;
	for (uint64_t i = 0; !err && i < ADDRESSES && i < bytes; i++) {
		uint64_t step = bytes / ADDRESSES, left = bytes % ADDRESSES;
		struct frame frame = { .module = module };
		uint32_t id;

		frame.offset = code_offset(info, i * step + i * left / ADDRESSES);
		err = aggregator_frame_id(probe->aggregator, &frame, &id);
		/* a number beyond those: this one is new */
		if (!err && id == probe->file_of.n && vec_push(&probe->file_of, file))
			err = fail(-ENOMEM, "no memory for names");
	}
	return err;
}

static void count_all(struct name_probe *probe, const struct names *names)
{
	struct doctor_process *process = probe->process;

	for (uint32_t id = 0; id < probe->file_of.n; id++) {
		struct doctor_file *file = &process->files[probe->file_of.items[id]];

		file->by_origin[names_origin(names, id)]++;
	}
	for (uint32_t i = 0; i < process->n_files; i++) {
		struct doctor_file *file = &process->files[i];

		for (int k = 0; k < N_NAME_ORIGINS; k++)
			file->addresses += file->by_origin[k];
	}
}

/* Between functions there is padding, which nothing names; but a file that tells of no
 * function at all (musl's, stripped) has no more than that. Stubs that the linker made
 * never have a symbol. */
bool doctor_file_lacks_names(const struct doctor_file *file)
{
	uint64_t none = file->by_origin[NAME_ORIGIN_NONE];
	uint64_t lacking = file->by_origin[NAME_ORIGIN_START];

	if (none * 2 > file->addresses)
		lacking += none;
	return lacking * LACKING_SHARE_MIN > file->addresses &&
	       lacking * file->code_bytes > LACKING_BYTES_MIN * file->addresses;
}

/* Whose symbols a package has, for those that lack many. */
static int find_packages(const struct name_probe *probe, const uint32_t *modules)
{
	struct doctor_process *process = probe->process;
	AUTO_FREE struct packaged_file *files = calloc(process->n_files, sizeof(*files));
	AUTO_FREE uint32_t *of = calloc(process->n_files, sizeof(*of));
	size_t n = 0;

	if (!files || !of)
		return fail(-ENOMEM, "no memory for the files of a process");
	for (uint32_t i = 0; i < process->n_files; i++) {
		const struct module *module =
			module_get(probe->sources->modules, modules[i]);
		const struct elf_info *info =
			files_elf_info(probe->sources->files, modules[i]);

		if (!info || !info->build_id_bytes ||
		    !doctor_file_lacks_names(&process->files[i]))
			continue;
		of[n] = i;
		files[n++] = (struct packaged_file){ module->path, module->maj,
						     module->min, module->ino, "" };
	}
	packages_find_debug(files, n);
	for (size_t i = 0; i < n; i++)
		memcpy(process->files[of[i]].package, files[i].package, PACKAGE_BYTES);
	return 0;
}

static int ask(struct name_probe *probe)
{
	struct symbolizer_counts counts;
	AUTO(names) names = NULL;
	int err = names_new(&names);

	if (!err)
		err = symbolize(names, probe->aggregator, probe->sources, &counts);
	if (!err)
		count_all(probe, names);
	return err;
}

int doctor_name_files(struct doctor_process *process, const uint32_t *modules,
		      const struct symbol_sources *sources)
{
	AUTO(aggregator) aggregator = NULL;
	struct name_probe probe = { .process = process, .sources = sources };
	int err = aggregator_new(&aggregator);

	if (err || !process->n_files)
		return err;
	probe.aggregator = aggregator;
	for (uint32_t i = 0; !err && i < process->n_files; i++)
		err = add_file(&probe, i, modules[i]);
	if (!err)
		err = ask(&probe);
	vec_free(&probe.file_of);
	return err ? err : find_packages(&probe, modules);
}
