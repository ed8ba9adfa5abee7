/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a source of events (the kernel's rings, a tape) hands on. Bytes are
 * borrowed for the call. A negative return stops the source and is passed up.
 */
#ifndef WEFT_CORE_EVENT_H
#define WEFT_CORE_EVENT_H

#include <stddef.h>
#include <stdint.h>

struct event_sink {
	void *arg;
	/* A sample as bpf/ wrote it (shared/record.h); not checked yet. */
	int (*sample)(void *arg, const void *record, size_t bytes);
	/* A perf record with sample_id_all and PERF_SAMPLE_TID | _TIME: MMAP2,
	 * COMM, FORK, EXIT, LOST. Those made up from /proc look the same. */
	int (*sideband)(void *arg, const void *record, size_t bytes);
};

#endif
