// SPDX-License-Identifier: BSD-2-Clause
#include "sym/symbolizer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "proc/open.h"
#include "sym/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_OF_LABEL_MAX 256
#define DEADLINE_MS	  5000
#define INLINES_MS	  2000 /* a file: what came until then stays */
#define INLINES_ALL_NS	  10000000000
#define PERF_MAP_MAX	  (256ULL << 20)
#define DEBUG_FOLDER	  "/usr/lib/debug/.build-id"

/* A frame that wants a name: where to look, and for whom. */
struct want {
	uint32_t module;
	uint32_t frame;
	uint64_t at; /* in the module; of a return address, the byte before */
};

struct batch {
	struct names *names;
	const struct want *wants; /* of one module, by address */
	size_t n;
	uint64_t *addrs; /* the distinct ones */
	size_t *first;	 /* of each: its first want; one more at the end */
	size_t n_addrs;
	bool inlines_sought, inlines_found, inlines_failed;
	int64_t inlines_left_ns; /* for this and all further ones */
};

static int by_module_and_address(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct batch *batch = arg;
	int err = 0;

	for (size_t i = batch->first[index]; !err && i < batch->first[index + 1]; i++)
		err = names_set(batch->names, batch->wants[i].frame, name);
	return err;
}

static int begin_batch(struct batch *batch)
{
	batch->addrs = malloc(batch->n * sizeof(*batch->addrs));
	batch->first = malloc((batch->n + 1) * sizeof(*batch->first));
	if (!batch->addrs || !batch->first)
		return fail(-ENOMEM, "no memory for %zu addresses", batch->n);
	for (size_t i = 0; i < batch->n; i++) {
		if (i && batch->wants[i].at == batch->wants[i - 1].at)
			continue;
		batch->first[batch->n_addrs] = i;
		batch->addrs[batch->n_addrs++] = batch->wants[i].at;
	}
	batch->first[batch->n_addrs] = batch->n;
	return 0;
}

static void end_batch(struct batch *batch)
{
	free(batch->addrs);
	free(batch->first);
}

static int open_debug_file(const struct elf_facts *facts)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * BUILD_ID_MAX + 16];
	size_t n;

	if (!facts || facts->build_id_bytes < 2 || facts->build_id_bytes > BUILD_ID_MAX)
		return -1;
	n = (size_t)snprintf(path, sizeof(path), DEBUG_FOLDER "/%02x/",
			     facts->build_id[0]);
	for (uint32_t i = 1; i < facts->build_id_bytes; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x",
				      facts->build_id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int read_names(const struct symbol_sources *sources, enum name_source source,
		      int fd, struct batch *batch)
{
	return worker_names(sources->worker,
			    &(struct name_request){ source, fd, batch->addrs,
						    batch->n_addrs, DEADLINE_MS },
			    on_name, batch);
}

static uint64_t *addresses_as_linked(const struct elf_facts *facts,
				     const struct batch *batch)
{
	uint64_t *linked = calloc(batch->n_addrs, sizeof(*linked));

	if (!linked)
		fail(-ENOMEM, "no memory for %zu addresses", batch->n_addrs);
	for (size_t i = 0; linked && i < batch->n_addrs; i++)
		if (!elf_vaddr_of_offset(facts, batch->addrs[i], &linked[i]))
			linked[i] = UINT64_MAX; /* which no symbol covers */
	return linked;
}

static int on_places(void *arg, size_t index, const struct inline_place *places, size_t n)
{
	struct names_place copied[INLINES_MAX + 1];
	struct batch *batch = arg;
	int err = 0;

	for (size_t i = 0; i < n; i++)
		copied[i] = (struct names_place){ places[i].name, places[i].file,
						  places[i].line };
	for (size_t i = batch->first[index]; !err && i < batch->first[index + 1]; i++)
		err = names_set_places(batch->names, batch->wants[i].frame, copied, n);
	batch->inlines_found |= n > 0;
	return err;
}

/* What fails here costs nobody a name. */
static void find_places(const struct symbol_sources *sources, uint32_t module,
			const struct elf_facts *facts, int fd, struct batch *batch)
{
	AUTO_FREE uint64_t *linked = addresses_as_linked(facts, batch);
	uint64_t begun_ns = clock_now_ns();
	int err = linked ? 0 : -ENOMEM;

	batch->inlines_sought = true;
	if (!err && batch->inlines_left_ns <= 0)
		err = fail(-ETIMEDOUT, "no time is left");
	if (!err)
		err = worker_places(sources->worker,
				    &(struct name_request){ NAMES_PLACES, fd, linked,
							    batch->n_addrs, INLINES_MS },
				    on_places, batch);
	batch->inlines_left_ns -= (int64_t)(clock_now_ns() - begun_ns);
	if (!err)
		return;
	batch->inlines_failed = true;
	log_verbose("what was inlined in %s: %s",
		    module_get(sources->modules, module)->path, error_sentence());
}

/* Its segments hold no bytes, so only the addresses as linked mean something. */
static int name_debug(const struct symbol_sources *sources, const struct elf_facts *facts,
		      int fd, struct batch *batch)
{
	AUTO_FREE uint64_t *linked = addresses_as_linked(facts, batch);

	if (!linked)
		return -ENOMEM;
	return worker_names(sources->worker,
			    &(struct name_request){ NAMES_ELF_LINKED, fd, linked,
						    batch->n_addrs, DEADLINE_MS },
			    on_name, batch);
}

static int name_file(const struct symbol_sources *sources, uint32_t module,
		     struct batch *batch)
{
	const struct elf_facts *facts = files_facts(sources->files, module);
	AUTO_CLOSE int debug = open_debug_file(facts);
	int fd = files_fd(sources->files, module), err = 0;

	if (debug >= 0)
		err = name_debug(sources, facts, debug, batch);
	if (!err && fd >= 0)
		err = read_names(sources, NAMES_ELF, fd, batch);
	if (!err && sources->inlines && facts && (debug >= 0 || fd >= 0))
		find_places(sources, module, facts, debug >= 0 ? debug : fd, batch);
	return err;
}

static int name_jit(const struct symbol_sources *sources, uint32_t module,
		    struct batch *batch)
{
	const struct module *jit = module_get(sources->modules, module);
	const struct process *now = process_get(sources->processes, jit->pid);
	struct owner owner = files_owner(sources->files, module);
	AUTO_CLOSE int fd = -1;
	int err;

	if (now && now->life != jit->life) /* the map is another's by now */
		return -ESRCH;
	if (!owner.known)
		owner.inner_pid = (pid_t)jit->pid;
	err = open_perf_map((pid_t)jit->pid, &owner, PERF_MAP_MAX, &fd);
	if (err) /* most generated code has none, and -ENOENT is no news */
		return err == -ENOENT ? 0 : err;
	return read_names(sources, NAMES_PERF_MAP, fd, batch);
}

static int name_vdso(const struct symbol_sources *sources, struct batch *batch)
{
	AUTO_CLOSE int fd = vdso_open();

	return fd < 0 ? fd : read_names(sources, NAMES_ELF, fd, batch);
}

static int name_kernel(const struct symbol_sources *sources, struct batch *batch)
{
	AUTO_CLOSE int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read_names(sources, NAMES_KALLSYMS, fd, batch);
}

static int name_module(const struct symbol_sources *sources, uint32_t module,
		       struct batch *batch)
{
	int err = begin_batch(batch);

	if (err)
		return err;
	names_begin_file(batch->names);
	switch (module_get(sources->modules, module)->kind) {
	case MODULE_FILE:
		return name_file(sources, module, batch);
	case MODULE_JIT:
		return name_jit(sources, module, batch);
	case MODULE_VDSO:
		return name_vdso(sources, batch);
	case MODULE_KERNEL:
		return name_kernel(sources, batch);
	default:
		return 0;
	}
}

static int name_all(const struct symbol_sources *sources, struct names *names,
		    const struct want *wants, size_t n, struct symbolizer_counts *counts)
{
	int64_t inlines_left_ns = INLINES_ALL_NS;

	for (size_t i = 0, end; i < n; i = end) {
		struct batch batch = {
			.names = names,
			.wants = wants + i,
			.inlines_left_ns = inlines_left_ns,
		};
		int err;

		for (end = i; end < n && wants[end].module == wants[i].module;)
			end++;
		batch.n = end - i;
		counts->modules++;
		err = name_module(sources, wants[i].module, &batch);
		end_batch(&batch);
		counts->inlines_sought += batch.inlines_sought;
		counts->inlines_found += batch.inlines_found;
		counts->inlines_failed += batch.inlines_failed;
		inlines_left_ns = batch.inlines_left_ns;
		if (err == -ENOMEM)
			return err;
		if (err)
			counts->failed++;
		if (err == -EPERM &&
		    module_get(sources->modules, wants[i].module)->kind == MODULE_JIT)
			counts->foreign_maps++;
	}
	error_clear();
	return 0;
}

/* It is what it says, in brackets. */
static int name_label(struct names *names, const struct profile *profile, uint32_t id)
{
	const struct frame *frame = profile_frame(profile, id);
	const char *text = "label";
	char name[NAME_OF_LABEL_MAX];

	if (frame->offset < intern_count(profile->labels))
		text = intern_string(profile->labels, (uint32_t)frame->offset);
	snprintf(name, sizeof(name), "[%s]", text);
	return names_set(names, id, name);
}

int symbolize(struct names *names, const struct profile *profile,
	      const struct symbol_sources *sources, struct symbolizer_counts *ret_counts)
{
	size_t n = intern_count(profile->frames);
	AUTO_FREE struct want *wants = calloc(n + 1, sizeof(*wants));
	int err = 0;

	files_drop_overwritten(sources->files);
	if (!wants)
		return fail(-ENOMEM, "no memory for %zu frames", n);
	for (uint32_t id = 0; id < n; id++) {
		const struct frame *frame = profile_frame(profile, id);

		if (frame->returned == FRAME_IS_LABEL)
			err = name_label(names, profile, id);
		if (err)
			return err;
		wants[id] = (struct want){ frame->module, id,
					   frame->offset - (frame->returned == 1) };
	}
	qsort(wants, n, sizeof(*wants), by_module_and_address);
	err = name_all(sources, names, wants, n, ret_counts);
	ret_counts->refused = names_refused(names);
	if (names_shortened(names))
		log_verbose("%" PRIu64 " names of files with many long ones are "
			    "shortened (…#)",
			    names_shortened(names));
	return err;
}
