// SPDX-License-Identifier: BSD-2-Clause
/*
 * insns LIMIT: loads weft's programs as the sampler does, with every filter off
 * and with every filter and the ids of traces on, and without filters the tick with none
 * of its parts and with one of them; and prints how many instructions the verifier went
 * through for each:
 *
 *	program NAME verified_insns N filters F parts P
 *
 * Asked of the verifier's own log, since kernels before 5.16 tell it nowhere
 * else. Exit status 1: one needs more than LIMIT, or is another program with the few
 * types of this kernel's that the sampler gives libbpf than with all; 2: the kernel took
 * none, and the end of the log is on stderr.
 */
#include "kern/arch.h"
#include "kern/kernel_types.h"
#include "shared/knobs.h"
#include "shared/orc.h"

#include "weft.skel.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
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

struct variant {
	unsigned int filters, parts;
};

static struct weft_bpf *open_programs(const struct variant *of, const char *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = types);
	struct weft_bpf *skel = weft_bpf__open_opts(&options);
	struct knobs *knobs;

	if (!skel)
		return NULL;
	knobs = (struct knobs *)&skel->rodata->knobs;
	knobs->filters = of->filters;
	knobs->max_frames = FRAMES_MAX;
	knobs->parts = of->parts;
	knobs->tables = 1;
	knobs->trace_ids = of->filters != 0;
	knobs->attributes = of->filters != 0;
	arch_fill_knobs(knobs);
	bpf_program__set_autoload(skel->progs.orc_find_tables, knobs->orc);
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

static void explain(const struct variant *of, char *log)
{
	struct weft_bpf *skel = open_programs(of, NULL);
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

/* The same instructions, but for the descriptors of maps. */
static bool is_same(const struct bpf_program *one, const struct bpf_program *other)
{
	const struct bpf_insn *a = bpf_program__insns(one);
	const struct bpf_insn *b = bpf_program__insns(other);
	size_t n = bpf_program__insn_cnt(one);

	if (n != bpf_program__insn_cnt(other))
		return false;
	for (size_t i = 0; i < n; i++) {
		bool is_map = a[i].code == (BPF_LD | BPF_IMM | BPF_DW) && a[i].src_reg;

		if (memcmp(&a[i], &b[i], offsetof(struct bpf_insn, imm)) ||
		    (a[i].imm != b[i].imm && !is_map))
			return false;
	}
	return true;
}

/* Are they what they are with all types of the kernel? */
static bool check_types(const struct variant *of, struct weft_bpf *skel, char *log)
{
	struct weft_bpf *whole = open_programs(of, NULL);
	struct bpf_program *one = NULL, *other = NULL;
	bool same = whole && !load(whole, log, LOG_STATS);

	while (same && (one = bpf_object__next_program(skel->obj, one))) {
		other = bpf_object__next_program(whole->obj, other);
		same = !bpf_program__autoload(one) || is_same(one, other);
		if (!same)
			fprintf(stderr, "%s is another with all types\n",
				bpf_program__name(one));
	}
	weft_bpf__destroy(whole);
	return same;
}

static int check(const struct variant *of, unsigned long limit, const char *types,
		 char *log)
{
	struct weft_bpf *skel = open_programs(of, types);
	struct bpf_program *program;
	int status = 0;

	if (!skel || load(skel, log, LOG_STATS)) {
		weft_bpf__destroy(skel);
		explain(of, log);
		return 2;
	}
	bpf_object__for_each_program(program, skel->obj) {
		unsigned long n = insns_of(program);

		if (!bpf_program__autoload(program))
			continue; /* this kernel has no programs of its kind */
		printf("program %s verified_insns %lu filters %#x parts %#x\n",
		       bpf_program__name(program), n, of->filters, of->parts);
		if (!n || n > limit)
			status = 1;
	}
	if (of->parts == PARTS_ALL && !check_types(of, skel, log))
		status = 1;
	weft_bpf__destroy(skel);
	return status;
}

int main(int argc, char **argv)
{
	const struct variant variants[] = {
		{ 0, PARTS_ALL },
		{ FILTER_TGID | FILTER_TID | FILTER_CGROUP | FILTER_COMM |
			  FILTER_USER_ONLY,
		  PARTS_ALL },
		{ 0, 0 },
		{ 0, PART_CHAINS },
		{ 0, PART_HOTSPOT },
		{ 0, PART_LUAJIT },
		{ 0, PART_HOSTED },
	};
	unsigned long limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char *log = calloc(1, LOG_BYTES), types[KERNEL_TYPES_PATH_BYTES];
	int status = 0, types_fd;
	const void *object;
	size_t bytes;

	if (!log || !limit) {
		fprintf(stderr, "usage: insns LIMIT\n");
		return 2;
	}
	libbpf_set_print(quiet);
	object = weft_bpf__elf_bytes(&bytes);
	if (kernel_types_file(object, bytes, types, &types_fd)) {
		fprintf(stderr, "insns: no types of this kernel\n");
		return 2;
	}
	for (size_t i = 0; !status && i < sizeof(variants) / sizeof(*variants); i++)
		status = check(&variants[i], limit, types, log);
	close(types_fd);
	free(log);
	return status;
}
