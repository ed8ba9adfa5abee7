// SPDX-License-Identifier: BSD-2-Clause
/*
 * insns LIMIT: loads weft's programs as the sampler does, with every filter off
 * and with every filter and the ids of traces on, and prints how many instructions the
 * verifier went through for each:
 *
 *	program NAME verified_insns N FILTERS
 *
 * Asked of the verifier's own log, since kernels before 5.16 tell it nowhere
 * else. Exit status 1: one needs more than LIMIT; 2: the kernel took none, and
 * the end of the log is on stderr.
 */
#include "kern/arch.h"
#include "shared/knobs.h"

#include "weft.skel.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_BYTES  (16u << 20)
#define LOG_STEPS  1
#define LOG_STATS  4
#define TAIL_BYTES 1500
#define N_CPUS	   2

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static struct weft_bpf *open_programs(unsigned int filters)
{
	struct weft_bpf *skel = weft_bpf__open();
	struct knobs *knobs;

	if (!skel)
		return NULL;
	knobs = (struct knobs *)&skel->rodata->knobs;
	knobs->filters = filters;
	knobs->max_frames = FRAMES_MAX;
	knobs->page_bytes = (unsigned int)sysconf(_SC_PAGESIZE);
	knobs->tables = 1;
	knobs->trace_ids = filters != 0;
	knobs->clock_tick_ns = (unsigned int)(1000000000 / sysconf(_SC_CLK_TCK));
	knobs->kernel_stack_bytes = arch_kernel_stack_bytes();
	knobs->addr_mask = arch_addr_mask();
	bpf_map__set_max_entries(skel->maps.rings, N_CPUS);
	return skel;
}

/* Loads, each program with its own part of the log. */
static int load(struct weft_bpf *skel, char *log, unsigned int level)
{
	struct bpf_program *program = NULL;
	size_t n = 0;

	bpf_object__for_each_program(program, skel->obj)
		n++;
	for (size_t i = 0; i < n; i++) {
		program = bpf_object__next_program(skel->obj, program);
		bpf_program__set_log_buf(program, log + LOG_BYTES / n * i, LOG_BYTES / n);
		bpf_program__set_log_level(program, level);
	}
	return weft_bpf__load(skel);
}

static unsigned long insns_of(const struct bpf_program *program)
{
	size_t bytes;
	const char *log = bpf_program__log_buf(program, &bytes);
	/* a line of its own: 7.2 has another one, function by function */
	const char *said = strstr(log, "\nprocessed ");

	return said ? strtoul(said + strlen("\nprocessed "), NULL, 10) : 0;
}

static void explain(unsigned int filters, char *log)
{
	struct weft_bpf *skel = open_programs(filters);
	struct bpf_program *program;

	if (!skel)
		return;
	load(skel, log, LOG_STEPS | LOG_STATS);
	bpf_object__for_each_program(program, skel->obj) {
		size_t bytes, n;
		const char *said = bpf_program__log_buf(program, &bytes);

		n = strlen(said);
		fprintf(stderr, "%s: ...%s\n", bpf_program__name(program),
			said + (n > TAIL_BYTES ? n - TAIL_BYTES : 0));
	}
	weft_bpf__destroy(skel);
}

static int check(unsigned int filters, unsigned long limit, char *log)
{
	struct weft_bpf *skel = open_programs(filters);
	struct bpf_program *program;
	int status = 0;

	if (!skel || load(skel, log, LOG_STATS)) {
		weft_bpf__destroy(skel);
		explain(filters, log);
		return 2;
	}
	bpf_object__for_each_program(program, skel->obj) {
		unsigned long n = insns_of(program);

		printf("program %s verified_insns %lu filters %#x\n",
		       bpf_program__name(program), n, filters);
		if (!n || n > limit)
			status = 1;
	}
	weft_bpf__destroy(skel);
	return status;
}

int main(int argc, char **argv)
{
	const unsigned int all =
		FILTER_TGID | FILTER_TID | FILTER_CGROUP | FILTER_COMM | FILTER_USER_ONLY;
	unsigned long limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char *log = calloc(1, LOG_BYTES);
	int status;

	if (!log || !limit) {
		fprintf(stderr, "usage: insns LIMIT\n");
		return 2;
	}
	libbpf_set_print(quiet);
	status = check(0, limit, log);
	if (!status)
		status = check(all, limit, log);
	free(log);
	return status;
}
