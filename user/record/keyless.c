// SPDX-License-Identifier: BSD-2-Clause
#include "record/keyless.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct search {
	const struct aggregator *aggregator;
	const struct files *files;
	bool *met;	/* of processes */
	uint32_t first; /* module that was met first */
};

static bool hides_key(const struct files *files, uint32_t module)
{
	const struct elf_info *info = files_elf_info(files, module);

	return info && info->hides_key;
}

static bool stack_is_keyless(const struct search *search, uint32_t stack,
			     uint32_t *ret_module)
{
	size_t bytes;
	const uint32_t *codes = intern_bytes(search->aggregator->stacks, stack, &bytes);

	for (size_t i = STACK_HEAD; i < bytes / sizeof(*codes); i++) {
		uint32_t kind = codes[i] & CODE_KIND, rest = codes[i] & ~CODE_KIND;

		if (kind == CODE_SEGMENT ||
		    (kind == CODE_LABEL && rest == CODE_LABEL_MORE))
			i++; /* the next is a part of this one */
		if (kind != CODE_FRAME && kind != CODE_RESUMER)
			continue;
		*ret_module = aggregator_frame(search->aggregator, rest)->module;
		if (hides_key(search->files, *ret_module))
			return true;
	}
	return false;
}

static uint64_t count_processes(struct search *search)
{
	const struct pairs *sample_keys = &search->aggregator->timeline.sample_keys;
	uint32_t module;
	uint64_t n = 0;
	size_t bytes;

	for (size_t i = 0; i < sample_keys->n; i++) {
		const struct aggregator_thread *thread = intern_bytes(
			search->aggregator->threads, sample_keys->items[i].b, &bytes);

		if (search->met[thread->process] ||
		    !stack_is_keyless(search, sample_keys->items[i].a, &module))
			continue;
		search->met[thread->process] = true;
		if (!n++)
			search->first = module;
	}
	return n;
}

int keyless_count(struct keyless *ret, const struct aggregator *aggregator,
		  const struct module_table *modules, const struct files *files)
{
	struct search search = { .aggregator = aggregator, .files = files };
	uint32_t n = module_count(modules), any = 0;

	*ret = (struct keyless){ 0 };
	while (any < n && !hides_key(files, any))
		any++;
	if (any == n)
		return 0;
	search.met = calloc(intern_count(aggregator->processes), sizeof(*search.met));
	if (!search.met)
		return fail(-ENOMEM, "no memory for the processes");
	ret->processes = count_processes(&search);
	free(search.met);
	if (ret->processes) {
		const char *path = module_get(modules, search.first)->path;

		str_clean(ret->path, sizeof(ret->path), path, strlen(path));
	}
	return 0;
}

void keyless_summary(struct str *out, const struct keyless *keyless)
{
	if (!keyless->processes)
		return;
	str_addf(out,
		 "  async     %" PRIu64 " processes run code of folly or libunifex, but "
		 "weft can't find its\n            async key, for example in %s:\n"
		 "            link with -rdynamic or " KEYLESS_OPTION ",\n"
		 "            or keep .symtab\n",
		 keyless->processes, keyless->path);
}

void keyless_json(struct json *json, const struct keyless *keyless)
{
	json_open(json, "keyless", '{');
	json_uint(json, "processes", keyless->processes);
	if (keyless->processes)
		json_text(json, "file", keyless->path);
	else
		json_addf(json, "file", "null");
	json_close(json, '}');
}
