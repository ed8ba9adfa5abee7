// SPDX-License-Identifier: BSD-2-Clause
#include "flow/keys.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/vec.h"
#include "proc/scan.h"

#include <errno.h>
#include <string.h>

#define DELAYS_MOST 65536

struct keys {
	struct sampler *sampler;
	struct files *files;
	struct pipeline *pipeline;
	struct hmap lives; /* tgid -> the life that was published, never 0 */
	uint64_t started_ns;
	VEC(uint64_t) delays_ns;
	struct keys_counts counts;
	int err;
};

int keys_new(struct keys **ret, struct sampler *sampler)
{
	struct keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		return fail(-ENOMEM, "no memory for the keys");
	keys->sampler = sampler;
	*ret = keys;
	return 0;
}

void keys_free(struct keys *keys)
{
	if (!keys)
		return;
	hmap_free(&keys->lives);
	vec_free(&keys->delays_ns);
	free(keys);
}

void keys_attach(struct keys *keys, struct pipeline *pipeline, struct files *files)
{
	keys->pipeline = pipeline;
	keys->files = files;
}

void keys_started(struct keys *keys, uint64_t now_ns)
{
	keys->started_ns = now_ns;
}

int keys_error(const struct keys *keys)
{
	return keys->err;
}

static void note_error(struct keys *keys, int err)
{
	if (err < 0 && !keys->err)
		keys->err = err;
}

uint64_t keys_address(const struct elf_facts *facts, const struct mapping *map,
		      uint64_t vaddr)
{
	uint64_t start_vaddr;

	if (!vaddr || !elf_vaddr_of_offset(facts, map->pgoff, &start_vaddr))
		return 0;
	return map->start + vaddr - start_vaddr;
}

/* One file's part in what is published; false: nothing new. */
static unsigned int add_file(struct published *what, unsigned int n_keys,
			     const struct elf_facts *facts, const struct mapping *map)
{
	for (uint32_t i = 0; i < facts->n_keys && i < KEYS_MOST; i++) {
		uint64_t addr = keys_address(facts, map, facts->key_vaddrs[i]);

		for (unsigned int k = 0; k < n_keys; k++)
			if (what->key_addr[k] == addr)
				addr = 0;
		if (addr && n_keys < KEYS_MOST)
			what->key_addr[n_keys++] = addr;
	}
	if (!what->metadata_cookie_addr)
		what->metadata_cookie_addr =
			keys_address(facts, map, facts->metadata_cookie_vaddr);
	if (!what->suspended_cookie_addr)
		what->suspended_cookie_addr =
			keys_address(facts, map, facts->suspended_cookie_vaddr);
	if (facts->specific_offset)
		what->specific_offset = facts->specific_offset;
	return n_keys;
}

static unsigned int gather(const struct keys *keys, const struct process *process,
			   struct published *what)
{
	unsigned int n_keys = 0;
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	*what = (struct published){ 0 };
	for (size_t i = 0; i < n; i++) {
		const struct elf_facts *facts = files_facts(keys->files, maps[i].module);

		if (facts)
			n_keys = add_file(what, n_keys, facts, &maps[i]);
	}
	return n_keys;
}

/*
 * Whose keys these are. The process may be at an exec that we have not heard
 * of yet; so the files that hold the keys must be mapped where we think, and
 * it must be the same life before and after that look.
 */
static int identify(const struct keys *keys, const struct process *process,
		    struct published *what)
{
	pid_t tgid = (pid_t)process->tgid;
	uint64_t ticks, stack, ticks_after, stack_after;
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);
	int err = scan_identity(tgid, &ticks, &stack);

	for (size_t i = 0; !err && i < n; i++) {
		const struct elf_facts *facts = files_facts(keys->files, maps[i].module);
		const struct module *module =
			module_get(pipeline_modules(keys->pipeline), maps[i].module);

		if (facts && facts->n_keys &&
		    !scan_is_mapped(tgid, maps[i].start, module->ino))
			return fail(-ESRCH, "pid %d runs another program by now", tgid);
	}
	if (!err)
		err = scan_identity(tgid, &ticks_after, &stack_after);
	if (err)
		return err;
	if (ticks != ticks_after || stack != stack_after)
		return fail(-ESRCH, "pid %d runs another program by now", tgid);
	what->start_ticks = ticks;
	what->start_stack = stack;
	return 0;
}

static void publish(struct keys *keys, const struct process *process)
{
	struct published what;
	bool known;
	int err;

	if (process->ended_ns || !gather(keys, process, &what))
		return;
	err = identify(keys, process, &what);
	if (!err)
		err = sampler_publish(keys->sampler, (pid_t)process->tgid, &what);
	if (err) { /* gone meanwhile, hidden, or no room: its chains go unseen */
		if (err != -ESRCH)
			keys->counts.refused++;
		log_verbose("%s", error_sentence());
		error_clear();
		return;
	}
	known = hmap_get(&keys->lives, process->tgid) == (void *)(uintptr_t)process->life;
	if (known)
		return;
	keys->counts.processes++;
	note_error(keys, hmap_put(&keys->lives, process->tgid,
				  (void *)(uintptr_t)process->life));
}

static void measure_delay(struct keys *keys, const struct mapping *map)
{
	if (keys->started_ns && map->born_ns > keys->started_ns &&
	    keys->delays_ns.n < DELAYS_MOST)
		note_error(keys,
			   vec_push(&keys->delays_ns, clock_now_ns() - map->born_ns));
}

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct keys *keys = arg;
	const struct elf_facts *facts;

	note_error(keys, files_want(keys->files, process, map));
	facts = files_facts(keys->files, map->module);
	if (!facts || (!facts->n_keys && !facts->specific_offset))
		return;
	publish(keys, process);
	if (facts->n_keys)
		measure_delay(keys, map);
}

void keys_file_known(void *arg, uint32_t module, const struct elf_facts *facts)
{
	struct keys *keys = arg;
	const struct process *process;

	if (!facts->n_keys && !facts->specific_offset)
		return;
	for (size_t i = 0;
	     (process = process_next(pipeline_processes(keys->pipeline), &i));) {
		size_t n;
		const struct mapping *maps = process_mappings(process, &n);

		for (size_t k = 0; k < n; k++) {
			if (maps[k].module != module)
				continue;
			publish(keys, process);
			if (facts->n_keys)
				measure_delay(keys, &maps[k]);
			break;
		}
	}
}

static void on_forked(void *arg, const struct process *child)
{
	publish(arg, child);
}

/* The old image's keys are nobody's now; the identity check guards meanwhile.
 * Of processes that end the kernel's half forgets by itself. */
static void on_gone(void *arg, const struct process *process)
{
	struct keys *keys = arg;

	if (hmap_remove(&keys->lives, process->tgid))
		sampler_retract(keys->sampler, (pid_t)process->tgid);
}

static void on_stale(void *arg, uint32_t tgid)
{
	struct keys *keys = arg;
	const struct process *process =
		process_get(pipeline_processes(keys->pipeline), tgid);

	if (!process)
		return;
	keys->counts.stale++;
	publish(keys, process);
}

struct pipeline_sink keys_sink(struct keys *keys)
{
	return (struct pipeline_sink){
		.process = { .arg = keys,
			     .mapped = on_mapped,
			     .forked = on_forked,
			     .exec = on_gone,
			     .ended = on_gone },
		.stale = on_stale,
	};
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void keys_count(const struct keys *keys, struct keys_counts *ret)
{
	size_t n = keys->delays_ns.n;

	*ret = keys->counts;
	ret->measured = n;
	if (!n)
		return;
	qsort(keys->delays_ns.items, n, sizeof(uint64_t), by_size);
	ret->delay_median_ns = keys->delays_ns.items[n / 2];
	ret->delay_most_ns = keys->delays_ns.items[n - 1];
}
