/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all writers write and all readers fill: an aggregated profile that
 * depends neither on the machine that it was measured on nor on how it was
 * stored. It comes from the aggregator at the end of a recording, from a
 * *.weft file, from folded text, from pprof, or from perf script.
 *
 *   sample = {second, stack, thread, count}      core/timeline.h; unix seconds,
 *                                                or some start's where no run of
 *                                                the profile says when it began
 *   thread = {process, tid, name}                process = {host, pid, cgroup}
 *   stack  = two nodes: its async view, its thread view; and whose trace it is
 *   node   = {parent node, code}                 code = a frame, or a mark
 *   frame  = {name, module, offset, kind}        module = {path, build id}
 *
 * Both views of all stacks lie in one tree of nodes. Node 0 is the root and has
 * no frame; a node's parent is nearer to the root of the stack (main, or who
 * asked first) and has a smaller number, so sums are carried towards the root by
 * counting down once. A stack whose views are the same names one node twice. A
 * stack is empty where its node is 0: neither view is ever missing. Two stacks, or
 * two frames, may be equal.
 *
 * Marks are what stands between frames, core/view.h's VIEW_BOUNDARY and so on.
 * Seen from the root, what lies before a boundary asked for what lies after it.
 *
 * Strings are clean: valid UTF-8 without control bytes (but they may hold `<`,
 * quotes, `;`: each writer guards what its format gives a meaning to). String 0
 * is "" and means "not known". Module 0 is nowhere, process 0 and thread 0 are
 * "not known", too. Ids are dense, from 0; all are in range.
 *
 * Writers read and never change it. All limits are met without an error: what is
 * left out is counted in `left_out`.
 */
#ifndef WEFT_CORE_PROFILE_H
#define WEFT_CORE_PROFILE_H

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/pairs.h"
#include "base/str.h"
#include "base/vec.h"
#include "core/timeline.h"
#include "core/view.h"
#include "shared/thread_context.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_BOUNDARY_NAME "--"
#define PROFILE_GAP_NAME      "[missing frames]"
#define PROFILE_CUT_NAME      "[cut]"

/* Codes of nodes: a frame's number, or what view.h puts between frames, a
 * VIEW_BOUNDARY with its enum boundary, VIEW_GAP, or VIEW_CUT. */
#define PROFILE_IS_FRAME(code)	  ((code) < VIEW_BOUNDARY)
#define PROFILE_MARK(code)	  ((code)&0xf0000000u)
#define PROFILE_BOUNDARY_OF(code) ((enum boundary)((code)&0xff))

enum frame_type {
	FRAME_TYPE_UNKNOWN, /* no mapping was known there */
	FRAME_TYPE_NATIVE,
	FRAME_TYPE_KERNEL,
	FRAME_TYPE_JIT,
	FRAME_TYPE_INLINED, /* its code lies in the next frame towards the root */
	FRAME_TYPE_LABEL,   /* no code: a word that the program put between callers */
};

/* Of a count; more is not believed, so that sums of weights stay below 2^62. */
#define PROFILE_PERIOD_MAX_NS 3600000000000ULL
#define PROFILE_THREADS_MAX   (8u << 20) /* and processes */
/* A new profile's strings: "", "samples", "count". */
#define PROFILE_STRINGS_GIVEN 3

struct profile_module {
	uint32_t path;	   /* string; "[kernel]", "[vdso]", "[jit]" are such, too */
	uint32_t build_id; /* string of lower hex */
	uint64_t bias;	   /* 1 + address as linked - offset in the file, of its code;
			    * 0: not known, or not the same for all of it */
};

struct profile_frame {
	uint64_t offset; /* in its module; 0 for the kernel: no address leaves */
	uint32_t module;
	uint32_t name;	     /* string, never 0 once filled: "libx.so+0x12" at least */
	uint32_t file, line; /* of the source: string, 0 = not known */
	uint32_t type;	     /* enum frame_type */
	uint32_t returned;   /* 1: offset is a return address, the call is before it */
};

_Static_assert(sizeof(struct profile_frame) == 32, "told apart by its bytes");

struct profile_process {
	uint32_t host; /* string */
	uint32_t pid;
	uint32_t name;	      /* string: its first thread's; else of one that was seen */
	uint32_t cgroup;      /* string: path below the hierarchy's mount */
	uint32_t incarnation; /* tells users of one pid apart */
};

struct profile_thread {
	uint32_t process;
	uint32_t tid;
	uint32_t name; /* string: comm */
};

struct profile_stack {
	uint32_t node[2]; /* the leaf's, by enum view (core/view.h) */
	uint32_t notes;	  /* enum stack_note, or-ed */
	uint32_t hook;	  /* enum hook (shared/record.h): what took its samples */
	/* what it worked for: strings of 32 and 16 lower hex digits; 0: not known */
	uint32_t trace, span;
	uint32_t attributes; /* the first of these; 0: none */
};

/* What a program said of what it worked for. */
struct profile_attribute {
	uint32_t key, value; /* strings */
	uint32_t next;	     /* one with a smaller number; 0: that was the last */
};

enum stack_note {
	STACK_ASYNC = 1,	  /* its async view has a boundary */
	STACK_COMPLETE_ASYNC = 2, /* from a start to the leaf without a gap, by view */
	STACK_COMPLETE_THREAD = 4,
	STACK_SUSPECT_ASYNC = 8, /* frames that no call leads to were left out */
	STACK_SUSPECT_THREAD = 16,
	STACK_GAP_ASYNC = 32, /* frames are missing between others */
	STACK_GAP_THREAD = 64,
	STACK_NOTES_KEPT = 127, /* in a recording; of this run alone is what follows */
};

/* How a view's walk ended: enum ending. */
#define STACK_ENDING_SHIFT(view)  (8 + 8 * (unsigned int)(view))
#define STACK_ENDING(notes, view) ((notes) >> STACK_ENDING_SHIFT(view) & 0xff)

/* One recording; a merge has as many as went into it. */
struct profile_run {
	uint32_t host, kernel, arch; /* strings: uname's */
	uint32_t command, event;     /* strings: command line; "cpu-clock", "cycles" */
	uint32_t hz;		     /* 0: not known */
	uint64_t started_unix_ns;    /* 0: not known */
	uint64_t duration_ns;
};

/* A line of the ledger: how often something happened, summed over runs. */
struct profile_count {
	uint32_t key; /* string: "ledger.kept", "ending.broken", "samples.unproven" */
	uint64_t value;
};

struct profile {
	struct intern *strings;
	size_t string_bytes;
	struct str clean; /* the string that is being added */
	VEC(struct profile_module) modules;
	VEC(struct profile_frame) frames;
	VEC(struct profile_stack) stacks;
	VEC(struct profile_attribute) attributes; /* 0: none */
	VEC(struct profile_process) processes;
	VEC(struct profile_thread) threads;
	VEC(struct profile_run) runs;
	VEC(struct profile_count) ledger;
	struct pairs nodes;    /* a = parent, b = code */
	struct intern *ids[6]; /* of what is told apart by its bytes; for adding */
	struct timeline timeline;
	/* what a count counts: "samples", "count"; or what pprof said */
	uint32_t value_type, value_unit; /* strings */
	/* what a count weighs whose weight is not said, in CPU time; 0: not known, and
	 * then no weight is */
	uint64_t period_ns;
	bool one_view;	   /* the source had one: both views are that */
	bool was_cut;	   /* the source ended in its middle */
	uint64_t left_out; /* counts beyond a limit */
};

/* ---- for writers ---- */

static inline const char *profile_string(const struct profile *r, uint32_t id)
{
	return intern_string(r->strings, id);
}

static inline uint32_t profile_parent(const struct profile *r, uint32_t node)
{
	return r->nodes.items[node].a;
}

static inline uint32_t profile_code(const struct profile *r, uint32_t node)
{
	return r->nodes.items[node].b;
}

/* NULL: a mark, or the root. */
static inline const struct profile_frame *profile_node_frame(const struct profile *r,
							     uint32_t node)
{
	uint32_t code = profile_code(r, node);

	return node && PROFILE_IS_FRAME(code) ? &r->frames.items[code] : NULL;
}

/* A frame's name; "--", "[missing frames]", "[cut]" for marks. code: of a node
 * that is not the root. */
const char *profile_code_name(const struct profile *r, uint32_t code);

/* The part of a module's path after the last '/'. */
const char *profile_module_name(const struct profile *r, uint32_t module);

/* The container of a cgroup path: 12 digits of its id, LXC's name, else the last part
 * that names a service or a scope; "" = none. Writes into out, returns it. */
char *profile_container(char *out, size_t room, const char *cgroup);

/* Of a cgroup path, too: the whole id of its container, the uid of its Kubernetes pod,
 * and the last service of systemd's but those that hold users' sessions. "" = none. */
char *profile_container_id(char *out, size_t room, const char *cgroup);
char *profile_pod(char *out, size_t room, const char *cgroup);
char *profile_service(char *out, size_t room, const char *cgroup);

/*
 * Sums over all time, one of r->timeline.sample_keys.n uses at a time: stack and thread
 * of use i are r->timeline.sample_keys.items[i].a and .b, its sum
 * r->timeline.counts.items[i]. By the second: timeline_next(&r->timeline, …). Sample keys
 * may sum up to 0 after a filter.
 */
/* What a sample key weighs; 0: not known. */
static inline uint64_t profile_weight_ns(const struct profile *r, uint32_t sample_key)
{
	return r->period_ns ? timeline_weight_ns(&r->timeline, sample_key, r->period_ns)
			    : 0;
}

/* What each count weighs; 0: not known, or they differ. */
static inline uint64_t profile_period_ns(const struct profile *r)
{
	return r->timeline.weighed_ns ? 0 : r->period_ns;
}

/* ---- for who fills it; all 0 or -ENOMEM ---- */

int profile_new(struct profile **ret);
void profile_free(struct profile *profile);
DEFINE_FREEP(profile)

/* Cleans what comes from outside, and shortens it as a name (base/name.h). A full
 * table gives 0. */
int profile_add_string(struct profile *r, const char *s, size_t n, uint32_t *ret);
int profile_add_module(struct profile *r, const struct profile_module *module,
		       uint32_t *ret);
int profile_add_frame(struct profile *r, const struct profile_frame *frame,
		      uint32_t *ret);
/* A full tree gives the parent. */
int profile_add_node(struct profile *r, uint32_t parent, uint32_t code, uint32_t *ret);
/* For which trace a stack's samples worked; zeroes: for none. */
int profile_set_trace(struct profile *r, const struct trace_ids *ids,
		      struct profile_stack *stack);
int profile_add_attribute(struct profile *r, const struct profile_attribute *attribute,
			  uint32_t *ret);
/* A full table gives PROFILE_NO_STACK. */
#define PROFILE_NO_STACK UINT32_MAX
int profile_add_stack(struct profile *r, const struct profile_stack *stack,
		      uint32_t *ret);
int profile_add_process(struct profile *r, const struct profile_process *process,
			uint32_t *ret);
int profile_add_thread(struct profile *r, const struct profile_thread *thread,
		       uint32_t *ret);
int profile_add_run(struct profile *r, const struct profile_run *run);
int profile_add_count(struct profile *r, const char *key, uint64_t value);

/* Call once all is there: flushes the log, names frames that have no name. */
int profile_finish(struct profile *r);

#endif
