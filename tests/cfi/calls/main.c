// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls OBJDUMP BEFORE keeps|loses FILE…   x86-64 code beside objdump's reading of it
 *
 * Every instruction's length, and whether it calls, as objdump says. Then the flag
 * of the file's table: a file that keeps frame pointers has no call where its
 * table says otherwise, and has the flag; one that loses them hasn't. In TAP,
 * numbered behind BEFORE others.
 */
#include "../image.h"

#include "base/error.h"
#include "obj/x86_insn.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_MAX 5

struct line {
	uint64_t pc;
	uint8_t bytes[16];
	size_t n;
	const char *text;
};

struct sums {
	unsigned long insns, wrong, calls, outside;
};

static bool read_line(struct line *line, char *text)
{
	char *at = strchr(text, '\t'), *end;

	line->pc = strtoul(text, &end, 16);
	if (!at || *end != ':')
		return false;
	line->n = 0;
	for (at++; line->n < sizeof(line->bytes) && *at != ' ' && *at != '\t';) {
		line->bytes[line->n++] = (uint8_t)strtoul(at, &end, 16);
		at = end + (*end == ' ');
	}
	line->text = strchr(at, '\t');
	return line->text++ && line->n;
}

/* Data among code, and fwait, which objdump shows with what follows it. */
static bool is_doubtful(const struct line *line)
{
	return strstr(line->text, "(bad)") || !strncmp(line->text, "rex", 3) ||
	       !strncmp(line->text, ".byte", 5) || line->bytes[0] == 0x9b ||
	       !strncmp(line->text, "data16\n", 7);
}

static bool says_call(const char *text)
{
	static const char *const prefixes[] = { "bnd ",	   "notrack ", "addr32 ",
						"data16 ", "cs ",      "ds " };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			return says_call(text + strlen(prefixes[i]));
	while (!strncmp(text, "rex.", 4))
		text += strcspn(text, " ") + 1;
	return !strncmp(text, "call", 4) || !strncmp(text, "lcall", 5);
}

static bool is_outside(const struct image *image, const struct line *line)
{
	struct unwind_rule rule = image_rule(image, line->pc + line->n - 1);

	if (rule.cfa <= UNWIND_CFA_DEREF_TWICE &&
	    (rule.reg == UNWIND_BY_CODE || rule.reg == UNWIND_GUESSED))
		return false; /* no entry covers it */
	return rule.cfa != UNWIND_CFA_NONE && rule.cfa != UNWIND_CFA_END &&
	       rule.cfa != UNWIND_CFA_PLT &&
	       !(rule.cfa == UNWIND_CFA_FP && rule.cfa_offset == 16 &&
		 rule.fp == UNWIND_FP_CFA && rule.fp_words == -2);
}

static void check(const struct image *image, const struct line *line, struct sums *sums)
{
	bool calls = false, call = says_call(line->text);
	size_t n = x86_insn_bytes(line->bytes, line->n, &calls);

	sums->insns++;
	sums->calls += call;
	sums->outside += call && is_outside(image, line);
	if (n == line->n && calls == call)
		return;
	if (sums->wrong++ < TOLD_MAX)
		printf("# %lx: %zu bytes%s, not %s", line->pc, n, calls ? ", calls" : "",
		       line->text);
}

static int read_code(const char *objdump, const char *path, const struct image *image,
		     struct sums *sums)
{
	char command[4096], text[4096];
	struct line line;
	FILE *f;

	snprintf(command, sizeof(command), "%s -d --insn-width=16 '%s'", objdump, path);
	f = popen(command, "r");
	if (!f)
		return -1;
	while (fgets(text, sizeof(text), f))
		if (read_line(&line, text) && !is_doubtful(&line))
			check(image, &line, sums);
	return pclose(f);
}

static int try_file(const char *objdump, const char *path, bool expected,
		    struct sums *sums)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO(unwind_table) table = NULL;
	struct image image = { 0 };
	bool flag;
	int err;

	if (unwind_table_build(fd, NULL, &table) || !image_load(&image, table)) {
		printf("# %s\n", error_sentence());
		return -1;
	}
	err = read_code(objdump, path, &image, sums);
	flag = image.head.flags & UNWIND_KEEPS_FP;
	image_free(&image);
	if (flag != expected || (flag && sums->outside))
		printf("# the flag is %d\n", flag);
	return err || sums->wrong || !sums->calls || flag != expected ||
			       (flag && sums->outside)
		       ? -1
		       : 0;
}

int main(int argc, char **argv)
{
	int number = argc > 2 ? atoi(argv[2]) : 0, failed = 0;
	bool expected = false;

	for (int i = 3; i < argc; i++) {
		struct sums sums = { 0 };
		int err;

		if (!strcmp(argv[i], "keeps") || !strcmp(argv[i], "loses")) {
			expected = *argv[i] == 'k';
			continue;
		}
		err = try_file(argv[1], argv[i], expected, &sums);
		failed |= err;
		printf("%sok %d - %s %s frame pointers: %lu instructions, %lu wrong, "
		       "%lu calls, %lu of them elsewhere\n",
		       err ? "not " : "", ++number, argv[i], expected ? "keeps" : "loses",
		       sums.insns, sums.wrong, sums.calls, sums.outside);
	}
	printf("1..%d\n", number);
	return failed ? 1 : 0;
}
