// SPDX-License-Identifier: BSD-2-Clause
#include "kern/kernel_memory.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/small_file.h"
#include "kern/cpus.h"
#include "kern/sideband.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the kernel's own, in kernel/bpf/: a map; an element of a hash, beside its key and
 * its value, and the head of a list of them; all of a program but its instructions. */
#define MAP_BYTES	(8u << 10)
#define ELEMENT_BYTES	64
#define LIST_HEAD_BYTES 16
#define PROGRAM_BYTES	(8u << 10)

/* A ring buffer has a page for each end of it, and lists each of its pages twice. */
#define RING_MORE_BYTES	  (16u << 10)
#define KERNEL_PAGE_BYTES 4096

#define KSYMS_BYTES (64u << 10) /* what ksyms.c loads */

uint64_t kernel_memory_of(int fd)
{
	char path[64], text[1024], *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	small_file_read(path, text, sizeof(text));
	line = strstr(text, "\nmemlock:");
	return line ? strtoull(line + strlen("\nmemlock:"), NULL, 10) : 0;
}

uint64_t kernel_memory_of_object(const struct bpf_object *object)
{
	struct bpf_program *program;
	const struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, object) sum += kernel_memory_of(bpf_map__fd(map));
	bpf_object__for_each_program(program, object)
		sum += kernel_memory_of(bpf_program__fd(program));
	return sum;
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 7) & ~7ULL;
}

static uint64_t of_hash(uint64_t n, uint64_t key_bytes, uint64_t value_bytes)
{
	uint64_t heads = 1;

	while (heads < n)
		heads *= 2;
	return n * (ELEMENT_BYTES + aligned(key_bytes) + value_bytes) +
	       heads * LIST_HEAD_BYTES;
}

static uint64_t of_map(const struct bpf_map *map, int n_cpus)
{
	uint64_t n = bpf_map__max_entries(map);
	uint64_t value_bytes = aligned(bpf_map__value_size(map));

	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_HASH:
		return of_hash(n, bpf_map__key_size(map), value_bytes);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return n * value_bytes * (uint64_t)n_cpus;
	default:
		return n * value_bytes;
	}
}

static uint64_t of_object(const struct bpf_object *object, int n_cpus)
{
	struct bpf_program *program;
	const struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, object) sum += MAP_BYTES + of_map(map, n_cpus);
	bpf_object__for_each_program(program, object)
		sum += PROGRAM_BYTES +
		       bpf_program__insn_cnt(program) * sizeof(struct bpf_insn);
	return sum;
}

static uint64_t of_ring(unsigned int bytes)
{
	return bytes + RING_MORE_BYTES + 2 * sizeof(void *) * (bytes / KERNEL_PAGE_BYTES);
}

static uint64_t count_online(int n_cpus)
{
	AUTO_FREE bool *online = calloc((size_t)n_cpus, sizeof(*online));
	uint64_t n = 0;

	if (!online || cpus_online(online, n_cpus)) {
		error_clear();
		return (uint64_t)n_cpus;
	}
	for (int cpu = 0; cpu < n_cpus; cpu++)
		n += online[cpu];
	return n;
}

uint64_t kernel_memory_due(const struct bpf_object *object, unsigned int ring_bytes,
			   int n_cpus)
{
	return of_object(object, n_cpus) + KSYMS_BYTES +
	       count_online(n_cpus) * (of_ring(ring_bytes) + sideband_cpu_bytes());
}
