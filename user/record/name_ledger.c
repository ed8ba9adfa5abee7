// SPDX-License-Identifier: BSD-2-Clause
#include "record/name_ledger.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "core/counted.h"
#include "record/runtimes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LEAST_SHARE 100		     /* of a module: one in so many user frames */
#define ALL_JITS    MODULE_ID_KERNEL /* whose place is free: it has no user frames */

struct nameless {
	uint64_t frames;     /* without a symbol */
	uint64_t generated;  /* the same, of one process's code: ALL_JITS has the sum */
	bool is_sampled;     /* some frame is of it */
	uint32_t in_profile; /* the module's number there */
};

struct count {
	const struct name_ledger_source *source;
	struct name_ledger *ledger;
	struct nameless *unnamed; /* by module */
	bool is_interpreted_named;
};

/* All generated code is one module here, whatever process it is of. */
static void count_nameless(struct count *count, uint32_t frame, uint64_t times)
{
	uint32_t id = aggregator_frame(count->source->aggregator, frame)->module;
	struct nameless *unnamed = &count->unnamed[id];

	if (module_get(count->source->modules, id)->kind == MODULE_JIT) {
		unnamed->generated += times;
		unnamed = &count->unnamed[ALL_JITS];
	}
	unnamed->frames += times;
	unnamed->in_profile = count->source->profile->frames.items[frame].module;
}

static void count_interpreted(struct count *count, uint32_t id, uint64_t times)
{
	const struct name_ledger_source *source = count->source;
	const char *name = names_get(source->names, id), *asked = NULL;
	const struct module *module = module_get(
		source->modules, aggregator_frame(source->aggregator, id)->module);

	if (!name)
		return;
	if (module->kind == MODULE_JIT)
		count->is_interpreted_named |= interpreter_has_named(name);
	if (module->kind == MODULE_FILE)
		asked = interpreter_that_names(module->path, name);
	if (!asked)
		return;
	count->ledger->interpreted += times;
	count->ledger->interpreter = asked;
}

static void count_frame(struct count *count, uint32_t id, uint64_t times)
{
	const struct profile_frame *frame = &count->source->profile->frames.items[id];
	enum name_origin origin;

	if (frame->type == FRAME_TYPE_INLINED)
		count->ledger->inlined += times;
	if (frame->type != FRAME_TYPE_UNKNOWN && frame->type != FRAME_TYPE_NATIVE &&
	    frame->type != FRAME_TYPE_JIT)
		return;
	count->unnamed[aggregator_frame(count->source->aggregator, id)->module]
		.is_sampled = true;
	count_interpreted(count, id, times);
	origin = names_origin(count->source->names, id);
	count->ledger->frames += times;
	count->ledger->by_origin[origin] += times;
	if (origin == NAME_ORIGIN_NONE || origin == NAME_ORIGIN_START)
		count_nameless(count, id, times);
}

/* Each node stands for a frame of every sample at or above it. */
static int count_frames(struct count *count)
{
	const struct profile *r = count->source->profile;
	AUTO_FREE uint64_t *sums = calloc(r->nodes.n, sizeof(*sums));

	if (!sums)
		return fail(-ENOMEM, "no memory for %zu nodes", (size_t)r->nodes.n);
	for (size_t i = 0; i < r->timeline.sample_keys.n; i++)
		sums[r->stacks.items[r->timeline.sample_keys.items[i].a]
			     .node[VIEW_THREAD]] += r->timeline.counts.items[i];
	for (uint32_t i = (uint32_t)r->nodes.n; --i;) {
		sums[profile_parent(r, i)] += sums[i];
		if (PROFILE_IS_FRAME(profile_code(r, i)))
			count_frame(count, profile_code(r, i), sums[i]);
	}
	return 0;
}

static bool is_sampled(const void *arg, uint32_t module)
{
	const struct count *count = arg;

	return count->unnamed[module].is_sampled;
}

/* That of the process with most such code. */
static const char *find_runtime(const struct count *count)
{
	const struct module_table *modules = count->source->modules;
	uint32_t worst = 0;

	for (uint32_t id = 1; id < module_count(modules); id++)
		if (count->unnamed[id].generated > count->unnamed[worst].generated)
			worst = id;
	return runtime_find(&(struct runtime_search){
		.modules = modules,
		.pid = module_get(modules, worst)->pid,
		.asked = runtime_that_names,
		.is_sampled = is_sampled,
		.arg = count,
	});
}

static void describe(const struct count *count, uint32_t id, struct unnamed_module *ret)
{
	const struct module *module = module_get(count->source->modules, id);
	const struct nameless *unnamed = &count->unnamed[id];
	const struct profile *r = count->source->profile;
	const char *path = id == ALL_JITS ? "[jit]" : module->path;

	*ret = (struct unnamed_module){ .frames = unnamed->frames,
					.remedy = REMEDY_BUILD };
	str_clean(ret->path, sizeof(ret->path), path, strlen(path));
	if (id == ALL_JITS) {
		ret->remedy = REMEDY_JIT;
		ret->asked = find_runtime(count);
		return;
	}
	ret->missed = count->source->files ? files_missed(count->source->files, id) : 0;
	if (ret->missed)
		ret->remedy = REMEDY_NONE;
	ret->maj = module->maj;
	ret->min = module->min;
	ret->ino = module->ino;
	ret->has_build_id =
		*profile_string(r, r->modules.items[unnamed->in_profile].build_id);
}

/* Code that no mapping is known for is no module that could be mended. */
static void find_worst(struct count *count)
{
	struct name_ledger *ledger = count->ledger;

	count->unnamed[MODULE_ID_UNMAPPED].frames = 0;
	while (ledger->n_modules < NAME_LEDGER_MODULES) {
		uint32_t worst = 0;

		for (uint32_t id = 1; id < module_count(count->source->modules); id++)
			if (count->unnamed[id].frames > count->unnamed[worst].frames)
				worst = id;
		if (count->unnamed[worst].frames <= ledger->frames / LEAST_SHARE)
			return;
		describe(count, worst, &ledger->modules[ledger->n_modules++]);
		count->unnamed[worst].frames = 0;
	}
}

int name_ledger_count(struct name_ledger *ret, const struct name_ledger_source *source)
{
	AUTO_FREE struct nameless *unnamed =
		calloc(module_count(source->modules), sizeof(*unnamed));
	struct count count = { source, ret, unnamed, false };
	int err;

	*ret = (struct name_ledger){ 0 };
	if (!unnamed)
		return fail(-ENOMEM, "no memory for the modules");
	err = count_frames(&count);
	if (err)
		return err;
	find_worst(&count);
	if (count.is_interpreted_named || ret->interpreted <= ret->frames / LEAST_SHARE)
		ret->interpreter = NULL;
	return 0;
}

void name_ledger_find_packages(struct name_ledger *ledger)
{
	struct packaged_file files[NAME_LEDGER_MODULES];
	struct unnamed_module *of[NAME_LEDGER_MODULES];
	size_t n = 0;

	for (uint32_t i = 0; i < ledger->n_modules; i++) {
		struct unnamed_module *module = &ledger->modules[i];

		if (!module->has_build_id)
			continue;
		of[n] = module;
		files[n++] = (struct packaged_file){ module->path, module->maj,
						     module->min, module->ino, "" };
	}
	packages_find_debug(files, n);
	for (size_t i = 0; i < n; i++) {
		if (!files[i].package[0])
			continue;
		strcpy(of[i]->package, files[i].package);
		of[i]->remedy = REMEDY_PACKAGE;
	}
}

static double share(const struct name_ledger *ledger, uint64_t frames)
{
	return 100.0 * (double)frames / (double)ledger->frames;
}

static const char *why_missed(int err)
{
	return err == -ENOENT ? "the file, or the process that ran it, was gone"
			      : strerror(-err);
}

/* What would bring names. */
static void add_remedy(struct str *out, const struct unnamed_module *module,
		       bool has_servers)
{
	const char *base = strrchr(module->path, '/');

	base = base && base[1] ? base + 1 : module->path;
	if (module->remedy == REMEDY_JIT)
		str_addf(out, "are generated code whose runtime tells no names%s%s\n",
			 module->asked ? "; try: " : "",
			 module->asked ? module->asked : "");
	else if (module->remedy == REMEDY_PACKAGE)
		str_addf(out, "have no symbol in %s: install %s%s\n", base,
			 module->package,
			 has_servers ? "" : ", or name a server: --debuginfod");
	else if (module->remedy == REMEDY_NONE)
		str_addf(out, "have no symbol in %s: it could not be opened: %s\n", base,
			 why_missed(module->missed));
	else
		str_addf(out, "have no symbol in %s: it was stripped%s\n", base,
			 module->has_build_id ? "" : ", or is no ELF file");
}

void name_ledger_summary(struct str *out, const struct name_ledger *ledger)
{
	const char *head = "names";

	if (!ledger->frames)
		return;
	for (int i = 0; i < N_NAME_ORIGINS; i++) {
		if (share(ledger, ledger->by_origin[i]) < 0.05)
			continue;
		str_addf(out, "  %-9s %5.1f %%  %s%s\n", head,
			 share(ledger, ledger->by_origin[i]),
			 *head ? "of the frames in user mode " : "",
			 counted_origins[i].text);
		head = "";
	}
	for (uint32_t i = 0; i < ledger->n_modules; i++) {
		const struct unnamed_module *module = &ledger->modules[i];

		str_addf(out, "            %5.1f %%  ", share(ledger, module->frames));
		add_remedy(out, module, ledger->has_servers);
	}
	if (ledger->interpreter)
		str_addf(out,
			 "            %5.1f %%  are an interpreter's own; to name what "
			 "it runs, try: %s\n",
			 share(ledger, ledger->interpreted), ledger->interpreter);
}

static const char *remedy_word(enum name_remedy remedy)
{
	static const char *const words[] = {
		[REMEDY_PACKAGE] = "package",
		[REMEDY_BUILD] = "build",
		[REMEDY_JIT] = "jit",
		[REMEDY_NONE] = "none",
	};

	return words[remedy];
}

void name_ledger_json(struct json *json, const struct name_ledger *ledger)
{
	json_open(json, "names", '{');
	json_uint(json, "user_frames", ledger->frames);
	for (int i = 0; i < N_NAME_ORIGINS; i++) {
		AUTO_STR name = { 0 };

		str_add_lower(&name, counted_origins[i].name);
		json_uint(json, name.s ? name.s : "", ledger->by_origin[i]);
	}
	json_uint(json, "inlined", ledger->inlined);
	if (ledger->interpreter) {
		json_uint(json, "interpreted", ledger->interpreted);
		json_text(json, "interpreter", ledger->interpreter);
	}
	json_open(json, "unnamed", '[');
	for (uint32_t i = 0; i < ledger->n_modules; i++) {
		const struct unnamed_module *module = &ledger->modules[i];

		json_open(json, NULL, '{');
		json_text(json, "file", module->path);
		json_uint(json, "frames", module->frames);
		json_text(json, "remedy", remedy_word(module->remedy));
		if (module->remedy == REMEDY_PACKAGE)
			json_text(json, "package", module->package);
		if (module->asked)
			json_text(json, "asked", module->asked);
		if (module->missed)
			json_text(json, "missed", why_missed(module->missed));
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}
