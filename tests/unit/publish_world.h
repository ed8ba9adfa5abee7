/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens in the world of publish_outside.h, and what ticks find in it then. */
#ifndef WEFT_TESTS_PUBLISH_WORLD_H
#define WEFT_TESTS_PUBLISH_WORLD_H

#include "publish_outside.h"

/* ---- what happens in it ---- */

static inline void world_hear(const struct side_event *event)
{
	struct str record = { 0 };

	side_event_write(&record, event);
	assert_int_equal(publisher_enqueue(world.publisher, record.s, record.n), 0);
	str_free(&record);
}

static inline struct side_event world_event(enum side_kind kind, int pid)
{
	return (struct side_event){ .kind = kind,
				    .time_ns = world.now_ns,
				    .pid = (uint32_t)pid,
				    .tid = (uint32_t)pid };
}

/* Inode 0: generated code. link: which of its names. */
static inline void world_map_bytes(int pid, uint64_t ino, int link, uint64_t at,
				   uint64_t bytes)
{
	struct side_event event = world_event(SIDE_MMAP, pid);

	event.start = at;
	event.bytes = bytes;
	if (ino) {
		event.pgoff = TEXT_PGOFF;
		event.maj = 8;
		event.ino = ino;
		snprintf(event.path, sizeof(event.path), "/file-%d-%d", (int)ino, link);
	} else {
		strcpy(event.path, "//anon");
	}
	world_hear(&event);
}

static inline void world_map_link(int pid, uint64_t ino, int link, uint64_t at)
{
	world_map_bytes(pid, ino, link, at, TEXT_BYTES);
}

static inline void world_map(int pid, uint64_t ino, uint64_t at)
{
	world_map_link(pid, ino, 0, at);
}

/* The kernel's half passes on what was published. */
static inline void world_fork(int parent, int child)
{
	const struct side_event event = world_event(SIDE_EXIT, child);
	const uint32_t type = PERF_RECORD_FORK, ppid = (uint32_t)parent;
	struct str record = { 0 };

	world.processes[child] = world.processes[parent];
	world.is_published[child] = world.is_published[parent];
	world.procs[child] = world.procs[parent];
	world.procs[child].start_ticks += (uint64_t)child;
	if (world.is_published[child])
		world.processes[child].start_ticks = world.procs[child].start_ticks;
	side_event_write(&record, &event);
	memcpy(record.s, &type, sizeof(type));
	memcpy(record.s + sizeof(struct perf_event_header) + sizeof(ppid), &ppid,
	       sizeof(ppid));
	assert_int_equal(publisher_enqueue(world.publisher, record.s, record.n), 0);
	str_free(&record);
}

static inline void world_exec(int pid)
{
	const struct side_event event = world_event(SIDE_EXEC, pid);

	world.procs[pid].start_stack += 0x1000;
	world_hear(&event);
}

/* The kernel's half hears of it. */
static inline void world_begin_life(int pid)
{
	world.procs[pid].start_stack += 0x1000;
	world.procs[pid].after_ns = world.procs[pid].until_ns;
	world.procs[pid].until_ns = world.now_ns;
}

/* As perf says it, not as /proc shows it later. */
static inline void world_tell_exec(int pid)
{
	struct side_event event = world_event(SIDE_EXEC, pid);

	event.is_told = true;
	world_begin_life(pid);
	world_hear(&event);
}

static inline void world_exit(int pid)
{
	const struct side_event event = world_event(SIDE_EXIT, pid);

	world.is_published[pid] = false;
	world_hear(&event);
}

static inline int world_flush(void)
{
	return publisher_flush(world.publisher, NULL);
}

static inline void world_pass(uint64_t ns)
{
	world.now_ns += ns;
	assert_true(world_flush() >= 0);
}

static inline struct publisher_counts world_counts(void)
{
	struct publisher_counts counts;

	publisher_count(world.publisher, &counts);
	return counts;
}

static inline void world_begin_in(const struct outside *outside,
				  struct publisher_config config)
{
	world_reset();
	config.outside = outside;
	config.worker = &world_worker;
	config.modules = world.modules;
	if (!config.maps.n_pages)
		config.maps.n_pages = WORLD_PAGES;
	assert_int_equal(publisher_new(&world.publisher, &config), 0);
}

static inline void world_begin_with(struct publisher_config config)
{
	world_begin_in(&world_outside, config);
}

static inline void world_begin(void)
{
	world_begin_with((struct publisher_config){ .tables = true });
}

static inline void world_end(void)
{
	publisher_free(world.publisher);
	world_close();
}

/* ---- what ticks find in it ---- */

/* Would a tick in this process use what is published for it? */
static inline bool world_is_believed(int pid)
{
	const struct process_info *what = &world.processes[pid];

	if (world.is_published[pid] && !what->start_ticks)
		return what->told_ns > world.procs[pid].after_ns &&
		       what->told_ns <= world.procs[pid].until_ns;
	return world.is_published[pid] &&
	       what->start_ticks == world.procs[pid].start_ticks &&
	       what->start_stack == world.procs[pid].start_stack;
}

/* NULL: nothing is known to be mapped there. */
static inline const struct unwind_mapping *world_mapping(int pid, uint64_t addr)
{
	const struct process_info *what = &world.processes[pid];
	const struct unwind_mapping *all;

	if (!world_is_believed(pid) || !what->mapping_table ||
	    world.pages[what->mapping_table].mapping_head.generation != what->generation)
		return NULL;
	all = world.pages[what->mapping_table].mappings; /* pages lie in a row */
	for (uint32_t i = 1; i <= what->n_mappings; i++)
		if (addr >= all[i].start && addr < all[i].end)
			return &all[i];
	return NULL;
}

/* By this file's table, with its bias? */
static inline bool world_walks_by_table(int pid, uint64_t ino, uint64_t at)
{
	const struct unwind_mapping *mapping = world_mapping(pid, at);

	return mapping && mapping->table && mapping->bias == at - TEXT_VADDR &&
	       world.pages[mapping->table].head.text == ino;
}

static inline bool world_walks_by_fp(int pid, uint64_t at)
{
	const struct unwind_mapping *mapping = world_mapping(pid, at);

	return mapping && !mapping->table && mapping->flags & UNWIND_BY_FP;
}

/* Neither: what is mapped there is known, and that its table is still to come. */
static inline bool world_awaits(int pid, uint64_t at)
{
	const struct unwind_mapping *mapping = world_mapping(pid, at);

	return mapping && !mapping->table && !(mapping->flags & UNWIND_BY_FP);
}

/* With all of its pages? */
static inline bool is_table_of(uint32_t first, uint64_t ino)
{
	for (uint32_t i = 0; i < world.files[ino].n_pages; i++)
		if (world.pages[first + i].head.text != ino)
			return false;
	return true;
}

/* Never true of anything that ticks would use: another file's table, or mappings that
 * a search would not find its way through. */
static inline void world_check(const char *when)
{
	const struct process *process;
	size_t n;

	for (uint64_t ino = 1; ino < WORLD_FILES; ino++)
		if (world.told[ino].table && !is_table_of(world.told[ino].table, ino))
			fail_msg("%s: file %d is told to have another's table", when,
				 (int)ino);
	for (int pid = 1; pid < WORLD_PIDS; pid++) {
		process =
			process_get(publisher_processes(world.publisher), (uint32_t)pid);
		if (!process || !world_is_believed(pid))
			continue;
		const struct mapping *maps = process_mappings(process, &n);

		for (size_t i = 0; i < n; i++) {
			const struct unwind_mapping *mapping =
				world_mapping(pid, maps[i].start);
			uint64_t ino = module_get(world.modules, maps[i].module)->ino;

			if (mapping && mapping->table &&
			    mapping->start == maps[i].start &&
			    !is_table_of(mapping->table, ino))
				fail_msg("%s: process %d walks file %d by the table of "
					 "file %d",
					 when, pid, (int)ino,
					 (int)world.pages[mapping->table].head.text);
		}
	}
}

#endif
