// SPDX-License-Identifier: BSD-2-Clause
/*
 * readelf shows for each entry the rows that its instructions give, with a
 * column for each register that any of them names. An entry without
 * instructions of its own has no rows: its CIE's single one holds.
 */
#include "readelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 80
#define LINE_BYTES  4096
#define ENTRY_MAX   128 /* code that a system enters is short */

struct cie {
	unsigned long offset;
	bool is_signal, ra_is_unusual;
	struct truth_row row;
};

struct parse {
	struct truth *truth;
	size_t room;
	struct cie *cies;
	size_t n_cies;
	bool in_cie, in_fde, in_eh_frame;
	size_t from; /* of this FDE's rows */
	unsigned long begin, end;
	struct cie *cie; /* the FDE's, or the one being read */
	enum { CFA, FP, RA, SP, BX, OTHER } columns[COLUMNS_MAX];
	size_t n_columns;
};

static char *cell_of(struct truth_row *row, int column)
{
	return column == CFA  ? row->cfa
	       : column == FP ? row->fp
	       : column == RA ? row->ra
	       : column == SP ? row->sp
	       : column == BX ? row->bx
			      : NULL;
}

static void read_columns(struct parse *parse, char *line)
{
	const char *fp = parse->truth->is_arm64 ? "x29" : "rbp";
	const char *sp = parse->truth->is_arm64 ? "sp" : "rsp";
	const char *bx = parse->truth->is_arm64 ? "" : "rbx";

	parse->n_columns = 0;
	strtok(line, " \n"); /* LOC */
	for (char *word; (word = strtok(NULL, " \n")) && parse->n_columns < COLUMNS_MAX;)
		parse->columns[parse->n_columns++] = !strcmp(word, "CFA")  ? CFA
						     : !strcmp(word, fp)   ? FP
						     : !strcmp(word, "ra") ? RA
						     : !strcmp(word, sp)   ? SP
						     : !strcmp(word, bx)   ? BX
									   : OTHER;
}

static void add_row(struct parse *parse, const struct truth_row *row)
{
	struct truth *truth = parse->truth;

	if (truth->n == parse->room) {
		parse->room = parse->room ? 2 * parse->room : 4096;
		truth->rows = realloc(truth->rows, parse->room * sizeof(*row));
	}
	truth->rows[truth->n++] = *row;
}

static void mark_row(const struct parse *parse, struct truth_row *row)
{
	row->is_signal = parse->cie && parse->cie->is_signal;
	row->ra_is_unusual = parse->cie && parse->cie->ra_is_unusual;
}

static void read_row(struct parse *parse, char *line)
{
	struct truth_row row = { 0 };
	char *rest, *word;

	row.begin = strtoul(line, &rest, 16);
	word = strtok(rest, " \n");
	for (size_t i = 0; i < parse->n_columns && word; i++) {
		char *cell = cell_of(&row, (int)parse->columns[i]);

		if (cell)
			snprintf(cell, CELL_BYTES, "%s", word);
		word = strtok(NULL, " \n");
		if (word && *word == '(') /* "r10 (r10)" is one cell */
			word = strtok(NULL, " \n");
	}
	if (parse->in_cie) {
		parse->cie->row = row;
	} else if (parse->in_fde) {
		mark_row(parse, &row);
		add_row(parse, &row);
	}
}

/* The rows of the FDE now have ends; those that are empty go. */
static void end_fde(struct parse *parse)
{
	struct truth_row *rows = parse->truth->rows;
	size_t n = parse->from;

	if (!parse->in_fde)
		return;
	parse->in_fde = false;
	if (parse->truth->n == parse->from && parse->cie) {
		struct truth_row row = parse->cie->row;

		mark_row(parse, &row);
		row.begin = parse->begin;
		add_row(parse, &row);
		rows = parse->truth->rows;
	}
	for (size_t i = parse->from; i < parse->truth->n; i++) {
		struct truth_row row = rows[i];

		row.end = i + 1 < parse->truth->n ? rows[i + 1].begin : parse->end;
		if (row.end > parse->end)
			row.end = parse->end;
		if (row.begin < row.end)
			rows[n++] = row;
	}
	parse->truth->n = n;
}

static void begin_cie(struct parse *parse, const char *line)
{
	const char *letters = strchr(line, '"'), *ra = strstr(line, "ra=");
	int usual = parse->truth->is_arm64 ? 30 : 16;
	struct cie *cie;

	end_fde(parse);
	if (parse->n_cies % 64 == 0)
		parse->cies =
			realloc(parse->cies, (parse->n_cies + 64) * sizeof(*parse->cies));
	cie = &parse->cies[parse->n_cies++];
	*cie = (struct cie){ .offset = strtoul(line, NULL, 16) };
	for (letters++; *letters && *letters != '"'; letters++)
		cie->is_signal |= *letters == 'S';
	cie->ra_is_unusual = !ra || atoi(ra + 3) != usual;
	parse->cie = cie;
	parse->in_cie = true;
}

static void begin_fde(struct parse *parse, const char *line)
{
	const char *cie = strstr(line, "cie="), *pc = strstr(line, "pc=");
	unsigned long offset = strtoul(cie + 4, NULL, 16);

	end_fde(parse);
	parse->in_cie = false;
	if (sscanf(pc, "pc=%lx..%lx", &parse->begin, &parse->end) != 2)
		return;
	parse->in_fde = true;
	parse->from = parse->truth->n;
	parse->cie = NULL;
	for (size_t i = parse->n_cies; i-- > 0 && !parse->cie;)
		if (parse->cies[i].offset == offset)
			parse->cie = &parse->cies[i];
}

static void read_line(struct parse *parse, char *line)
{
	if (strstr(line, " CIE \""))
		begin_cie(parse, line);
	else if (strstr(line, " FDE cie="))
		begin_fde(parse, line);
	else if (!strncmp(line, "   LOC", 6))
		read_columns(parse, line);
	else if (strspn(line, "0123456789abcdef") == 16 && line[16] == ' ')
		read_row(parse, line);
}

static int compare_rows(const void *a, const void *b)
{
	const struct truth_row *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void sort_rows(struct truth *truth)
{
	uint64_t end = 0;
	size_t n = 0;

	qsort(truth->rows, truth->n, sizeof(*truth->rows), compare_rows);
	for (size_t i = 0; i < truth->n; i++) {
		struct truth_row *row = &truth->rows[i];

		if (row->begin < end) {
			truth->overlaps++;
			row->begin = end;
		}
		if (row->begin >= row->end)
			continue;
		end = row->end;
		truth->rows[n++] = *row;
	}
	truth->n = n;
}

const struct truth_code *truth_no_cfi(const struct truth *truth, uint64_t pc)
{
	for (size_t i = 0; i < truth->n_no_cfi; i++) {
		const struct truth_code *code = &truth->no_cfi[i];

		if (pc - code->begin < code->end - code->begin)
			return code;
	}
	return NULL;
}

/* Up to what readelf tells of; nothing, if that is all of it. */
static void add_no_cfi(struct truth *truth, struct truth_code code)
{
	for (size_t i = 0; i < truth->n; i++) {
		const struct truth_row *row = &truth->rows[i];

		if (row->end > code.begin && row->begin < code.end)
			code.end = row->begin > code.begin ? row->begin : code.begin;
	}
	if (code.begin && code.begin < code.end)
		truth->no_cfi[truth->n_no_cfi++] = code;
}

/* Sections by name, and the code at the entry point. */
static void find_no_cfi(struct truth *truth, const char *readelf, const char *path)
{
	static const struct {
		const char *name, *format;
		int kind;
	} sections[] = {
		{ " .plt ", " .plt PROGBITS %lx %*x %lx", TRUTH_PLT },
		{ " .init ", " .init PROGBITS %lx %*x %lx", TRUTH_INIT },
		{ " .fini ", " .fini PROGBITS %lx %*x %lx", TRUTH_INIT },
	};
	char command[4096], line[512];
	unsigned long at, bytes;
	FILE *f;

	snprintf(command, sizeof(command), "%s -hSW '%s' 2>/dev/null", readelf, path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "Entry point")) {
			at = strtoul(strchr(line, ':') + 1, NULL, 16);
			add_no_cfi(truth, (struct truth_code){ at, at + ENTRY_MAX,
							       TRUTH_ENTRY });
		}
		for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
			const char *name = strstr(line, sections[i].name);

			if (name && sscanf(name, sections[i].format, &at, &bytes) == 2)
				add_no_cfi(truth,
					   (struct truth_code){ at, at + bytes,
								sections[i].kind });
		}
	}
	if (f)
		pclose(f);
}

bool truth_read(struct truth *truth, const char *readelf, const char *path)
{
	struct parse parse = { .truth = truth };
	char command[4096], *line = malloc(LINE_BYTES);
	bool wanted = false;
	FILE *f;

	snprintf(command, sizeof(command),
		 "%s --debug-dump=frames-interp,no-follow-links '%s' 2>/dev/null",
		 readelf, path);
	f = popen(command, "r");
	while (f && line && fgets(line, LINE_BYTES, f)) {
		if (!strncmp(line, "Contents of the ", 16)) {
			bool eh = strstr(line, ".eh_frame section") != NULL;

			/* .debug_frame only where there is nothing else */
			end_fde(&parse);
			wanted = eh || !truth->n;
			parse.n_cies = 0;
			parse.cie = NULL;
		} else if (wanted) {
			read_line(&parse, line);
		}
	}
	end_fde(&parse);
	if (f)
		pclose(f);
	free(line);
	free(parse.cies);
	sort_rows(truth);
	find_no_cfi(truth, readelf, path);
	exprs_read(&truth->exprs, readelf, path);
	return truth->n > 0;
}

void truth_free(struct truth *truth)
{
	free(truth->rows);
	exprs_free(&truth->exprs);
	truth->rows = NULL;
	truth->n = 0;
}
