/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps: what is in each, who writes it, who reads it, how it is sized. A map's
 * update in the sampling path costs other programs their ticks (one hash updated in a
 * loop by another process cost it a tenth of them), so ticks only look up.
 */
#ifndef WEFT_MAPS_BPF_H
#define WEFT_MAPS_BPF_H

#include "weft.bpf.h"

#ifdef __bpf__
/* Set by user space before the load; read-only from then on. */
extern const volatile struct knobs knobs;

/* The state of a sample. A hook's own, so a tick may interrupt another hook; the kernel
 * lets a value of a map of this kind have 32 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches __weak SEC(".maps");

static __always_inline struct scratch *scratch(__u32 hook)
{
	return bpf_map_lookup_elem(&scratches, &hook);
}

/* Beside it, for which there is no room in it; only where there are roots. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct bounds_table);
} bounds_tables __weak SEC(".maps");

static __always_inline struct bounds_table *bounds_table(__u32 hook)
{
	return bpf_map_lookup_elem(&bounds_tables, &hook);
}

/* Rules of the kernel's code that were found. A tick writes and reads. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct orc_cache);
} orc_caches __weak SEC(".maps");

/* Unwind tables and what processes map (shared/unwind.h), in slabs of UNWIND_SLAB_PAGES,
 * which are there as soon as any of their pages is used. User space writes pages that
 * nobody names yet, then what names them; ticks read. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* set to what --unwind-memory allows */
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, UNWIND_PAGE_BYTES);
		});
} unwind_slabs __weak SEC(".maps");

static __always_inline const union unwind_page *unwind_page(__u32 n)
{
	__u32 slab = n / UNWIND_SLAB_PAGES, at = n % UNWIND_SLAB_PAGES;
	void *pages = bpf_map_lookup_elem(&unwind_slabs, &slab);

	return pages ? bpf_map_lookup_elem(pages, &at) : NULL;
}

/* The files whose tables are there, and that have no async keys. User space writes,
 * ticks read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file);
} unwind_files __weak SEC(".maps");

/* What the current process maps, where it was not published yet. A tick writes and
 * reads. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct vma_list);
} vma_lists __weak SEC(".maps");

static __always_inline struct vma_list *vma_list(__u32 hook)
{
	return bpf_map_lookup_elem(&vma_lists, &hook);
}

/* What is known of a process. User space writes it; a fork copies it to the child, an
 * end removes it (fork.bpf.c); ticks read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESS_INFOS_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct process_info);
} processes __weak SEC(".maps");

/* Of processes whose struct process_info says so: those with a JVM. User space writes,
 * ticks read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOTSPOTS_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct hotspot);
} hotspots __weak SEC(".maps");

static __always_inline const struct hotspot *hotspot_of(__u32 tgid)
{
	return bpf_map_lookup_elem(&hotspots, &tgid);
}

/* Counts what is told of processes, by tgid, so that ticks need not look up again what
 * they know (process.bpf.c). Who writes there counts behind it. */
extern __u32 publications[PUBLICATIONS];

static __always_inline __u32 *publication_of(__u32 tgid)
{
	return &publications[tgid & (PUBLICATIONS - 1)];
}

/* Without an order: for one, clang 20 and later take an instruction that kernels before
 * 5.12 refuse. */
static __always_inline void publication_count(__u32 tgid)
{
	__atomic_fetch_add(publication_of(tgid), 1, __ATOMIC_RELAXED);
}

/* Since when each process that forked or executed a program runs what it runs: what user
 * space heard of this begins after `after_ns`, and not after `until_ns`. Forks and execs
 * write it, an end removes it (fork.bpf.c); ticks read it. */
struct life {
	__u64 after_ns, until_ns;
	__u64 start_ticks, start_stack; /* as in struct process_info */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESS_INFOS_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct life);
} lives __weak SEC(".maps");

/* Who is to be sampled, where not everybody is. Written and read as the last. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_PIDS_MAX); /* FAMILY_MAX for a command */
	__type(key, __u32);		      /* tgid or tid, as the filter says */
	__type(value, __u8);
} filter_pids __weak SEC(".maps");

/* Records, a ring a CPU, written by that CPU's ticks alone; user space reads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* set to the number of possible CPUs */
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, 4096);
		});
} rings __weak SEC(".maps");

/* What became of each tick, by hook. Ticks count, user space adds up over the CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_HOOKS);
	__type(key, __u32);
	__type(value, struct ledger);
} ledgers __weak SEC(".maps");

static __always_inline bool read_kernel(void *to, __u32 bytes, __u64 from)
{
	return !bpf_probe_read_kernel(to, bytes, (const void *)from);
}

static __always_inline bool read_user(void *to, __u32 bytes, __u64 from)
{
	return !bpf_probe_read_user(to, bytes, (const void *)from);
}
#endif

/* Was this tick loaded with that part (shared/knobs.h)? If not, the verifier takes out
 * all that asks. */
static __always_inline bool has_part(__u32 part)
{
	return knobs.parts & part;
}

/* For a function of that part: NULL where the tick is without. */
static __always_inline struct scratch *scratch_of(__u32 part, __u32 hook)
{
	return has_part(part) ? scratch(hook) : NULL;
}

static __always_inline bool has_root_cursors(const struct scratch *s)
{
	return has_part(PART_CHAINS) && s->n_root_cursors;
}

#endif
