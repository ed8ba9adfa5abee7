// SPDX-License-Identifier: BSD-2-Clause
#include "publish/copies.h"

#include "base/error.h"
#include "core/sample.h"
#include "publish/hotspots.h"

#define COPY_PACE_NS   20000000ULL /* a process; */
#define COPIES_A_SHIFT 8	   /* twice that after so many, and so on */
#define COPY_SHIFT_MAX 12
#define STEADY_NS      500000000ULL /* and is what was copied lost again, only then */

/* How stacks of a program, of all its processes, led on from its generated code. */
struct program {
	uint32_t n_lost, n_unproven;
};

#define PROGRAMS_MAX 4096
#define LOST_SHARE   2 /* one is lost for so many: its code keeps no frame pointers */

static bool is_lost(unsigned int ending)
{
	return ending == END_BROKEN || ending == END_UNREADABLE ||
	       ending == END_FP_ZERO || ending == END_TORN;
}

/* The mapping of generated code in which the stack was lost, by an address of it; NULL:
 * elsewhere. What leads on from there unproven, if anything, was none of its callers. */
static const struct mapping *find_lost(const struct process *process,
				       const struct sample_rec *rec, uint64_t *ret_addr)
{
	const uint64_t *words = (const uint64_t *)rec->words + rec->n_kernel;
	const struct mapping *map;

	for (unsigned int i = 0; i < rec->n_thread; i++) {
		bool is_last = i + 1 == rec->n_thread;

		if (!publisher_is_address(words[i]) ||
		    (!is_last && FRAME_KIND(words[i + 1]) != FRAME_UNPROVEN))
			continue;
		*ret_addr = FRAME_ADDR(words[i]) - (FRAME_KIND(words[i]) != FRAME_USER);
		map = process_mapping(process, *ret_addr);
		if (map && map->is_jit)
			return map;
	}
	return NULL;
}

static bool is_too_soon(const struct publisher *p, struct process_entry *entry,
			const struct mapping *map, uint64_t now_ns)
{
	const struct table *table =
		map->is_copy ? tables_get(p->tables, map->module) : NULL;
	unsigned int shift = entry->n_copies / COPIES_A_SHIFT;

	if (table && (table_is_awaited(table) || now_ns - map->born_ns < STEADY_NS))
		return true;
	shift = shift < COPY_SHIFT_MAX ? shift : COPY_SHIFT_MAX;
	if (entry->n_copies && now_ns - entry->copied_ns < COPY_PACE_NS << shift)
		return true;
	entry->n_copies++;
	entry->copied_ns = now_ns;
	return false;
}

/* How far generated code goes on beside an address, as far as is of interest. */
static uint64_t find_low(const struct process *process, uint64_t start)
{
	uint64_t low = start, least = start - COPY_AROUND_BYTES;
	const struct mapping *map;

	while (low > least && (map = process_mapping(process, low - 1)) && map->is_jit)
		low = map->start > least ? map->start : least;
	return low;
}

static uint64_t find_high(const struct process *process, uint64_t end)
{
	uint64_t high = end, most = end + COPY_AROUND_BYTES;
	const struct mapping *map;

	while (high < most && (map = process_mapping(process, high)) && map->is_jit)
		high = map->end < most ? map->end : most;
	return high;
}

/* What of the mapping is walked by a copy. */
static struct mapping part_of(const struct mapping *map, uint64_t addr)
{
	struct mapping part = *map;
	uint64_t from = addr & -(uint64_t)COPY_PART_BYTES;

	if (map->end - map->start <= COPY_WHOLE_BYTES)
		return part;
	if (from > part.start)
		part.start = from;
	if (from + COPY_PART_BYTES < part.end)
		part.end = from + COPY_PART_BYTES;
	return part;
}

static int copy(struct publisher *p, const struct process *process,
		const struct mapping *map, uint64_t addr)
{
	struct mapping part = part_of(map, addr);
	const struct module module = {
		.kind = MODULE_COPY,
		.ino = ++p->n_copies,
		.begin = find_low(process, part.start),
		.end = find_high(process, part.end),
		.path = "[jit]",
	};
	int err = module_id(p->config.modules, &module, &part.module);

	if (err)
		return err < 0 ? err : 0; /* no room for another: as before */
	part.pgoff = part.start;
	part.born_ns = p->config.outside->now_ns();
	part.is_copy = true;
	return process_put_copy(p->processes, process->tgid, &part);
}

void copies_free(struct publisher *p)
{
	struct program *program;

	for (size_t i = 0; (program = hmap_next(&p->programs, &i));)
		free(program);
	hmap_free(&p->programs);
}

/* By what it maps first, which is the program itself, or lies as low in all of its
 * processes. NULL: no memory. */
static struct program *program_of(struct publisher *p, const struct process *process)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);
	uint64_t serial = n ? module_serial(p->config.modules, maps[0].module) : 0;
	struct program *program = hmap_get(&p->programs, serial);

	if (program)
		return program;
	if (p->programs.n >= PROGRAMS_MAX)
		copies_free(p);
	program = calloc(1, sizeof(*program));
	if (program && !hmap_put(&p->programs, serial, program))
		return program;
	free(program);
	error_clear(); /* it is asked for again */
	return NULL;
}

/* Are more stacks lost in this mapping than lead on by a frame pointer? Of Erlang's and
 * V8's few are, whose frame pointers are true elsewhere. */
static bool loses_most(struct process_entry *entry, const struct mapping *map,
		       bool is_lost_there)
{
	struct generated_counts *counts =
		&entry->generated[map->start / COPY_AROUND_BYTES % GENERATED_COUNTED];

	if (counts->start != map->start)
		*counts = (struct generated_counts){ .start = map->start };
	counts->n_lost += is_lost_there;
	counts->n_unproven += !is_lost_there;
	return counts->n_lost > counts->n_unproven;
}

/* Is the code in which this sample's stack was lost, or unproven, to be copied? */
static bool is_of_interest(struct publisher *p, const struct process *process,
			   struct process_entry *entry, const struct mapping *map,
			   bool is_lost_there)
{
	struct program *program = program_of(p, process);
	bool loses = loses_most(entry, map, is_lost_there);

	if (!program)
		return false;
	program->n_lost += is_lost_there;
	program->n_unproven += !is_lost_there;
	return is_lost_there ? loses
			     : program->n_lost >= program->n_unproven / LOST_SHARE + 1;
}

void copies_on_sample(struct publisher *p, const struct sample_rec *rec)
{
	const struct process *process;
	struct process_entry *entry;
	const struct mapping *map;
	uint64_t addr;

	if ((!is_lost(rec->ending) && !(rec->flags & SAMPLE_UNPROVEN)) ||
	    !p->mapping_tables)
		return;
	process = process_get(p->processes, rec->tgid);
	entry = hmap_get(&p->entries, rec->tgid);
	if (!process || process->ended_ns || !entry)
		return;
	map = find_lost(process, rec, &addr);
	/* A JVM's code cache says more of its own. What a library generates beside it may
	 * leave the frame pointer alone: that leads on to Java, past C, and nothing is
	 * ever lost. */
	if (map && !hotspot_may_own(&entry->hotspot, addr) &&
	    (entry->hotspot.is_put ||
	     is_of_interest(p, process, entry, map, is_lost(rec->ending))) &&
	    !is_too_soon(p, entry, map, p->config.outside->now_ns()))
		publisher_note_error(p, copy(p, process, map, addr));
}
