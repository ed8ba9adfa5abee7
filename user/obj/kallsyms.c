// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel tells no sizes: a function ends where the next one begins. Its
 * own file, so it is trusted to end, but not to be clean: a module names its
 * symbols as it likes.
 */
#include "obj/names.h"

#include "base/error.h"
#include "obj/candidates.h"
#include "obj/demangle.h"
#include "obj/lines.h"

#include <stdio.h>
#include <string.h>

#define KALLSYMS_BYTES_MAX (256u << 20)
#define FUNCTION_BYTES_MAX (1u << 20) /* farther than this it is another thing */

struct kallsyms_pass {
	struct candidates *batch;
	struct str texts; /* of candidates: "name\t[module]", NUL */
};

static bool ends_in(const char *name, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n >= len && !memcmp(name + n - len, end, len);
}

/* The linker script's marks sit on the first function behind them. */
static bool is_mark(const char *name, size_t n)
{
	return ends_in(name, n, "text_start") || ends_in(name, n, "text_end") ||
	       ends_in(name, n, "_text") || ends_in(name, n, "_stext") ||
	       ends_in(name, n, "_etext");
}

static void take_line(struct kallsyms_pass *pass, struct line *line)
{
	struct candidate symbol = { .sized = false };
	const char *tab;
	char type;
	size_t n;

	if (line->is_cut || !line_take_hex(line, &symbol.start) || line->n < 3 ||
	    line->text[1] != ' ')
		return;
	type = line->text[0];
	if (!symbol.start || !strchr("tTwW", type))
		return;
	symbol.order = symbol.start;
	symbol.end = symbol.start + FUNCTION_BYTES_MAX;
	if (symbol.end < symbol.start)
		symbol.end = UINT64_MAX;
	if (!candidates_near(pass->batch, symbol.start, false))
		return;
	line->text += 2;
	line->n -= 2;
	tab = memchr(line->text, '\t', line->n);
	n = tab ? (size_t)(tab - line->text) : line->n;
	symbol.rank = (uint64_t)!is_mark(line->text, n) << 32 |
		      name_rank(line->text, n, false, type != 'T');
	symbol.name = pass->texts.n;
	str_add_bytes(&pass->texts, line->text, line->n);
	str_add_char(&pass->texts, '\0');
	candidates_below(pass->batch, &symbol);
}

static int read_lines(struct kallsyms_pass *pass, int fd)
{
	AUTO_LINES lines = { 0 };
	struct line line;
	int more = lines_open(&lines, fd, 0, KALLSYMS_BYTES_MAX);

	while (more >= 0 && (more = lines_next(&lines, &line)) > 0)
		take_line(pass, &line);
	return more < 0 ? more : str_error(&pass->texts);
}

static int deliver(const struct query *query, const struct candidate *best,
		   const char *text, name_sink sink, void *arg)
{
	size_t n = strcspn(text, "\t");
	AUTO_STR name = { 0 };

	demangle(&name, text, n);
	if (name.n && text[n]) {
		str_add_char(&name, ' ');
		name_add(&name, text + n + 1, strlen(text + n + 1));
		name_bound(&name, 0);
	}
	if (!name.n || name.failed)
		return str_error(&name);
	return sink(arg, query->index, name.s, best->start);
}

int kallsyms_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_CANDIDATES batch = { 0 };
	AUTO_STR texts = { 0 };
	struct kallsyms_pass pass = { .batch = &batch };
	int err = candidates_new(&batch, n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		candidates_add(&batch, addrs[i], i);
	candidates_sort(&batch);
	err = read_lines(&pass, fd);
	texts = pass.texts;
	for (size_t i = 0; err >= 0 && i < n; i++) {
		const struct candidate *best = candidates_best(&batch, i);

		if (best)
			err = deliver(&batch.items[i], best, texts.s + best->name, sink,
				      arg);
	}
	return err < 0 ? err : 0;
}
