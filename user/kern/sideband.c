// SPDX-License-Identifier: BSD-2-Clause
#include "kern/sideband.h"

#include "base/clock.h"
#include "base/error.h"
#include "kern/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* 1,000 short processes a second write some 700 KB; we are woken at once */
#define RING_BYTES   (256u << 10)
#define RECORD_BYTES (64u << 10) /* perf_event_header.size is 16 bits */
#define ROUNDS_MAX   4		 /* of reading all rings, in a storm of records */
#define LONGEST_TOLD (8u << 10)	 /* more than any of ours has: a path of PATH_MAX */

struct ring {
	int fd; /* -1: not open */
	struct perf_event_mmap_page *page;
	uint64_t lost, told; /* records: as the ring said; as we said */
};

/* PERF_RECORD_LOST, with our sample_id behind it */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct sideband {
	int n_cpus;
	size_t page_bytes;
	struct ring *rings;
	unsigned char wrapped[RECORD_BYTES];
};

int sideband_new(struct sideband **ret, int n_cpus)
{
	AUTO(sideband) sideband = calloc(1, sizeof(*sideband));

	if (!sideband)
		return fail(-ENOMEM, "no memory for the sideband");
	sideband->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	sideband->rings = calloc((size_t)n_cpus, sizeof(*sideband->rings));
	if (!sideband->rings)
		return fail(-ENOMEM, "no memory for the sideband");
	sideband->n_cpus = n_cpus;
	for (int i = 0; i < n_cpus; i++)
		sideband->rings[i].fd = -1;
	*ret = GIVE(sideband);
	return 0;
}

size_t sideband_cpu_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES;
}

size_t sideband_bytes(const struct sideband *sideband)
{
	size_t sum = 0;

	for (int cpu = 0; cpu < sideband->n_cpus; cpu++)
		sum += sideband->rings[cpu].page ? sideband_cpu_bytes() : 0;
	return sum;
}

void sideband_drop_cpu(struct sideband *sideband, int cpu)
{
	struct ring *ring = &sideband->rings[cpu];

	if (ring->page)
		munmap(ring->page, sideband_cpu_bytes());
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct ring){ .fd = -1 };
}

void sideband_free(struct sideband *sideband)
{
	if (!sideband)
		return;
	for (int cpu = 0; cpu < sideband->n_cpus; cpu++)
		sideband_drop_cpu(sideband, cpu);
	free(sideband->rings);
	free(sideband);
}

int sideband_add_cpu(struct sideband *sideband, int cpu, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct ring *ring = &sideband->rings[cpu];
	AUTO_CLOSE int fd = -1;
	void *page;

	if (ring->fd >= 0)
		return 0;
	fd = sideband_open(cpu);
	if (fd < 0)
		return fd;
	page = mmap(NULL, sideband_cpu_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (page == MAP_FAILED) {
		fail_errno(-errno, "cannot map the sideband ring of CPU %d", cpu);
		return fail_hint(-errno, "raise kernel.perf_event_mlock_kb");
	}
	ring->page = page;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return fail_errno(-errno, "cannot enable the sideband of CPU %d", cpu);
	ring->fd = GIVE_FD(fd);
	return 0;
}

static const void *record_at(struct sideband *sideband, const unsigned char *data,
			     uint64_t tail, size_t *ret_bytes)
{
	size_t at = tail & (RING_BYTES - 1);
	const struct perf_event_header *header = (const void *)(data + at);
	size_t bytes = header->size; /* headers never wrap: records are 8-aligned */
	size_t first = RING_BYTES - at;

	*ret_bytes = bytes;
	if (bytes <= first)
		return header;
	memcpy(sideband->wrapped, header, first);
	memcpy(sideband->wrapped + first, data, bytes - first);
	return sideband->wrapped;
}

/* What was lost until now, as far as that is news. */
static int tell_lost(struct ring *ring, uint64_t lost, const struct event_sink *sink)
{
	const struct lost_record record = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(record) },
		.lost = lost - ring->told,
		.time_ns = clock_now_ns(),
	};

	if (lost <= ring->told)
		return 0;
	ring->told = lost;
	return sink->sideband(sink->arg, (const void *)&record, sizeof(record));
}

/* The ring tells of a loss with the next record that it has room for, and that may come
 * late or never: the CPU may be idle from now on. Kernels before 6.0 count nothing that
 * could be asked for. */
static int ask_lost(struct ring *ring, const struct event_sink *sink)
{
	struct {
		uint64_t value, lost;
	} counts; /* PERF_FORMAT_LOST */

	return read(ring->fd, &counts, sizeof(counts)) == sizeof(counts)
		       ? tell_lost(ring, counts.lost, sink)
		       : 0;
}

static int hand_on(struct ring *ring, const void *bytes, size_t n,
		   const struct event_sink *sink)
{
	const struct lost_record *record = bytes;

	if (record->header.type != PERF_RECORD_LOST || n < sizeof(*record))
		return sink->sideband(sink->arg, bytes, n);
	ring->lost += record->lost;
	return tell_lost(ring, ring->lost, sink);
}

static uint64_t head_of(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

static int ring_read(struct sideband *sideband, struct ring *ring,
		     const struct event_sink *sink)
{
	const unsigned char *data = (unsigned char *)ring->page + sideband->page_bytes;
	uint64_t head = head_of(ring), begin = ring->page->data_tail, tail = begin;
	bool was_full;
	int err = 0;

	while (!err && tail < head) {
		size_t bytes;
		const void *record = record_at(sideband, data, tail, &bytes);

		if (bytes < sizeof(struct perf_event_header)) {
			tail = head;
			break;
		}
		err = hand_on(ring, record, bytes, sink);
		tail += bytes;
	}
	was_full = head_of(ring) - begin > RING_BYTES - LONGEST_TOLD;
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return err || !was_full ? err : ask_lost(ring, sink);
}

static int read_all(struct sideband *sideband, const struct event_sink *sink,
		    bool *ret_any)
{
	int err = 0;

	*ret_any = false;
	for (int i = 0; !err && i < sideband->n_cpus; i++) {
		struct ring *ring = &sideband->rings[i];

		if (ring->fd < 0 || head_of(ring) == ring->page->data_tail)
			continue;
		*ret_any = true;
		err = ring_read(sideband, ring, sink);
	}
	return err;
}

/* What a process does goes to the ring of the CPU that it is on: what came before a
 * record may be in a ring that was read before that was written. */
int sideband_read(struct sideband *sideband, const struct event_sink *sink)
{
	bool any = true;
	int err = 0;

	for (int i = 0; !err && any && i < ROUNDS_MAX; i++)
		err = read_all(sideband, sink, &any);
	return err;
}
