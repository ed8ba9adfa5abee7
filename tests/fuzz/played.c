// SPDX-License-Identifier: BSD-2-Clause
/* Tapes, played as a report does. */
#include "parsers.h"

#include "core/sample.h"
#include "pipeline/pipeline.h"
#include "tape/tape.h"

#include <sys/mman.h>
#include <unistd.h>

static int on_tape_name(void *arg, uint32_t frame, const char *name)
{
	return 0;
}

static int on_tape_frame(void *arg, uint32_t frame, enum tape_item why)
{
	return 0;
}

static int on_tape_totals(void *arg, const uint64_t *totals, size_t n)
{
	REQUIRE(n <= TAPE_TOTALS_MAX);
	return 0;
}

static int on_advance(void *arg, uint64_t horizon_ns)
{
	return pipeline_advance(arg, horizon_ns);
}

static int on_code(void *arg, uint32_t tgid, uint64_t since_ns)
{
	process_set_code_since(pipeline_processes(arg), tgid, since_ns);
	return 0;
}

static int on_tape_pair(void *arg, const uint32_t pair[2])
{
	return 0;
}

static int on_replaced(void *arg, uint32_t tgid, const uint64_t numbers[4])
{
	const struct replaced_place place = { numbers[0], numbers[1], numbers[2],
					      numbers[3] };

	return replaced_put(pipeline_replaced(arg), tgid, &place);
}

static int on_settled(void *arg, uint32_t tgid, uint64_t now_ns)
{
	replaced_settle(pipeline_replaced(arg), tgid, now_ns);
	return 0;
}

/* What is left of a sample is one. */
static int on_tape_sample(void *arg, const struct sample_rec *rec,
			  const struct process *process)
{
	REQUIRE(!sample_check(rec,
			      SAMPLE_HEADER_BYTES + rec->n_words * sizeof(*rec->words)));
	return 0;
}

/* Samples and sideband records go the way that they go in a recording. */
void fuzz_tape(const uint8_t *data, size_t n)
{
	const struct pipeline_sink sink = { .sample = on_tape_sample };
	static int fd = -1;
	AUTO(pipeline) pipeline = NULL;
	struct tape_events events = { .advance = on_advance,
				      .code = on_code,
				      .name = on_tape_name,
				      .bad_return = on_tape_frame,
				      .misled = on_tape_pair,
				      .replaced = on_replaced,
				      .settled = on_settled,
				      .totals = on_tape_totals };
	char path[64];
	int err;

	if (fd < 0)
		fd = memfd_create("weft-fuzz", MFD_CLOEXEC);
	REQUIRE(pwrite(fd, data, n, 0) == (ssize_t)n && !ftruncate(fd, (off_t)n));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	REQUIRE(!pipeline_new(&pipeline, &sink));
	events.arg = pipeline;
	events.sink = pipeline_input(pipeline);
	err = tape_play(path, &events);
	REQUIRE(err == TAPE_CUT || (err <= 0 && err > -4096));
	require_error(pipeline_advance(pipeline, UINT64_MAX));
}
