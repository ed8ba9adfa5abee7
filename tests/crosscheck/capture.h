/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of weft's in which every tick leaves two things: our record, and
 * the kernel's own sample with the registers and the stack's bytes. Both are
 * kept in a file without a name, beside what processes map, and read when the
 * recording is over.
 *
 * It is weft's own recording. This program is linked so that three calls of it
 * come by here first: opening the ticks, starting them, reading the rings.
 */
#ifndef CROSSCHECK_CAPTURE_H
#define CROSSCHECK_CAPTURE_H

#include "base/cleanup.h"
#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EVENT_SIDE,   /* a record for side_event_read() */
	EVENT_OURS,   /* struct sample_rec */
	EVENT_KERNEL, /* struct kernel_sample and the stack's bytes */
};

struct kernel_sample {
	uint32_t pid, tid;
	uint32_t stack_bytes; /* of the dump, from sp up */
	uint32_t dump_bytes;  /* asked for; stack_bytes is less where memory ends */
	uint64_t has_user;    /* 0: no user registers, no stack */
	uint64_t regs[N_REGS];
	unsigned char stack[];
};

struct event {
	uint64_t time_ns;
	uint32_t number; /* in the order of their coming */
	uint16_t cpu;
	uint16_t kind;
	uint32_t bytes;
	uint64_t at;
};

struct capture;

/* wanted: the recording is told to end after so many kernel samples. */
int capture_new(struct capture **ret, size_t wanted);
void capture_free(struct capture *capture);
DEFINE_FREEP(capture)

/* The flow's calls come here from now on. */
void capture_use(struct capture *capture);

/* All events by time; to be called when the recording is over. */
int capture_sort(struct capture *capture);
size_t capture_count(const struct capture *capture);
const struct event *capture_event(const struct capture *capture, size_t i);
const void *capture_bytes(const struct capture *capture, const struct event *event);

/* Samples that did not fit the kernel's rings. */
uint64_t capture_lost(const struct capture *capture);

#endif
