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

struct symbolizer {
	struct names *names;
	const struct aggregator *aggregator;
	struct symbol_sources sources;
	struct want *wants; /* by module and address */
	size_t n, next;
	int64_t inlines_left_ns;
	struct symbolizer_counts counts;
};

struct symbol_batch {
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
	struct symbol_batch *batch = arg;
	int err = 0;

	for (size_t i = batch->first[index]; !err && i < batch->first[index + 1]; i++)
		err = names_set(batch->names, batch->wants[i].frame, name);
	return err;
}

static int begin_batch(struct symbol_batch *batch)
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

static void end_batch(struct symbol_batch *batch)
{
	free(batch->addrs);
	free(batch->first);
}

static int open_debug_file(const struct elf_info *info)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * BUILD_ID_MAX + 16];
	size_t n;

	if (!info || info->build_id_bytes < 2 || info->build_id_bytes > BUILD_ID_MAX)
		return -1;
	n = (size_t)snprintf(path, sizeof(path), DEBUG_FOLDER "/%02x/",
			     info->build_id[0]);
	for (uint32_t i = 1; i < info->build_id_bytes; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x",
				      info->build_id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int read_names(const struct symbol_sources *sources, enum name_source source,
		      int fd, struct symbol_batch *batch)
{
	return worker_names(sources->worker,
			    &(struct name_request){ source, fd, batch->addrs,
						    batch->n_addrs, DEADLINE_MS },
			    on_name, batch);
}

static uint64_t *addresses_as_linked(const struct elf_info *info,
				     const struct symbol_batch *batch)
{
	uint64_t *linked = calloc(batch->n_addrs, sizeof(*linked));

	if (!linked)
		fail(-ENOMEM, "no memory for %zu addresses", batch->n_addrs);
	for (size_t i = 0; linked && i < batch->n_addrs; i++)
		if (!elf_vaddr_of_offset(info, batch->addrs[i], &linked[i]))
			linked[i] = UINT64_MAX; /* which no symbol covers */
	return linked;
}

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	struct names_location copied[INLINES_MAX + 1];
	struct symbol_batch *batch = arg;
	int err = 0;

	for (size_t i = 0; i < n; i++)
		copied[i] = (struct names_location){ locations[i].name, locations[i].file,
						     locations[i].line };
	for (size_t i = batch->first[index]; !err && i < batch->first[index + 1]; i++)
		err = names_set_locations(batch->names, batch->wants[i].frame, copied, n);
	batch->inlines_found |= n > 0;
	return err;
}

/* What fails here costs nobody a name. */
static void find_locations(const struct symbol_sources *sources, uint32_t module,
			   const struct elf_info *info, int fd,
			   struct symbol_batch *batch)
{
	AUTO_FREE uint64_t *linked = addresses_as_linked(info, batch);
	uint64_t begun_ns = clock_now_ns();
	int err = linked ? 0 : -ENOMEM;

	batch->inlines_sought = true;
	if (!err && batch->inlines_left_ns <= 0)
		err = fail(-ETIMEDOUT, "no time left");
	if (!err)
		err = worker_locations(sources->worker,
				       &(struct name_request){ NAMES_LOCATIONS, fd,
							       linked, batch->n_addrs,
							       INLINES_MS },
				       on_locations, batch);
	batch->inlines_left_ns -= (int64_t)(clock_now_ns() - begun_ns);
	if (!err)
		return;
	batch->inlines_failed = true;
	log_verbose("inlined functions of %s: %s",
		    module_get(sources->modules, module)->path, error_sentence());
}

/* Its segments hold no bytes, so only the addresses as linked mean something. */
static int name_debug(const struct symbol_sources *sources, const struct elf_info *info,
		      int fd, struct symbol_batch *batch)
{
	AUTO_FREE uint64_t *linked = addresses_as_linked(info, batch);

	if (!linked)
		return -ENOMEM;
	return worker_names(sources->worker,
			    &(struct name_request){ NAMES_ELF_LINKED, fd, linked,
						    batch->n_addrs, DEADLINE_MS },
			    on_name, batch);
}

static int name_file(const struct symbol_sources *sources, uint32_t module,
		     struct symbol_batch *batch)
{
	const struct elf_info *info = files_elf_info(sources->files, module);
	AUTO_CLOSE int debug = open_debug_file(info);
	int fd = files_fd(sources->files, module), err = 0;

	if (debug >= 0)
		err = name_debug(sources, info, debug, batch);
	if (!err && fd >= 0)
		err = read_names(sources, NAMES_ELF, fd, batch);
	if (!err && sources->inlines && info && (debug >= 0 || fd >= 0))
		find_locations(sources, module, info, debug >= 0 ? debug : fd, batch);
	return err;
}

static int name_jit(const struct symbol_sources *sources, uint32_t module,
		    struct symbol_batch *batch)
{
	const struct module *jit = module_get(sources->modules, module);
	const struct process *now = process_get(sources->processes, jit->pid);
	struct owner owner = files_owner(sources->files, module);
	AUTO_CLOSE int fd = -1;
	int err;

	if (now && now->incarnation != jit->incarnation) /* the map is another's by now */
		return -ESRCH;
	if (!owner.known)
		owner.inner_pid = (pid_t)jit->pid;
	err = open_perf_map((pid_t)jit->pid, &owner, PERF_MAP_MAX, &fd);
	if (err) /* most generated code has none, and -ENOENT is no news */
		return err == -ENOENT ? 0 : err;
	return read_names(sources, NAMES_PERF_MAP, fd, batch);
}

static int name_vdso(const struct symbol_sources *sources, struct symbol_batch *batch)
{
	AUTO_CLOSE int fd = vdso_open();

	return fd < 0 ? fd : read_names(sources, NAMES_ELF, fd, batch);
}

static int name_kernel(const struct symbol_sources *sources, struct symbol_batch *batch)
{
	AUTO_CLOSE int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read_names(sources, NAMES_KALLSYMS, fd, batch);
}

static int name_module(const struct symbol_sources *sources, uint32_t module,
		       struct symbol_batch *batch)
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

/* It is what it says, in brackets. */
static int name_label(struct names *names, const struct aggregator *aggregator,
		      uint32_t id)
{
	const struct frame *frame = aggregator_frame(aggregator, id);
	const char *text = "label";
	char name[NAME_OF_LABEL_MAX];

	if (frame->offset < intern_count(aggregator->labels))
		text = intern_string(aggregator->labels, (uint32_t)frame->offset);
	snprintf(name, sizeof(name), "[%s]", text);
	return names_set(names, id, name);
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	free(s->wants);
	free(s);
}

static int make_wants(struct symbolizer *s)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < s->n; id++) {
		const struct frame *frame = aggregator_frame(s->aggregator, id);

		if (frame->returned == FRAME_IS_LABEL)
			err = name_label(s->names, s->aggregator, id);
		s->wants[id] = (struct want){ frame->module, id,
					      frame->offset - (frame->returned == 1) };
	}
	qsort(s->wants, s->n, sizeof(*s->wants), by_module_and_address);
	return err;
}

int symbolizer_new(struct symbolizer **ret, struct names *names,
		   const struct aggregator *aggregator,
		   const struct symbol_sources *sources)
{
	AUTO(symbolizer) s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "no memory for names");
	s->names = names;
	s->aggregator = aggregator;
	s->sources = *sources;
	s->inlines_left_ns = INLINES_ALL_NS;
	s->n = intern_count(aggregator->frames);
	s->wants = calloc(s->n + 1, sizeof(*s->wants));
	if (!s->wants)
		return fail(-ENOMEM, "no memory for %zu frames", s->n);
	files_drop_overwritten(sources->files);
	err = make_wants(s);
	if (err)
		return err;
	*ret = GIVE(s);
	return 0;
}

/* What is there once stays what it is: not what a process makes as it runs, nor a
 * file that was written to. */
static bool may_cache(const struct symbol_sources *sources, uint32_t module)
{
	enum module_kind kind = module_get(sources->modules, module)->kind;

	return sources->cache &&
	       (kind == MODULE_KERNEL || kind == MODULE_VDSO ||
		(kind == MODULE_FILE && files_fd(sources->files, module) >= 0));
}

static struct name_place place_of(const struct symbolizer *s, const struct want *want)
{
	return (struct name_place){ module_serial(s->sources.modules, want->module),
				    want->at };
}

/* Those that were known are named, the others moved to the front; *n: how many. */
static int recall(struct symbolizer *s, struct want *wants, size_t *n)
{
	size_t left = 0;
	int err = 0;

	for (size_t i = 0; !err && i < *n; i++) {
		const struct want want = wants[i];
		const struct name_place location = place_of(s, &want);
		bool is_known;

		err = name_cache_recall(s->sources.cache, &location, s->names, want.frame,
					&is_known);
		if (!is_known)
			wants[left++] = want;
	}
	*n = left;
	return err;
}

static int keep(struct symbolizer *s, const struct want *wants, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		const struct name_place location = place_of(s, &wants[i]);

		err = name_cache_keep(s->sources.cache, &location, s->names,
				      wants[i].frame);
	}
	return err;
}

static void count_batch(struct symbolizer *s, const struct symbol_batch *batch, int err)
{
	const struct module *module =
		module_get(s->sources.modules, batch->wants->module);

	s->counts.inlines_sought += batch->inlines_sought;
	s->counts.inlines_found += batch->inlines_found;
	s->counts.inlines_failed += batch->inlines_failed;
	s->inlines_left_ns = batch->inlines_left_ns;
	s->counts.failed += err != 0;
	s->counts.foreign_maps += err == -EPERM && module->kind == MODULE_JIT;
}

static int name_wants(struct symbolizer *s, const struct want *wants, size_t n)
{
	struct symbol_batch batch = {
		.names = s->names,
		.wants = wants,
		.n = n,
		.inlines_left_ns = s->inlines_left_ns,
	};
	int err = name_module(&s->sources, wants->module, &batch);

	s->counts.modules++;
	end_batch(&batch);
	count_batch(s, &batch, err);
	return err;
}

int symbolizer_step(struct symbolizer *s)
{
	struct want *wants = s->wants + s->next;
	size_t n = 0;
	bool cached;
	int err = 0;

	if (s->next == s->n)
		return 0;
	while (s->next + n < s->n && wants[n].module == wants->module)
		n++;
	s->next += n;
	cached = may_cache(&s->sources, wants->module);
	names_begin_file(s->names);
	if (cached)
		err = recall(s, wants, &n);
	if (!err && n)
		err = name_wants(s, wants, n);
	if (!err && cached)
		err = keep(s, wants, n);
	if (err == -ENOMEM)
		return err;
	error_clear();
	return s->next < s->n ? SYMBOLIZER_MORE : 0;
}

static struct symbolizer_counts counts_of(const struct symbolizer *s)
{
	struct symbolizer_counts counts = s->counts;

	counts.refused = names_refused(s->names);
	return counts;
}

int symbolize(struct names *names, const struct aggregator *aggregator,
	      const struct symbol_sources *sources, struct symbolizer_counts *ret_counts)
{
	AUTO(symbolizer) s = NULL;
	int err = symbolizer_new(&s, names, aggregator, sources);

	if (err)
		return err;
	do
		err = symbolizer_step(s);
	while (err == SYMBOLIZER_MORE);
	*ret_counts = counts_of(s);
	if (names_shortened(names))
		log_verbose("%" PRIu64 " names are shortened (…#): their files have "
			    "many long ones",
			    names_shortened(names));
	return err;
}
