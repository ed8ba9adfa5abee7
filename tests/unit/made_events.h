/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A made-up machine: processes that fork, map, exec, end, and whose pids are used
 * again, and samples of them, of which it is known what each must be called. Events
 * have times of their own and come in the order of rings that are read in turns.
 */
#ifndef TESTS_UNIT_MADE_EVENTS_H
#define TESTS_UNIT_MADE_EVENTS_H

#include "base/str.h"
#include "base/vec.h"
#include "proc/side_event.h"
#include "shared/record.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MADE_PIDS     6
#define MADE_PLACES   4 /* where a process can map a file */
#define MADE_AT(n)    (0x100000ULL * ((n) + 1))
#define MADE_BYTES    0x10000ULL
#define MADE_STEP_NS  75000000ULL /* at most, from one event to the next */
#define MADE_ROUND_NS 700000000ULL
#define MADE_BEGIN_NS 5000000000ULL

struct made_event {
	uint64_t time_ns;
	uint64_t round; /* in which it is read: samples first, then the sideband */
	size_t at, n;	/* in the machine's bytes */
	bool is_sample;
	char leaf[64]; /* a sample's: pid, tid, second, and where it fell */
};

struct made_machine {
	uint64_t now_ns, random;
	uint32_t files; /* how many there have been */
	struct {
		bool lives;
		uint32_t file[MADE_PLACES]; /* 0: nothing is mapped there */
	} processes[MADE_PIDS];
	struct str bytes;
	VEC(struct made_event) events;
};

static inline uint32_t made_random(struct made_machine *m, uint32_t below)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->random >> 33) % below;
}

static inline void made_free(struct made_machine *m)
{
	str_free(&m->bytes);
	vec_free(&m->events);
}

static inline struct made_event *made_add(struct made_machine *m, size_t at,
					  bool is_sample)
{
	const struct made_event event = {
		.time_ns = m->now_ns,
		.round = m->now_ns / MADE_ROUND_NS,
		.at = at,
		.n = m->bytes.n - at,
		.is_sample = is_sample,
	};

	if (vec_push(&m->events, event))
		return NULL;
	return &m->events.items[m->events.n - 1];
}

static inline uint32_t made_pid(uint32_t i)
{
	return 100 + i;
}

static inline void made_side(struct made_machine *m, struct side_event event)
{
	size_t at = m->bytes.n;

	event.time_ns = m->now_ns;
	event.tid = event.pid;
	side_event_write(&m->bytes, &event);
	made_add(m, at, false);
}

/* As the kernel writes it; ours only reads it. */
static inline void made_fork(struct made_machine *m, uint32_t parent, uint32_t child)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
		uint32_t trailer_pid, trailer_tid;
		uint64_t time_ns;
	} fork = { { PERF_RECORD_FORK, 0, sizeof(fork) },
		   made_pid(child),
		   made_pid(parent),
		   made_pid(child),
		   made_pid(parent),
		   m->now_ns,
		   made_pid(parent),
		   made_pid(parent),
		   m->now_ns };
	size_t at = m->bytes.n;

	str_add_bytes(&m->bytes, &fork, sizeof(fork));
	made_add(m, at, false);
	m->processes[child] = m->processes[parent];
}

static inline void made_map(struct made_machine *m, uint32_t i, uint32_t place,
			    uint32_t file)
{
	struct side_event event = {
		.kind = SIDE_MMAP,
		.pid = made_pid(i),
		.start = MADE_AT(place),
		.bytes = MADE_BYTES,
		.ino = file,
	};

	snprintf(event.path, sizeof(event.path), "/file%u", file);
	made_side(m, event);
	m->processes[i].file[place] = file;
}

static inline void made_exec(struct made_machine *m, uint32_t i)
{
	made_side(m, (struct side_event){ .kind = SIDE_EXEC, .pid = made_pid(i) });
	memset(m->processes[i].file, 0, sizeof(m->processes[i].file));
}

static inline void made_exit(struct made_machine *m, uint32_t i)
{
	made_side(m, (struct side_event){ .kind = SIDE_EXIT, .pid = made_pid(i) });
	m->processes[i].lives = false;
}

/* Of a thread's words the first, and with_chain's root and chain behind them. */
static inline void made_sample(struct made_machine *m, uint32_t i, uint32_t place,
			       bool with_chain)
{
	uint64_t offset = 0x100 + 0x10 * made_random(m, 8);
	uint64_t caller = MADE_AT(made_random(m, MADE_PLACES)) + 0x200;
	const unsigned long long words[] = {
		MADE_AT(place) + offset,
		(unsigned long long)FRAME_ROOT << FRAME_KIND_SHIFT,
		(unsigned long long)FRAME_CALLER << FRAME_KIND_SHIFT | caller,
		SEGMENT_WORD(SEGMENT_CHAIN, END_DETACHED, 0, 0, 1),
		(unsigned long long)FRAME_ASYNC << FRAME_KIND_SHIFT | MADE_AT(0) | 0x300,
	};
	struct sample_rec rec = {
		.ts_ns = m->now_ns,
		.tgid = made_pid(i),
		.tid = made_pid(i) + 1000 * made_random(m, 2),
		.n_words = with_chain ? 5 : 3,
		.n_thread = 3,
		.ending = made_random(m, 4) ? END_START : END_BROKEN,
		.comm = "made",
		.flags = with_chain ? SAMPLE_ASYNC : 0,
	};
	uint32_t file = m->processes[i].lives ? m->processes[i].file[place] : 0;
	size_t at = m->bytes.n;
	struct made_event *event;

	str_add_bytes(&m->bytes, &rec, sizeof(rec));
	str_add_bytes(&m->bytes, words, rec.n_words * sizeof(*words));
	event = made_add(m, at, true);
	if (!event)
		return;
	if (file)
		snprintf(event->leaf, sizeof(event->leaf), "%u %u %llu file%u+0x%llx",
			 rec.tgid, rec.tid, rec.ts_ns / 1000000000, file,
			 (unsigned long long)offset);
	else
		snprintf(event->leaf, sizeof(event->leaf), "%u %u %llu [unmapped]+0x%llx",
			 rec.tgid, rec.tid, rec.ts_ns / 1000000000, words[0]);
}

/* One more thing that happens. */
static inline void made_happen(struct made_machine *m)
{
	uint32_t i = made_random(m, MADE_PIDS), what = made_random(m, 16);
	uint32_t other = (i + 1) % MADE_PIDS, place = made_random(m, MADE_PLACES);

	m->now_ns += 1 + made_random(m, MADE_STEP_NS);
	if (!m->processes[i].lives) {
		if (m->processes[other].lives)
			made_fork(m, other, i);
		else
			made_exec(m, i);
		m->processes[i].lives = true;
		return;
	}
	if (what == 0)
		made_exec(m, i);
	else if (what == 1)
		made_exit(m, i);
	else if (what < 4)
		made_map(m, i, place, ++m->files);
	else if (what < 6 && m->files)
		made_map(m, i, place, 1 + made_random(m, m->files));
	else
		made_sample(m, i, place, what < 9);
}

static inline int made_by_arrival(const void *a, const void *b)
{
	const struct made_event *x = a, *y = b;

	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->is_sample != y->is_sample)
		return x->is_sample ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at; /* as they happened */
}

/* n things, in the order in which they come. */
static inline void made_machine(struct made_machine *m, size_t n, uint64_t seed)
{
	*m = (struct made_machine){ .now_ns = MADE_BEGIN_NS, .random = seed };
	while (m->events.n < n)
		made_happen(m);
	vec_sort(&m->events, made_by_arrival);
}

#endif
