// SPDX-License-Identifier: BSD-2-Clause
#include "capture.h"

#include "perf_ring.h"

#include "base/error.h"
#include "base/vec.h"
#include "kern/sampler.h"
#include "proc/scan_all.h"
#include "proc/side_event.h"
#include "shared/record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

struct capture {
	size_t wanted, n_kernel;
	FILE *file;
	uint64_t file_bytes;
	VEC(struct event) events;
	VEC(struct perf_ring) rings;
	const unsigned char *map; /* of the file, once it is whole */
	const struct event_sink *next;
	uint64_t lost;
	int err; /* the first one */
};

/* What the linker leads here has no argument of ours. */
static struct capture *current;

int __real_tick_open(enum tick_event event, unsigned int hz, int cpu);
int __wrap_tick_open(enum tick_event event, unsigned int hz, int cpu);
int __real_sampler_start(struct sampler *sampler);
int __wrap_sampler_start(struct sampler *sampler);
int __real_sampler_read(struct sampler *sampler, const struct event_sink *sink);
int __wrap_sampler_read(struct sampler *sampler, const struct event_sink *sink);

int capture_new(struct capture **ret, size_t wanted)
{
	AUTO(capture) c = calloc(1, sizeof(*c));

	if (!c)
		return fail(-ENOMEM, "no memory for a capture");
	c->wanted = wanted;
	c->file = tmpfile();
	if (!c->file)
		return fail_errno(-errno, "no file for stacks");
	*ret = GIVE(c);
	return 0;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	if (current == c)
		current = NULL;
	for (size_t i = 0; i < c->rings.n; i++)
		perf_ring_close(&c->rings.items[i]);
	if (c->map)
		munmap((void *)c->map, c->file_bytes);
	if (c->file)
		fclose(c->file);
	vec_free(&c->rings);
	vec_free(&c->events);
	free(c);
}

void capture_use(struct capture *c)
{
	current = c;
}

static void keep(struct capture *c, struct event event, const void *head,
		 size_t head_bytes, const void *rest)
{
	static const char zeros[8];
	size_t pad = -event.bytes & 7;

	event.at = c->file_bytes;
	event.number = (uint32_t)c->events.n;
	c->file_bytes += event.bytes + pad;
	if (fwrite(head, 1, head_bytes, c->file) != head_bytes ||
	    fwrite(rest, 1, event.bytes - head_bytes, c->file) !=
		    event.bytes - head_bytes ||
	    fwrite(zeros, 1, pad, c->file) != pad)
		c->err = c->err ? c->err : fail_errno(-EIO, "cannot keep stacks");
	else if (!c->err)
		c->err = vec_push(&c->events, event);
}

static int keep_side(void *arg, const void *record, size_t bytes)
{
	struct capture *c = arg;
	struct event event = {
		.time_ns = side_event_time(record, bytes),
		.kind = EVENT_SIDE,
		.bytes = (uint32_t)bytes,
	};

	keep(c, event, record, bytes, "");
	return c->err;
}

static int on_side(void *arg, const void *record, size_t bytes)
{
	struct capture *c = arg;
	int err = keep_side(c, record, bytes);

	return err ? err : c->next->sideband(c->next->arg, record, bytes);
}

static int on_ours(void *arg, const void *record, size_t bytes)
{
	struct capture *c = arg;
	const struct sample_rec *rec = record;
	struct event event = {
		.time_ns = rec->ts_ns,
		.cpu = (uint16_t)rec->cpu,
		.kind = EVENT_OURS,
		.bytes = (uint32_t)bytes,
	};

	keep(c, event, record, bytes, "");
	return c->err ? c->err : c->next->sample(c->next->arg, record, bytes);
}

static void on_kernels(struct capture *c, uint16_t cpu, const struct perf_sample *sample)
{
	struct kernel_sample head = {
		.pid = sample->pid,
		.tid = sample->tid,
		.has_user = sample->has_user,
		.stack_bytes = (uint32_t)sample->stack_bytes,
		.dump_bytes = (uint32_t)sample->dump_bytes,
	};
	struct event event = {
		.time_ns = sample->time_ns,
		.cpu = cpu,
		.kind = EVENT_KERNEL,
		.bytes = (uint32_t)(sizeof(head) + sample->stack_bytes),
	};

	memcpy(head.regs, sample->regs, sizeof(head.regs));
	keep(c, event, &head, sizeof(head), sample->stack);
	/* the recording waits for a signal; one is enough */
	if (++c->n_kernel == c->wanted)
		kill(getpid(), SIGTERM);
}

static void drain(struct capture *c)
{
	for (size_t i = 0; i < c->rings.n; i++) {
		struct perf_ring *ring = &c->rings.items[i];
		struct perf_sample sample;

		while (perf_ring_next(ring, &sample))
			on_kernels(c, ring->cpu, &sample);
		c->lost += ring->lost;
		ring->lost = 0;
	}
}

int __wrap_tick_open(enum tick_event event, unsigned int hz, int cpu)
{
	struct perf_ring ring;
	int err = current ? perf_ring_open(&ring, event, hz, cpu) : -EINVAL;

	if (!err)
		err = vec_push(&current->rings, ring);
	return err ? err : ring.fd;
}

/* The sideband runs already, so whatever is mapped after this look is told. */
int __wrap_sampler_start(struct sampler *sampler)
{
	struct event_sink sink = { .arg = current, .sideband = keep_side };
	int err = scan_all(NULL, NULL, &sink, UINT64_MAX, NULL);

	return err ? err : __real_sampler_start(sampler);
}

int __wrap_sampler_read(struct sampler *sampler, const struct event_sink *sink)
{
	struct event_sink ours = { current, on_ours, on_side };
	int err;

	current->next = sink;
	err = __real_sampler_read(sampler, &ours);
	drain(current);
	return err ? err : current->err;
}

static int by_time(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

int capture_sort(struct capture *c)
{
	void *map;

	if (!c->events.n)
		return fail(-ENODATA, "the recording holds nothing at all");
	if (fflush(c->file))
		return fail_errno(-errno, "cannot keep stacks");
	map = mmap(NULL, c->file_bytes, PROT_READ, MAP_PRIVATE, fileno(c->file), 0);
	if (map == MAP_FAILED)
		return fail_errno(-errno, "cannot read the stacks again");
	c->map = map;
	qsort(c->events.items, c->events.n, sizeof(*c->events.items), by_time);
	return 0;
}

size_t capture_count(const struct capture *c)
{
	return c->events.n;
}

const struct event *capture_event(const struct capture *c, size_t i)
{
	return &c->events.items[i];
}

const void *capture_bytes(const struct capture *c, const struct event *event)
{
	return c->map + event->at;
}

uint64_t capture_lost(const struct capture *c)
{
	return c->lost;
}
