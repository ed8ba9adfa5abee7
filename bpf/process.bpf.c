// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What was published about the process that a tick fell on, if it is still that
 * process: whether it has async keys, and what it has mapped.
 */
#include "bottom.bpf.h"
#include "incarnation.bpf.h"
#include "process.bpf.h"
#include "table.bpf.h"
#include "uprobes.bpf.h"
#include "vmas.bpf.h"

/* How far from where the kernel put a program's arguments its first frame may be:
 * dynamic linkers that are run as programs move these. */
#define ARGUMENTS_BYTES (64ULL << 10)

/* Between a thread's struct and its first frame lies what it has for itself of each
 * library. */
#define THREAD_LOCAL_BYTES (256ULL << 10)

/*
 * The main thread's is where its arguments are; others' lies below the struct that
 * the C library has of the thread, to which the thread pointer and what is cleared
 * at its end lead. Wherever it is (below more variables of the thread than that, or
 * where the thread had it that forked this process), what its first function returns to
 * ends the thread. Who has no such struct, as Go's threads and a vfork's child, is
 * believed.
 */
int process_find_base(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u64 tid;

	if (!s)
		return BASE_BELIEVED;
	tid = (__u64)CURRENT(clear_child_tid, clear_child_tid);
	if (!tid)
		return BASE_BELIEVED;
	/* entered as arm64's are, with a link register of 0 */
	if (s->cfa == s->start_stack)
		return BASE_BELIEVED;
	if (s->start_stack + FRAME_BYTES - s->sp < ARGUMENTS_BYTES)
		return BASE_NEAR;
	if (s->rec.tid != s->rec.tgid && (tid - s->sp < THREAD_LOCAL_BYTES ||
					  thread_pointer() - s->sp < THREAD_LOCAL_BYTES))
		return BASE_NEAR;
	return bottom_ends_thread(hook) ? BASE_BELIEVED : BASE_AWAY;
}

int process_has_alternate(__u32 hook)
{
	struct scratch *s = scratch(hook);

	return !s ||
	       s->sp - CURRENT(sas_ss_sp, sas_ss_sp) < CURRENT(sas_ss_size, sas_ss_size);
}

/* The key depends on the number that was read before, or arm64 may read what it counts
 * first. */
static __always_inline const struct process_info *look_up_process(__u32 tgid,
								  __u32 publication)
{
	asm volatile("%0 ^= %0" : "+r"(publication));
	tgid |= publication;
	return bpf_map_lookup_elem(&processes, &tgid);
}

/* What is known of that process, looked up if anything was told of it meanwhile. */
static __always_inline const struct known_process *know_process(struct scratch *s,
								__u32 tgid)
{
	struct known_process *known = &s->known_processes[tgid & (KNOWN_PROCESSES - 1)];
	__u32 publication = *publication_of(tgid);
	const struct process_info *pub;
	struct incarnation of;

	if (known->tgid == tgid && known->publication == publication)
		return known;
	known->tgid = 0;
	pub = look_up_process(tgid, publication);
	if (!pub)
		return NULL;
	of = incarnation_of(pub, tgid);
	known->publication = publication;
	known->start_ticks = of.start_ticks;
	known->start_stack = of.start_stack;
	known->has_keys = pub->key_addr[0] != 0;
	known->has_context = pub->context.access != TLS_NONE;
	known->has_hotspot = pub->has_hotspot;
	known->mapping_table = pub->mapping_table;
	known->n_mappings = pub->n_mappings;
	known->generation = pub->generation;
	known->code_pages = pub->code_bytes / knobs.page_bytes;
	if (of.start_ticks)
		known->tgid = tgid;
	return known;
}

/* What was published of the current process; NULL: nothing. */
static __always_inline const struct known_process *find_process(struct scratch *s)
{
	const struct known_process *known = know_process(s, s->rec.tgid);
	struct incarnation of = { 0 };

	if (known)
		of = (struct incarnation){ known->start_ticks, known->start_stack };
	if (known && !(knobs.faults & FAULT_NO_IDENTITY) &&
	    !same_incarnation(of, s->begun_boottime_ns, s->start_stack)) {
		s->rec.flags |= SAMPLE_STALE;
		return NULL;
	}
	return known;
}

/* Must its stacks wait for a tick with a part that this one is without? */
static __always_inline bool lacks_part(const struct known_process *known)
{
	return known && ((!has_part(PART_CHAINS) && known->has_keys) ||
			 (!has_part(PART_HOTSPOT) && known->has_hotspot));
}

/* Nothing is known of it, or it maps more code since. */
static __always_inline bool is_behind(const struct scratch *s,
				      const struct known_process *known)
{
	return !known || !known->mapping_table || s->code_pages > known->code_pages;
}

int process_begin(__u32 hook)
{
	struct scratch *s = scratch(hook);
	const struct own_memory own = own_memory();
	const struct known_process *known;
	bool lacks;

	if (!s)
		return 0;
	s->mm = own.mm;
	s->start_stack = own.start_stack;
	s->code_pages = own.exec_vm;
	s->uretprobe = UPROBES_UNKNOWN;
	known = find_process(s);
	lacks = lacks_part(known);
	if (lacks)
		known = NULL;
	s->has_keys = known && known->has_keys;
	s->has_context = known && known->has_context;
	s->has_hotspot = known && known->has_hotspot;
	take_mapping_table(s, known);
	if (knobs.tables && !lacks && !s->has_keys && is_behind(s, known))
		s->by_vmas = vmas_ask(hook);
	return 0;
}

int process_maps_more(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct process_info *pub;

	if (!s)
		return 0;
	pub = bpf_map_lookup_elem(&processes, &s->rec.tgid);
	return pub && (__u64)s->code_pages * knobs.page_bytes > pub->code_bytes;
}
