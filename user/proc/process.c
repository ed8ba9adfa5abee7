// SPDX-License-Identifier: BSD-2-Clause
#include "proc/process.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/intern.h"
#include "proc/ended.h"

#include <errno.h>
#include <string.h>

struct process_table {
	struct hmap by_tgid;
	struct module_table *modules;
	struct process_sink sink;
	struct process_counts counts;
	struct ended_queue ended; /* not forgotten yet */
	uint32_t incarnations;
	struct map_lists lists;
};

int process_table_new(struct process_table **ret, struct module_table *modules,
		      const struct process_sink *sink)
{
	AUTO(process_table) table = calloc(1, sizeof(*table));

	if (!table)
		return fail(-ENOMEM, "no memory for the processes");
	table->modules = modules;
	if (sink)
		table->sink = *sink;
	*ret = GIVE(table);
	return 0;
}

static void process_free(struct process_table *table, struct process *process)
{
	map_list_put(&table->lists, process->maps);
	free(process);
}

void process_table_free(struct process_table *table)
{
	struct process *process;

	if (!table)
		return;
	for (size_t i = 0; (process = hmap_next(&table->by_tgid, &i));)
		process_free(table, process);
	hmap_free(&table->by_tgid);
	ended_free(&table->ended);
	free(table);
}

static int process_new(struct process_table *table, const struct side_event *event,
		       struct process **ret)
{
	uint32_t tgid = event->pid;
	struct process *old = hmap_remove(&table->by_tgid, tgid), *process;
	int err;

	if (old)
		process_free(table, old);
	*ret = NULL;
	if (table->by_tgid.n >= PROCESSES_MAX) {
		table->counts.refused++;
		return 0;
	}
	process = calloc(1, sizeof(*process));
	if (!process)
		return fail(-ENOMEM, "no memory for process %u", tgid);
	process->tgid = tgid;
	if (!++table->incarnations) /* 0 says that nothing is known */
		table->incarnations++;
	process->incarnation = table->incarnations;
	process->born_ns = event->time_ns;
	process->is_told =
		event->is_told && (event->kind == SIDE_FORK || event->kind == SIDE_EXEC);
	if (event->kind == SIDE_EXEC)
		memcpy(process->comm, event->comm, sizeof(process->comm));
	table->counts.seen++;
	err = hmap_put(&table->by_tgid, tgid, process);
	if (err) {
		process_free(table, process);
		return err;
	}
	*ret = process;
	return 0;
}

static bool begins_with(const char *path, const char *prefix)
{
	return !strncmp(path, prefix, strlen(prefix));
}

/* Does a process write the code itself that it maps so? Who may not have memory that it
 * both writes to and runs (SELinux) maps a file twice, shared: a memfd, which never had a
 * name, one that has none any more, or one of POSIX's shared memory. Programs and
 * libraries are mapped privately, from wherever they are. */
static bool is_written_beside(const struct side_event *event)
{
	return event->is_shared &&
	       (event->is_deleted || begins_with(event->path, "/dev/shm/"));
}

/* Names that no file bears: memory that the process fills itself. */
static bool is_generated(const struct side_event *event)
{
	static const char *const prefixes[] = { "//anon", "[heap]",    "[stack",
						"[anon",  "/dev/zero", "/anon_hugepage",
						"/SYSV" };

	if (!event->path[0] || is_written_beside(event))
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins_with(event->path, prefixes[i]))
			return true;
	return false;
}

/* INTERN_FULL: there is no room for it. Once half of that is taken, a process that has
 * brought a 256th of what is left brings no more: so nobody takes all of it soon. */
static int bring_module(struct process_table *table, struct process *process,
			const struct module *module, uint32_t *ret)
{
	size_t left = module_bytes_left(table->modules);
	int err;

	if (left < MODULE_BYTES_MAX / 2 && process->module_bytes > left / 256 &&
	    !module_is_there(table->modules, module))
		return INTERN_FULL;
	err = module_id(table->modules, module, ret);
	process->module_bytes += left - module_bytes_left(table->modules);
	return err;
}

/* A file that is the root of a mount has no path while that is mounted nowhere. crun runs
 * itself out of such a one: then it is the first file that the process maps. */
static const char *path_of(const struct process_table *table,
			   const struct process *process, const struct side_event *event)
{
	bool is_program = process->comm[0];
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	if (strcmp(event->path, "/") != 0)
		return event->path;
	for (size_t i = 0; i < n; i++) {
		const struct module *module = module_get(table->modules, maps[i].module);

		if (module->kind != MODULE_FILE)
			continue;
		if (module->ino == event->ino && module->maj == event->maj &&
		    module->min == event->min)
			return module->path;
		is_program = false;
	}
	return is_program ? process->comm : "[detached]";
}

static int module_of(struct process_table *table, struct process *process,
		     const struct side_event *event, uint32_t *ret)
{
	struct module module = {
		.kind = MODULE_FILE,
		.maj = event->maj,
		.min = event->min,
		.ino = event->ino,
		.pid = process->tgid,
		.is_writable = event->is_writable,
		.path = path_of(table, process, event),
	};
	int err;

	if (!strcmp(event->path, "[vdso]")) {
		*ret = MODULE_ID_VDSO;
		return 0;
	}
	if (is_generated(event)) {
		module = (struct module){
			.kind = MODULE_JIT,
			.pid = process->tgid,
			.incarnation = process->incarnation,
			.path = "[jit]",
		};
	}
	err = bring_module(table, process, &module, ret);
	if (err == INTERN_FULL) {
		table->counts.refused++;
		*ret = MODULE_ID_UNMAPPED;
		return 0;
	}
	return err;
}

static int get_or_new(struct process_table *table, const struct side_event *event,
		      struct process **ret)
{
	*ret = hmap_get(&table->by_tgid, event->pid);
	return *ret ? 0 : process_new(table, event, ret);
}

static bool is_late(const struct process_table *table, const struct side_event *event)
{
	const struct process *process = hmap_get(&table->by_tgid, event->pid);

	return process && event->time_ns < process->born_ns;
}

/* As /proc says again, where something was not told. Code that is generated anew at the
 * same place is another. */
static bool is_there(const struct process *process, const struct mapping *map)
{
	const struct mapping *known = process_mapping(process, map->start);

	return known && !map->is_jit && known->start == map->start &&
	       known->end == map->end && known->pgoff == map->pgoff &&
	       known->module == map->module;
}

static int add_mapping(struct process_table *table, struct process *process,
		       const struct mapping *map)
{
	int err = map_list_add(&table->lists, &process->maps, map);

	if (!err && table->sink.mapped)
		table->sink.mapped(table->sink.arg, process, map);
	return err;
}

/* /proc tells what lies in the middle of a file's text before it tells of the rest. */
static int add_copy_before(struct process_table *table, struct process *process,
			   const struct mapping *map)
{
	const struct mapping *before = process_mapping(process, map->start - 1);
	struct mapping copy;

	if (map->is_jit || !before || !before->is_jit)
		return 0;
	copy = *before;
	return map_list_resolve_copy(process->maps, &copy)
		       ? add_mapping(table, process, &copy)
		       : 0;
}

static int apply_mmap(struct process_table *table, const struct side_event *event)
{
	struct mapping map = {
		.start = event->start,
		.end = event->start + event->bytes,
		.pgoff = event->pgoff,
		.born_ns = event->time_ns,
	};
	struct process *process;
	int err = get_or_new(table, event, &process);

	if (err || !process || map.end <= map.start)
		return err;
	if (!map_list_has_room(&table->lists, process->maps)) {
		table->counts.refused++;
		return 0;
	}
	err = module_of(table, process, event, &map.module);
	if (err)
		return err;
	map.is_jit = module_get(table->modules, map.module)->kind == MODULE_JIT;
	if (map.is_jit)
		map_list_resolve_copy(process->maps, &map);
	if (is_there(process, &map))
		return 0;
	err = add_mapping(table, process, &map);
	return err ? err : add_copy_before(table, process, &map);
}

static int apply_exec(struct process_table *table, const struct side_event *event)
{
	struct process *process = hmap_get(&table->by_tgid, event->pid);
	uint32_t ppid = process ? process->ppid : 0;
	int err = process_new(table, event, &process);

	if (!err && process)
		process->ppid = ppid;
	if (!err && process && table->sink.exec)
		table->sink.exec(table->sink.arg, process);
	return err;
}

static int apply_fork(struct process_table *table, const struct side_event *event)
{
	struct process *parent = hmap_get(&table->by_tgid, event->ppid), *child;
	int err;

	if (event->pid == event->ppid) { /* a thread */
		if (parent)
			parent->threads++;
		return 0;
	}
	err = process_new(table, event, &child);
	if (err || !child)
		return err;
	child->ppid = event->ppid;
	if (parent)
		memcpy(child->comm, parent->comm, sizeof(child->comm));
	if (parent)
		child->maps = map_list_share(parent->maps);
	if (table->sink.forked)
		table->sink.forked(table->sink.arg, child, parent, event->time_ns);
	return 0;
}

static void apply_rename(struct process_table *table, const struct side_event *event)
{
	struct process *process = hmap_get(&table->by_tgid, event->pid);

	if (process && event->tid == event->pid)
		memcpy(process->comm, event->comm, sizeof(process->comm));
}

/* A process ends with its last thread, which need not be its leader. */
static int apply_exit(struct process_table *table, const struct side_event *event)
{
	struct process *process = hmap_get(&table->by_tgid, event->pid);
	int err = 0;

	if (!process)
		return 0;
	if (!event->tid) {
		process->threads = 0;
		table->counts.unheard += !process->ended_ns;
	}
	if (!event->tid || event->pid == event->tid)
		process->leader_ended = true;
	else if (process->threads)
		process->threads--;
	if (!process->leader_ended || process->threads)
		return 0;
	if (!process->ended_ns && event->time_ns)
		err = ended_add(&table->ended,
				&(struct ended){ event->time_ns, process->tgid,
						 process->incarnation });
	if (err)
		return err;
	process->ended_ns = event->time_ns;
	if (table->sink.ended)
		table->sink.ended(table->sink.arg, process);
	return 0;
}

int process_apply(struct process_table *table, const struct side_event *event)
{
	table->counts.records++;
	if (is_late(table, event))
		return 0;
	switch (event->kind) {
	case SIDE_MMAP:
		return apply_mmap(table, event);
	case SIDE_EXEC:
		return apply_exec(table, event);
	case SIDE_RENAME:
		apply_rename(table, event);
		return 0;
	case SIDE_FORK:
		return apply_fork(table, event);
	case SIDE_EXIT:
		return apply_exit(table, event);
	case SIDE_LOST:
		table->counts.lost += event->lost;
		return 0;
	default:
		return 0;
	}
}

void process_seen(struct process_table *table, uint32_t tgid, uint64_t time_ns)
{
	struct process *process = hmap_get(&table->by_tgid, tgid);

	if (process && process->ended_ns && process->ended_ns < time_ns)
		process->ended_ns = time_ns;
}

int process_put_copy(struct process_table *table, uint32_t tgid,
		     const struct mapping *copy)
{
	struct process *process = hmap_get(&table->by_tgid, tgid);

	if (!process || !map_list_has_room(&table->lists, process->maps)) {
		table->counts.refused += process != NULL;
		return 0;
	}
	return add_mapping(table, process, copy);
}

void process_set_code_since(struct process_table *table, uint32_t tgid, uint64_t since_ns)
{
	struct process *process = hmap_get(&table->by_tgid, tgid);

	if (process)
		process->code_since_ns = since_ns;
}

const struct process *process_get(const struct process_table *table, uint32_t tgid)
{
	return hmap_get(&table->by_tgid, tgid);
}

const struct process *process_running(const struct process_table *table, uint32_t tgid,
				      uint32_t incarnation)
{
	const struct process *process = process_get(table, tgid);

	return process && process->incarnation == incarnation && !process->ended_ns
		       ? process
		       : NULL;
}

const struct mapping *process_mapping(const struct process *process, uint64_t addr)
{
	return map_list_find(process->maps, addr);
}

bool process_has_file(const struct process_table *table, const struct process *process,
		      const struct side_event *event)
{
	const struct mapping *map = process_mapping(process, event->start);
	const struct module *module =
		map ? module_get(table->modules, map->module) : NULL;

	return module && map->start == event->start && map->pgoff == event->pgoff &&
	       module->kind == MODULE_FILE && module->ino == event->ino &&
	       module->maj == event->maj && module->min == event->min;
}

const struct mapping *process_mappings(const struct process *process, size_t *ret_n)
{
	return map_list_items(process->maps, ret_n);
}

const struct mapping *process_generated(const struct process *process)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++)
		if (maps[i].is_jit && !maps[i].is_copy)
			return &maps[i];
	return NULL;
}

void process_mark_modules(const struct process_table *table)
{
	const struct process *process;

	for (size_t i = 0; (process = process_next(table, &i));) {
		size_t n;
		const struct mapping *maps = process_mappings(process, &n);

		for (size_t k = 0; k < n; k++)
			module_mark(table->modules, maps[k].module);
	}
}

uint64_t process_version(const struct process *process)
{
	return map_list_version(process->maps);
}

const struct process *process_next(const struct process_table *table, size_t *i)
{
	return hmap_next(&table->by_tgid, i);
}

void process_forget(struct process_table *table, uint64_t before_ns)
{
	const struct ended *next;

	while ((next = ended_next(&table->ended, before_ns))) {
		struct process *process = hmap_get(&table->by_tgid, next->tgid);

		if (!process || process->incarnation != next->incarnation) {
			ended_drop(&table->ended); /* its pid was used again */
		} else if (process->ended_ns >= before_ns) {
			ended_put_off(&table->ended, process->ended_ns);
		} else {
			ended_drop(&table->ended);
			process_free(table, hmap_remove(&table->by_tgid, process->tgid));
		}
	}
}

const struct process_counts *process_counts(const struct process_table *table)
{
	return &table->counts;
}
