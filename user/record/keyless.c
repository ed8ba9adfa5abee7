// SPDX-License-Identifier: BSD-2-Clause
#include "record/keyless.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct search {
	const struct profile *profile;
	const struct files *files;
	bool *met; /* of processes */
};

static bool hides_key(const struct files *files, uint32_t module)
{
	const struct elf_facts *facts = files_facts(files, module);

	return facts && facts->hides_key;
}

static bool stack_is_keyless(const struct search *search, uint32_t stack)
{
	size_t bytes;
	const uint32_t *codes = intern_bytes(search->profile->stacks, stack, &bytes);

	for (size_t i = STACK_HEAD; i < bytes / sizeof(*codes); i++) {
		uint32_t kind = codes[i] & CODE_KIND, rest = codes[i] & ~CODE_KIND;

		if (kind == CODE_SEGMENT ||
		    (kind == CODE_LABEL && rest == CODE_LABEL_MORE))
			i++; /* the next is a part of this one */
		else if (kind == CODE_FRAME &&
			 hides_key(search->files,
				   profile_frame(search->profile, rest)->module))
			return true;
	}
	return false;
}

static uint64_t count_processes(const struct search *search)
{
	const struct pairs *uses = &search->profile->timeline.uses;
	uint64_t n = 0;
	size_t bytes;

	for (size_t i = 0; i < uses->n; i++) {
		const struct profile_thread *thread =
			intern_bytes(search->profile->threads, uses->items[i].b, &bytes);

		if (search->met[thread->process] ||
		    !stack_is_keyless(search, uses->items[i].a))
			continue;
		search->met[thread->process] = true;
		n++;
	}
	return n;
}

int keyless_count(struct keyless *ret, const struct profile *profile,
		  const struct module_table *modules, const struct files *files)
{
	struct search search = { profile, files, NULL };
	uint32_t n = module_count(modules), first = 0;

	*ret = (struct keyless){ 0 };
	while (first < n && !hides_key(files, first))
		first++;
	if (first == n)
		return 0;
	search.met = calloc(intern_count(profile->processes), sizeof(*search.met));
	if (!search.met)
		return fail(-ENOMEM, "no memory for the processes");
	ret->processes = count_processes(&search);
	free(search.met);
	if (ret->processes) {
		const char *path = module_get(modules, first)->path;

		str_clean(ret->path, sizeof(ret->path), path, strlen(path));
	}
	return 0;
}

void keyless_summary(struct str *out, const struct keyless *keyless)
{
	if (!keyless->processes)
		return;
	str_addf(out,
		 "  async     %" PRIu64 " processes hold folly's or libunifex' code, but "
		 "its async key can't be\n            found, as in %s:\n            link "
		 "with -rdynamic or " KEYLESS_OPTION ",\n            or leave .symtab "
		 "in\n",
		 keyless->processes, keyless->path);
}

void keyless_json(struct str *out, const struct keyless *keyless)
{
	str_addf(out,
		 "\"keyless\":{\"processes\":%" PRIu64 ",\"file\":", keyless->processes);
	if (keyless->processes)
		str_add_json(out, keyless->path);
	else
		str_add(out, "null");
	str_add(out, "},");
}
