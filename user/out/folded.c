// SPDX-License-Identifier: BSD-2-Clause
#include "out/folded.h"

#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct line {
	const char *text;
	uint64_t count;
};

struct writer {
	const struct profile *profile;
	const struct module_table *modules;
	const struct names *names;
	struct intern *lines;
	VEC(uint64_t) counts; /* by line id */
	struct str line;
	struct folded_notes notes;
};

static bool is_marker(const char *name)
{
	return !strcmp(name, FOLDED_BOUNDARY) || !strcmp(name, FOLDED_GAP) ||
	       !strcmp(name, FOLDED_CUT);
}

/* Names may hold what the format gives a meaning to. */
static void add_name(struct str *line, const char *name)
{
	if (is_marker(name))
		str_add_char(line, '_');
	for (; *name; name++)
		str_add_char(line, *name == ';' ? ':' : *name);
}

/* A thread may call itself anything, also nothing. */
static void add_comm(struct str *line, const char *comm)
{
	if (!*comm)
		comm = "[no_name]";
	if (is_marker(comm))
		str_add_char(line, '_');
	for (; *comm; comm++)
		str_add_char(line, *comm == ';' ? ':' : *comm == ' ' ? '_' : *comm);
}

static void add_frame(struct writer *w, uint32_t id)
{
	const struct frame *frame = profile_frame(w->profile, id);
	const char *name = names_get(w->names, id);

	add_name(&w->line, name ? name : "[unknown]");
	switch (module_get(w->modules, frame->module)->kind) {
	case MODULE_KERNEL:
		str_add(&w->line, "_[k]");
		break;
	case MODULE_JIT:
		str_add(&w->line, "_[j]");
		break;
	default:
		break;
	}
}

static void add_code(struct writer *w, uint32_t code)
{
	str_add_char(&w->line, ';');
	switch (code) {
	case VIEW_BOUNDARY:
		str_add(&w->line, FOLDED_BOUNDARY);
		break;
	case VIEW_GAP:
		str_add(&w->line, FOLDED_GAP);
		break;
	case VIEW_CUT:
		str_add(&w->line, FOLDED_CUT);
		break;
	default:
		add_frame(w, code);
		break;
	}
}

static size_t before_digits(const struct str *line, size_t at)
{
	while (at && isdigit((unsigned char)line->s[at - 1]))
		at--;
	return at;
}

/* "name 12", or 1.5, at the leaf would be read as a count and a differential
 * pair; a blank there belongs to the count. */
static void guard_leaf(struct str *line)
{
	size_t at = before_digits(line, line->n);

	if (at && line->s[at - 1] == '.')
		at = before_digits(line, at - 1);
	if (at && line->s[at - 1] == ' ')
		line->s[at - 1] = '_';
}

static int add_line(struct writer *w, uint64_t count)
{
	uint32_t id;
	int err;

	guard_leaf(&w->line);
	err = str_error(&w->line);
	if (!err)
		err = intern_id(w->lines, w->line.s, w->line.n, &id);
	if (err)
		return err;
	if (id == w->counts.n)
		err = vec_push(&w->counts, 0);
	if (!err)
		w->counts.items[id] += count;
	return err;
}

static int add_stack(struct writer *w, uint32_t stack, enum view view)
{
	struct view_notes notes;
	size_t bytes, n;
	const uint32_t *codes = intern_bytes(w->profile->stacks, stack, &bytes);
	AUTO_FREE uint32_t *frames = malloc(VIEW_ROOM(bytes / 4) * sizeof(*frames));

	if (!frames)
		return fail(-ENOMEM, "no memory for a stack of %zu bytes", bytes);
	str_clear(&w->line);
	add_comm(&w->line, intern_string(w->profile->comms, codes[STACK_COMM]));
	n = view_read(codes, bytes / sizeof(*codes), view, w->names, frames, &notes);
	w->notes.whole += notes.whole ? w->profile->counts[stack] : 0;
	w->notes.doubted += notes.doubted ? w->profile->counts[stack] : 0;
	while (n--)
		add_code(w, frames[n]);
	return add_line(w, w->profile->counts[stack]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static int write_lines(const struct writer *w, struct str *out)
{
	size_t n = intern_count(w->lines);
	AUTO_FREE struct line *lines = calloc(n + 1, sizeof(*lines));

	if (!lines)
		return fail(-ENOMEM, "no memory for %zu lines", n);
	for (uint32_t id = 0; id < n; id++)
		lines[id] =
			(struct line){ intern_string(w->lines, id), w->counts.items[id] };
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s %" PRIu64 "\n", lines[i].text, lines[i].count);
	return str_error(out);
}

int folded_write(struct str *out, const struct profile *profile,
		 const struct module_table *modules, const struct names *names,
		 enum view view, struct folded_notes *ret_notes)
{
	struct writer w = { .profile = profile, .modules = modules, .names = names };
	int err = intern_new(&w.lines, STACKS_MOST + 1);

	for (uint32_t id = 0; !err && id < intern_count(profile->stacks); id++)
		err = add_stack(&w, id, view);
	if (!err)
		err = write_lines(&w, out);
	*ret_notes = w.notes;
	intern_free(w.lines);
	vec_free(&w.counts);
	str_free(&w.line);
	return err;
}
