// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's answers beside /proc/kallsyms, which it prints itself: of one function in
 * STEP, at its start and behind it, and of a BPF program.
 *
 *	ksyms STEP	says how many were compared; status 1: one differs, 3: this
 *			kernel can't be asked
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "kern/ksyms.h"

#define LINE_BYTES    1024
#define OWN_PROGRAM   "_ksyms_name\t[bpf]"
#define IN_A_FUNCTION 1

struct line {
	uint64_t start;
	char type, name[LINE_BYTES];
};

static bool read_line(FILE *f, struct line *ret)
{
	return fscanf(f, "%" SCNx64 " %c %1023[^\n]", &ret->start, &ret->type,
		      ret->name) == 3;
}

/* 0, with the kernel's line for addr, or why there is none */
static int ask(struct ksyms *ksyms, uint64_t addr, struct line *ret)
{
	int fd = ksyms_list(ksyms, &addr, 1), err = fd < 0 ? fd : 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	error_clear();
	if (f) {
		rewind(f);
		err = read_line(f, ret) ? 0 : -EPROTO;
		fclose(f);
	}
	return err;
}

/* Is that one of the names that a function has? */
static bool is_listed(const struct line *told)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct line line;
	bool found = false;

	while (f && !found && read_line(f, &line))
		found = line.start == told->start && !strcmp(line.name, told->name);
	if (f)
		fclose(f);
	return found;
}

static bool may_compare(const struct line *line)
{
	return strchr("tT", line->type) && !strstr(line->name, "[bpf]") &&
	       !strstr(line->name, "[__builtin") && !strstr(line->name, "_etext") &&
	       !strstr(line->name, "_einittext");
}

static int compare(struct ksyms *ksyms, const struct line *line, uint64_t behind)
{
	struct line told;
	int err = ask(ksyms, line->start + behind, &told);

	if (!err && told.start == line->start &&
	    (!strcmp(told.name, line->name) || is_listed(&told)))
		return 0;
	printf("%s: error %d, told %s\n", line->name, err, err ? "" : told.name);
	return 1;
}

static int compare_functions(struct ksyms *ksyms, unsigned long step)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct line line, next;
	unsigned long n = 0, compared = 0;
	int differ = 0;
	bool more = f && read_line(f, &line);

	while (more) {
		more = read_line(f, &next);
		if (more && next.start > line.start + IN_A_FUNCTION &&
		    may_compare(&line) && !(n++ % step)) {
			differ |= compare(ksyms, &line, 0);
			differ |= compare(ksyms, &line, IN_A_FUNCTION);
			compared++;
		}
		line = next;
	}
	if (f)
		fclose(f);
	printf("compared %lu\n", compared);
	return differ;
}

/* The one that asks is there, unless it has been asked for by none but us. */
static bool names_programs(struct ksyms *ksyms)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct line line, told;
	bool found = false;

	while (f && !found && read_line(f, &line))
		found = strstr(line.name, OWN_PROGRAM) &&
			!ask(ksyms, line.start, &told) && !strcmp(told.name, line.name);
	if (f)
		fclose(f);
	printf("programs %s\n", found ? "named" : "not named");
	return found;
}

int main(int argc, char **argv)
{
	unsigned long step = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	const uint64_t nowhere = 0x1000, known = (uint64_t)(uintptr_t)main;
	struct ksyms *ksyms = NULL;
	struct line told;
	int differ;

	if (!step || ksyms_new(&ksyms))
		return 2;
	if (ksyms_list(ksyms, NULL, 0) < 0) {
		printf("%s\n", error_sentence());
		return 3;
	}
	differ = compare_functions(ksyms, step);
	differ |= !names_programs(ksyms);
	/* what is nobody's has no name, and is not its neighbour's */
	differ |= ask(ksyms, nowhere, &told) != -ENOENT;
	differ |= ask(ksyms, known, &told) != -ENOENT;
	ksyms_free(ksyms);
	return differ;
}
