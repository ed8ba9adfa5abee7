// SPDX-License-Identifier: BSD-2-Clause
/*
 * generate FILE CPUS HZ SECONDS   a recording of a machine that never was
 *
 * Servers on many CPUs, all of them busy: 60 processes of up to 32 threads, some
 * 20,000 distinct stacks of 10 to 60 frames, of which a few are most of the
 * samples; a third of them asynchronous, a fourth in the kernel. It is written as
 * a live recording is, a second at a time, and is the same each time.
 */
#include "base/error.h"
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES 60
#define THREADS	  32
#define FUNCTIONS 12000
#define STACKS	  20000
#define FIRST	  1700000000u

static uint64_t state = 88172645463325252u;

/* Marsaglia's xorshift64. */
static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Small numbers more often: the product of two chances. */
static uint32_t popular(uint32_t below)
{
	return (uint32_t)(chance(below) * chance(below) / below);
}

static uint32_t string(struct profile *r, const char *fmt, uint64_t n)
{
	char text[128];
	uint32_t id;

	snprintf(text, sizeof(text), fmt, n);
	return profile_add_string(r, text, strlen(text), &id) ? 0 : id;
}

static void make_frames(struct profile *r)
{
	uint32_t id;

	for (uint64_t i = 1; i <= 40; i++) {
		const struct profile_module module = {
			.path = string(
				r, i == 1 ? "[kernel]" : "/usr/lib/libpart%02lu.so", i),
			.build_id = string(r, "%016lx0123456789abcdef", i * 77777777),
		};

		profile_add_module(r, &module, &id);
	}
	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		bool kernel = i % 8 == 0;
		const struct profile_frame frame = {
			.offset = kernel ? 0 : 0x1000 + i * 64,
			.module = kernel ? 1 : 2 + (uint32_t)(i % 39),
			.name = string(r, "service::part::function_%lu(int, char const*)",
				       i),
			.type = kernel ? FRAME_TYPE_KERNEL : FRAME_TYPE_NATIVE,
		};

		profile_add_frame(r, &frame, &id);
	}
}

/* A walk down a tree of calls in which each function calls a few others. */
static uint32_t walk(struct profile *r, uint32_t node, uint64_t seed, unsigned int depth)
{
	uint64_t function = seed % 50;

	for (unsigned int i = 0; i < depth; i++) {
		function = (function * 31 + popular(6) + i * 7) % FUNCTIONS;
		if (function % 8 == 0)
			function++;
		profile_add_node(r, node, (uint32_t)function, &node);
	}
	return node;
}

static void make_stacks(struct profile *r)
{
	for (uint64_t i = 0; i < STACKS; i++) {
		uint32_t thread = walk(r, 0, i, 10 + (unsigned int)popular(50));
		struct profile_stack stack = { .node = { thread, thread } };
		uint32_t id;

		if (i % 3 == 0) {
			uint32_t asked = walk(r, 0, i + 7, 4 + (unsigned int)chance(12));

			profile_add_node(r, asked, VIEW_BOUNDARY, &asked);
			stack.node[VIEW_ASYNC] = walk(r, asked, i, 3);
			stack.notes = STACK_ASYNC;
		}
		for (uint64_t k = 0; i % 4 == 0 && k < 5; k++)
			for (int view = 0; view < 2; view++)
				profile_add_node(
					r, stack.node[view],
					(uint32_t)((i % 90 + k * 11) * 8 % FUNCTIONS),
					&stack.node[view]);
		profile_add_stack(r, &stack, &id);
	}
}

static void make_threads(struct profile *r)
{
	uint32_t host = string(r, "made-up", 0);

	for (uint32_t p = 0; p < PROCESSES; p++) {
		const struct profile_process process = {
			.host = host,
			.pid = 1000 + p * 100,
			.name = string(r, "server-%02lu", p),
			.cgroup = string(r, "/system.slice/server-%02lu.service", p),
		};
		struct profile_thread thread = { 0 };
		uint32_t id;

		profile_add_process(r, &process, &thread.process);
		for (uint32_t t = 0; t < THREADS; t++) {
			thread.tid = process.pid + t;
			thread.name = string(r, "worker-%lu", t % 4);
			profile_add_thread(r, &thread, &id);
		}
	}
}

/* A program's stacks are its own, and all its threads run them. */
static uint32_t stack_of(uint32_t process)
{
	return process + popular(STACKS / PROCESSES) * PROCESSES;
}

/* On each CPU a thread runs for some ticks, in stacks that are near each other. */
static void run_second(struct profile *r, uint32_t second, uint32_t cpus, uint32_t hz)
{
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		uint32_t thread = 0;

		for (uint32_t tick = 0; tick < hz; tick++) {
			uint32_t process = popular(PROCESSES);

			if (!thread || chance(4) == 0)
				thread =
					1 + process * THREADS + (uint32_t)chance(THREADS);
			timeline_add(&r->timeline, FIRST + second,
				     stack_of((thread - 1) / THREADS), thread, 1);
		}
	}
	timeline_flush(&r->timeline);
}

static void make_run_info(struct profile *r, uint32_t hz, uint32_t seconds)
{
	const struct profile_run run = {
		.host = string(r, "made-up", 0),
		.event = string(r, "cpu-clock", 0),
		.hz = hz,
		.started_unix_ns = FIRST * 1000000000ULL,
		.duration_ns = seconds * 1000000000ULL,
	};

	r->period_ns = 1000000000 / hz;
	profile_add_run(r, &run);
}

static int generate(const char *path, uint32_t cpus, uint32_t hz, uint32_t seconds)
{
	AUTO(profile) r = NULL;
	AUTO(outfile) out = NULL;
	AUTO(stream) stream = NULL;
	int err = profile_new(&r);

	if (!err)
		err = outfile_new(&out, path);
	if (!err)
		err = weft_writer.stream(&stream, out);
	if (err)
		return err;
	make_run_info(r, hz, seconds);
	make_frames(r);
	make_stacks(r);
	make_threads(r);
	for (uint32_t i = 0; !err && i < seconds; i++) {
		run_second(r, i, cpus, hz);
		err = stream->add(stream, r, &r->timeline);
	}
	profile_add_count(r, "oncpu.outcome.kept", r->timeline.total);
	if (!err)
		err = profile_finish(r);
	if (!err)
		err = stream->end(stream, r);
	if (!err)
		printf("%lu\n", (unsigned long)r->timeline.total);
	return err ? err : outfile_finish(out);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fputs("usage: generate FILE CPUS HZ SECONDS\n", stderr);
		return 2;
	}
	if (!generate(argv[1], (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
		      (uint32_t)atoi(argv[4])))
		return 0;
	fprintf(stderr, "generate: %s\n", error_sentence());
	return 1;
}
