/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile made by hand, small enough to be counted on fingers: a service with
 * two threads in two processes over three seconds, chains, kernel frames, a JIT,
 * an inline, missing frames, names that formats give a meaning to.
 *
 *   thread view                               async view                    count
 *   main;run_loop;hash_round                  on_read;--;hash_round         3 + 2
 *   main;run_loop;hash_round;sys_read [k]     on_read;--;hash_round;sys_read  4
 *   [cut];jit_code [j];inlined [i]            the same                        5
 *   start;[missing frames];<b>"quoted"; 7     the same                        1
 */
#ifndef TESTS_UNIT_MADE_H
#define TESTS_UNIT_MADE_H

#include "core/profile.h"

#include <string.h>

#define MADE_TOTAL    15
#define MADE_SECOND   1700000000u
#define MADE_ODD_NAME "<b>\"quoted\"; 7"

static inline uint32_t made_string(struct profile *r, const char *s)
{
	uint32_t id;

	return profile_add_string(r, s, strlen(s), &id) ? 0 : id;
}

static inline uint32_t made_frame(struct profile *r, const char *name,
				  enum frame_type type, uint32_t module, uint64_t offset)
{
	const struct profile_frame frame = { .offset = offset,
					     .module = module,
					     .name = made_string(r, name),
					     .type = type };
	uint32_t id;

	return profile_add_frame(r, &frame, &id) ? 0 : id;
}

static inline uint32_t made_path(struct profile *r, const uint32_t *codes, size_t n)
{
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++)
		if (profile_add_node(r, node, codes[i], &node))
			return 0;
	return node;
}

#define MADE_PATH(r, ...)                                                                \
	made_path(r, (const uint32_t[]){ __VA_ARGS__ },                                  \
		  sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static inline uint32_t made_stack(struct profile *r, uint32_t async, uint32_t thread)
{
	const struct profile_stack stack = {
		.node = { async, thread },
		.notes = async != thread ? STACK_ASYNC : 0,
	};
	uint32_t id;

	return profile_add_stack(r, &stack, &id) ? 0 : id;
}

static inline uint32_t made_thread(struct profile *r, const char *host, uint32_t pid,
				   const char *comm)
{
	const struct profile_process process = {
		.host = made_string(r, host),
		.pid = pid,
		.name = made_string(r, comm),
		.cgroup = made_string(r, "/system.slice/made.service"),
	};
	struct profile_thread thread = { .tid = pid + 1, .name = made_string(r, comm) };
	uint32_t id;

	return profile_add_process(r, &process, &thread.process) ||
			       profile_add_thread(r, &thread, &id)
		       ? 0
		       : id;
}

static inline void made_run_info(struct profile *r, const char *host)
{
	const struct profile_run run = {
		.host = made_string(r, host),
		.kernel = made_string(r, "6.1.0"),
		.arch = made_string(r, "x86_64"),
		.command = made_string(r, "weft record"),
		.event = made_string(r, "cpu-clock"),
		.hz = 100,
		.started_unix_ns = MADE_SECOND * 1000000000ULL,
		.duration_ns = 3000000000ULL,
	};

	r->period_ns = 10000000;
	profile_add_run(r, &run);
	profile_add_count(r, "oncpu.entered", 20);
	profile_add_count(r, "oncpu.outcome.kept", MADE_TOTAL);
	profile_add_count(r, "oncpu.outcome.ring_full", 5);
}

static inline int made_profile(struct profile **ret, const char *host)
{
	const struct profile_module app = { .path = 0 };
	struct profile_module module = app;
	uint32_t main_, loop, hash, on_read, sys_read, jit, inlined, start, odd;
	uint32_t mod, kernel, jitted, service, other, stack[4], node;
	struct profile *r;

	if (profile_new(&r))
		return -1;
	module.path = made_string(r, "/usr/bin/service");
	module.build_id = made_string(r, "0123456789abcdef");
	profile_add_module(r, &module, &mod);
	module = (struct profile_module){ .path = made_string(r, "[kernel]") };
	profile_add_module(r, &module, &kernel);
	module = (struct profile_module){ .path = made_string(r, "[jit]") };
	profile_add_module(r, &module, &jitted);
	main_ = made_frame(r, "main", FRAME_TYPE_NATIVE, mod, 0x1000);
	loop = made_frame(r, "run_loop", FRAME_TYPE_NATIVE, mod, 0x1100);
	hash = made_frame(r, "hash_round", FRAME_TYPE_NATIVE, mod, 0x1200);
	on_read = made_frame(r, "on_read", FRAME_TYPE_NATIVE, mod, 0x1300);
	sys_read = made_frame(r, "sys_read", FRAME_TYPE_KERNEL, kernel, 0);
	jit = made_frame(r, "jit_code", FRAME_TYPE_JIT, jitted, 0x7000);
	inlined = made_frame(r, "inlined", FRAME_TYPE_INLINED, jitted, 0x7000);
	start = made_frame(r, "start", FRAME_TYPE_NATIVE, mod, 0x1400);
	odd = made_frame(r, MADE_ODD_NAME, FRAME_TYPE_NATIVE, mod, 0x1500);
	stack[0] = made_stack(r, MADE_PATH(r, on_read, VIEW_BOUNDARY, hash),
			      MADE_PATH(r, main_, loop, hash));
	stack[1] = made_stack(r, MADE_PATH(r, on_read, VIEW_BOUNDARY, hash, sys_read),
			      MADE_PATH(r, main_, loop, hash, sys_read));
	node = MADE_PATH(r, VIEW_CUT, jit, inlined);
	stack[2] = made_stack(r, node, node);
	node = MADE_PATH(r, start, VIEW_GAP, odd);
	stack[3] = made_stack(r, node, node);
	service = made_thread(r, host, 100, "service");
	other = made_thread(r, host, 200, "other one");
	timeline_add(&r->timeline, MADE_SECOND, stack[0], service, 3);
	timeline_add(&r->timeline, MADE_SECOND, stack[2], other, 5);
	timeline_add(&r->timeline, MADE_SECOND + 1, stack[1], service, 4);
	timeline_add(&r->timeline, MADE_SECOND + 2, stack[0], service, 2);
	timeline_add(&r->timeline, MADE_SECOND + 2, stack[3], other, 1);
	made_run_info(r, host);
	*ret = r;
	return profile_finish(r);
}

#endif
