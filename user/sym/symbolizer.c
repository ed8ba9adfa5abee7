// SPDX-License-Identifier: BSD-2-Clause
#include "sym/symbolizer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "proc/opener.h"
#include "sym/debug_files.h"
#include "sym/name_turns.h"
#include "sym/symbol_batch.h"
#include "sym/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_OF_LABEL_MAX 256
#define INLINES_ALL_NS	  10000000000
#define QUICK_NS	  20000000

struct symbolizer {
	struct names *names;
	const struct aggregator *aggregator;
	struct symbol_sources sources;
	struct symbol_want *wants; /* by module and address */
	size_t n;
	struct name_turns *turns; /* of modules, each by its first want */
	struct debug_files *debug;
	int64_t inlines_left_ns;
	struct symbolizer_counts counts;
};

static int by_module_and_address(const void *a, const void *b)
{
	const struct symbol_want *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void read_locations(struct symbolizer *s, struct symbol_batch *batch, int fd)
{
	uint32_t module = batch->wants->module;
	AUTO_CLOSE int alternate =
		debug_files_alternate(s->debug, module, fd, symbol_batch_left_ms(batch));
	AUTO_FREE uint64_t *linked =
		symbol_batch_linked(batch, files_elf_info(s->sources.files, module));
	struct split_files splits;
	struct inline_files files;

	if (!linked) {
		error_clear();
		return;
	}
	debug_files_splits(s->debug, module,
			   &(struct name_request){ NAMES_SPLITS, fd, linked,
						   batch->n_addrs,
						   symbol_batch_left_ms(batch) },
			   &splits);
	files = (struct inline_files){ alternate, splits.files, splits.n };
	symbol_batch_read_locations(
		batch, &(struct location_source){
			       fd, &files, linked,
			       module_get(s->sources.modules, module)->path });
	split_files_close(&splits);
}

/* Of stripped files some window has new places nearly always. */
static int find_debug(struct symbolizer *s, uint32_t module, struct symbol_batch *batch)
{
	struct name_cache *cache = s->sources.cache;
	uint64_t serial = module_serial(s->sources.modules, module);
	int fd;

	if (cache && name_cache_has_no_debug(cache, serial))
		return -1;
	fd = debug_files_open(s->debug, module, symbol_batch_left_ms(batch));
	if (fd < 0 && cache && symbol_batch_left_ms(batch) &&
	    name_cache_set_no_debug(cache, serial))
		error_clear(); /* it is looked for again */
	return fd;
}

static int name_file(struct symbolizer *s, uint32_t module, struct symbol_batch *batch)
{
	static const enum name_source unnamed[] = { NAMES_GO, NAMES_FUNCTION_STARTS };
	const struct symbol_sources *sources = &s->sources;
	const struct elf_info *info = files_elf_info(sources->files, module);
	const char *path = module_get(sources->modules, module)->path;
	AUTO_CLOSE int debug = info ? find_debug(s, module, batch) : -1;
	int fd = files_fd(sources->files, module), err = 0;

	if (debug >= 0)
		err = symbol_batch_read_debug(batch, debug, info);
	if (!err && fd >= 0)
		err = symbol_batch_read(batch, NAMES_ELF, fd);
	if (!err && debug < 0 && info && symbol_batch_lacks_names(batch)) {
		debug = debug_files_fetch(s->debug, module, symbol_batch_left_ms(batch));
		if (debug >= 0)
			err = symbol_batch_read_debug(batch, debug, info);
	}
	if (!err && sources->inlines && info && debug >= 0)
		read_locations(s, batch, debug);
	/* which has Go's own table where no debug file tells more */
	if (!err && sources->inlines && info && fd >= 0 && !batch->inlines_found)
		read_locations(s, batch, fd);
	/* what can't be read costs nothing of the next, unless it took all the time */
	for (size_t i = 0; i < sizeof(unnamed) / sizeof(*unnamed); i++) {
		int more = 0;

		if (fd >= 0 && err != -ENOMEM && err != -ETIMEDOUT)
			more = symbol_batch_read_unnamed(batch, unnamed[i], fd, path);
		err = err && more != -ENOMEM && more != -ETIMEDOUT ? err : more;
	}
	return err;
}

/* What its runtime wrote down. */
static int name_as_written(const struct symbol_sources *sources, uint32_t module,
			   struct symbol_batch *batch)
{
	const struct module *jit = module_get(sources->modules, module);
	const struct process *now = process_get(sources->processes, jit->pid);
	struct owner owner = files_owner(sources->files, module);
	int dump = jitdumps_fd(sources->jitdumps, jit->pid, jit->incarnation);
	int kept = perf_maps_fd(sources->perf_maps, jit->pid, jit->incarnation);
	bool is_another = now && now->incarnation != jit->incarnation;
	AUTO_CLOSE int fd = -1;
	int err = -ESRCH;

	/* which goes before a perf map, that knows no times */
	if (dump >= 0 && !jitdumps_name(batch, dump))
		return 0;
	if (dump >= 0)
		log_verbose("the jitdump of pid %u: %s", jit->pid, error_sentence());
	error_clear();
	/* the map at that path may be another's by now */
	if (!is_another && (kept < 0 || (now && !now->ended_ns)))
		err = opener_perf_map(sources->opener, (pid_t)jit->pid, &owner,
				      PERF_MAP_BYTES_MAX, &fd);
	if (err && kept >= 0) {
		error_clear();
		return symbol_batch_read(batch, NAMES_PERF_MAP, kept);
	}
	if (err) /* most generated code has none, and -ENOENT is no news */
		return err == -ENOENT ? 0 : err;
	return symbol_batch_read(batch, NAMES_PERF_MAP, fd);
}

static int name_jit(const struct symbol_sources *sources, uint32_t module,
		    struct symbol_batch *batch)
{
	const struct module *jit = module_get(sources->modules, module);
	AUTO_CLOSE int fd = -1;
	int err = name_as_written(sources, module, batch);

	if (!symbol_batch_lacks_names(batch) ||
	    jvm_names_fd(sources->jvm_names, jit->pid, jit->incarnation, &fd))
		return err;
	return symbol_batch_read(batch, NAMES_PERF_MAP, fd);
}

static int name_vdso(struct symbol_batch *batch)
{
	AUTO_CLOSE int fd = vdso_open();

	return fd < 0 ? fd : symbol_batch_read(batch, NAMES_ELF, fd);
}

static int open_kernel_symbols(const struct symbol_sources *sources,
			       const struct symbol_batch *batch)
{
	int fd = -1;

	if (sources->kernel_symbols)
		fd = sources->kernel_symbols(sources->kernel_symbols_arg, batch->addrs,
					     batch->n_addrs);
	if (fd >= 0)
		return fd;
	error_clear();
	return open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

static int name_kernel(const struct symbol_sources *sources, struct symbol_batch *batch)
{
	AUTO_CLOSE int fd = open_kernel_symbols(sources, batch);

	return fd < 0 ? -errno : symbol_batch_read(batch, NAMES_KALLSYMS, fd);
}

static int name_module(struct symbolizer *s, uint32_t module, struct symbol_batch *batch)
{
	const struct symbol_sources *sources = &s->sources;

	names_begin_file(batch->names);
	switch (module_get(sources->modules, module)->kind) {
	case MODULE_FILE:
		return name_file(s, module, batch);
	case MODULE_JIT:
		return name_jit(sources, module, batch);
	case MODULE_VDSO:
		return name_vdso(batch);
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
	name_turns_free(s->turns);
	debug_files_free(s->debug);
	free(s);
}

static int make_wants(struct symbolizer *s)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < s->n; id++) {
		const struct frame *frame = aggregator_frame(s->aggregator, id);

		if (frame->returned == FRAME_IS_LABEL)
			err = name_label(s->names, s->aggregator, id);
		else
			files_note_sampled(s->sources.files, frame->module);
		s->wants[id] =
			(struct symbol_want){ frame->module, id,
					      frame->offset - (frame->returned == 1) };
	}
	qsort(s->wants, s->n, sizeof(*s->wants), by_module_and_address);
	return err;
}

static size_t wants_of_module(const struct symbolizer *s, size_t first)
{
	size_t n = 1;

	while (first + n < s->n && s->wants[first + n].module == s->wants[first].module)
		n++;
	return n;
}

static int make_turns(struct symbolizer *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->n; i += wants_of_module(s, i))
		err = name_turns_add(
			s->turns, files_payer(s->sources.files, s->wants[i].module), i);
	return err;
}

/* Who was called after the start of a function has a name by now, maybe. */
static void take_arrived(const struct symbol_sources *sources)
{
	struct build_id id, other;

	while (sources->servers && sources->cache &&
	       debug_servers_arrived(sources->servers, &id))
		for (uint32_t m = 0; m < module_count(sources->modules); m++) {
			other = build_id_of(files_elf_info(sources->files, m));
			if (build_id_is_same(&id, &other))
				name_cache_forget(sources->cache,
						  module_serial(sources->modules, m));
		}
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
	take_arrived(sources);
	err = make_wants(s);
	if (!err)
		err = name_turns_new(&s->turns, sources->others_ms);
	if (!err) {
		name_turns_set_budgets(s->turns, files_budgets(sources->files));
		err = make_turns(s);
	}
	if (!err)
		err = debug_files_new(
			&s->debug,
			&(struct debug_sources){ sources->modules, sources->processes,
						 sources->files, sources->worker,
						 sources->opener, sources->symfs,
						 sources->servers });
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

static struct name_place place_of(const struct symbolizer *s,
				  const struct symbol_want *want)
{
	return (struct name_place){ module_serial(s->sources.modules, want->module),
				    want->at };
}

/* Those that were known are named, the others moved to the front; *n: how many. */
static int recall(struct symbolizer *s, struct symbol_want *wants, size_t *n)
{
	size_t left = 0;
	int err = 0;

	for (size_t i = 0; !err && i < *n; i++) {
		const struct symbol_want want = wants[i];
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

static int keep(struct symbolizer *s, const struct symbol_want *wants, size_t n)
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
	s->counts.bad_dumps += batch->dump_failed;
	s->counts.failed += err != 0;
	s->counts.foreign_maps += err == -EPERM && module->kind == MODULE_JIT;
}

/* A quick file costs what passed; of a slow one what the parser took, as the machine may
 * have had others to run. */
static uint64_t taken_ns(const struct symbol_batch *batch, uint64_t passed_ns)
{
	uint64_t taken = worker_names_ns(batch->worker) - batch->begun_ns;

	if (passed_ns > QUICK_NS)
		passed_ns = QUICK_NS;
	return taken > passed_ns ? taken : passed_ns;
}

static int name_wants(struct symbolizer *s, const struct symbol_want *wants, size_t n,
		      int deadline_ms)
{
	uint64_t begun_ns = clock_now_ns();
	uint64_t waited_ns = debug_files_waited_ns(s->debug);
	uint64_t passed_ns;
	struct symbol_batch batch = {
		.worker = s->sources.worker,
		.names = s->names,
		.aggregator = s->aggregator,
		.wants = wants,
		.n = n,
		.deadline_ms = deadline_ms,
		.begun_ns = worker_names_ns(s->sources.worker),
		.inlines_left_ns = s->inlines_left_ns,
	};
	int err = deadline_ms ? symbol_batch_begin(&batch) : -ETIMEDOUT;

	if (!err)
		err = name_module(s, wants->module, &batch);
	s->counts.out_of_time += !deadline_ms;
	/* what a server takes is nobody's fault here */
	passed_ns =
		clock_now_ns() - begun_ns - (debug_files_waited_ns(s->debug) - waited_ns);
	name_turns_took(s->turns, taken_ns(&batch, passed_ns));
	s->counts.modules++;
	symbol_batch_end(&batch);
	count_batch(s, &batch, err);
	return err;
}

int symbolizer_step(struct symbolizer *s)
{
	struct symbol_want *wants;
	size_t first, n;
	int deadline_ms, err = 0;
	bool cached;

	if (!name_turns_next(s->turns, &first, &deadline_ms))
		return 0;
	wants = s->wants + first;
	n = wants_of_module(s, first);
	cached = may_cache(&s->sources, wants->module);
	names_begin_file(s->names);
	if (cached)
		err = recall(s, wants, &n);
	if (!err && n && !s->sources.only_known)
		err = name_wants(s, wants, n, deadline_ms);
	if (!err && cached && !s->sources.only_known)
		err = keep(s, wants, n);
	if (err == -ENOMEM)
		return err;
	error_clear();
	return SYMBOLIZER_MORE;
}

static struct symbolizer_counts counts_of(const struct symbolizer *s)
{
	struct symbolizer_counts counts = s->counts;

	counts.others_ns = name_turns_others_ns(s->turns);
	counts.debug = debug_files_counts(s->debug);
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
