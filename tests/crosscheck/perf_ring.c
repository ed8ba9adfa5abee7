// SPDX-License-Identifier: BSD-2-Clause
#include "perf_ring.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define RING_BYTES  (32u << 20)
#define STACK_BYTES 65528 /* the most that the kernel takes: below 64 KiB, by 8 */

static struct perf_event_attr sample_attr(enum tick_event event, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000ULL / hz,
		.disabled = 1,
		.exclude_guest = 1,
		/* struct tick_count; without, each CPU seems to be gone */
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = KERNEL_REGS,
		.sample_stack_user = STACK_BYTES,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1, /* nobody waits for it */
		.wakeup_watermark = RING_BYTES / 2,
	};

	if (event == TICK_CYCLES) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = hz;
	}
	return attr;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_ring_open(struct perf_ring *ret, enum tick_event event, unsigned int hz, int cpu)
{
	struct perf_event_attr attr = sample_attr(event, hz);
	AUTO_CLOSE int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
					 PERF_FLAG_FD_CLOEXEC);
	AUTO_FREE unsigned char *wrapped = malloc(RECORD_BYTES_MAX);
	void *page;

	if (fd < 0)
		return fail_errno(-errno, "cannot sample stacks on CPU %d", cpu);
	if (!wrapped)
		return fail(-ENOMEM, "no memory for a sample");
	page = mmap(NULL, page_bytes() + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (page == MAP_FAILED)
		return fail_errno(-errno, "cannot map the samples of CPU %d", cpu);
	*ret = (struct perf_ring){ .cpu = (uint16_t)cpu, .page = page };
	ret->fd = GIVE_FD(fd);
	ret->wrapped = GIVE(wrapped);
	return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, page_bytes() + RING_BYTES);
	free(ring->wrapped);
	ring->page = NULL;
	ring->wrapped = NULL;
}

/* In one piece; a record's header never wraps, since records are 8-aligned. */
static const unsigned char *record_at(struct perf_ring *ring, uint64_t tail)
{
	const unsigned char *data = (unsigned char *)ring->page + page_bytes();
	size_t at = tail & (RING_BYTES - 1), first = RING_BYTES - at;
	const struct perf_event_header *header = (const void *)(data + at);

	if (header->size <= first)
		return data + at;
	memcpy(ring->wrapped, header, first);
	memcpy(ring->wrapped + first, data, header->size - first);
	return ring->wrapped;
}

/* n bytes of what is left, or NULL. */
static const void *take(const unsigned char **at, size_t *left, size_t n)
{
	const void *piece = *at;

	if (n > *left)
		return NULL;
	*at += n;
	*left -= n;
	return piece;
}

/* The registers, in their order, then the stack: linux/perf_event.h */
static bool read_user(struct perf_sample *to, const unsigned char *at, size_t left)
{
	static const uint64_t none[N_REGS];
	const uint64_t *abi = take(&at, &left, 8), *size, *used;

	if (!abi)
		return false;
	to->has_user = *abi != PERF_SAMPLE_REGS_ABI_NONE;
	to->regs = to->has_user ? take(&at, &left, sizeof(none)) : none;
	size = to->regs ? take(&at, &left, 8) : NULL;
	if (!size)
		return false;
	to->dump_bytes = *size;
	to->stack_bytes = 0;
	to->stack = take(&at, &left, *size);
	if (!to->stack || !*size)
		return to->stack;
	used = take(&at, &left, 8);
	to->stack_bytes = used && *used <= *size ? *used : 0;
	return used;
}

static bool read_sample(struct perf_sample *to, const unsigned char *record, size_t bytes)
{
	struct head {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time_ns;
	} head;

	if (bytes < sizeof(head))
		return false;
	memcpy(&head, record, sizeof(head));
	to->pid = head.pid;
	to->tid = head.tid;
	to->time_ns = head.time_ns;
	return read_user(to, record + sizeof(head), bytes - sizeof(head));
}

static bool read_record(struct perf_ring *ring, const unsigned char *record,
			struct perf_sample *ret)
{
	struct perf_event_header header;
	uint64_t lost[2];

	memcpy(&header, record, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		return read_sample(ret, record, header.size);
	if (header.type == PERF_RECORD_LOST &&
	    header.size >= sizeof(header) + sizeof(lost)) {
		memcpy(lost, record + sizeof(header), sizeof(lost));
		ring->lost += lost[1];
	}
	return false;
}

bool perf_ring_next(struct perf_ring *ring, struct perf_sample *ret)
{
	struct perf_event_mmap_page *page = ring->page;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	bool found = false;

	/* what was handed out by the last call is done with */
	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
	while (!found && ring->tail < head) {
		const unsigned char *record = record_at(ring, ring->tail);
		const struct perf_event_header *header = (const void *)record;

		if (header->size < sizeof(*header)) {
			ring->tail = head;
			break;
		}
		found = read_record(ring, record, ret);
		ring->tail += header->size;
	}
	return found;
}
