// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: write OUT.html <samples
 *
 * Makes a profile of samples that tests/page/data.js made up, and writes the page
 * of it: what a test knows by construction against what weft writes. A line is
 *   second|- TAB weight TAB pid TAB process TAB tid TAB thread TAB cgroup
 *   TAB the thread's frames TAB the async view's frames
 * A frame is name|module|kind, frames are parted by the byte 0x1f. "title", "view"
 * and "ledger" lines set what they say. Each frame gets an address of its own, so
 * functions lie at many.
 */
#include "base/error.h"
#include "format/writer.h"

#include <inttypes.h>
#include <string.h>

#define FIELDS 9

static const char *const kinds[] = {
	"unknown", "native",	   "kernel", "jit", "inlined", "asked",
	"waits",   "other_thread", "gap",    "cut", "resumed",
};

static const uint32_t marks[] = {
	VIEW_BOUNDARY | BOUNDARY_ASYNC,
	VIEW_BOUNDARY | BOUNDARY_WAITS,
	VIEW_BOUNDARY | BOUNDARY_THREAD,
	VIEW_GAP,
	VIEW_CUT,
	VIEW_BOUNDARY | BOUNDARY_FIBER,
};

static unsigned int kind_of(const char *kind)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i], kind))
			return i;
	return FRAME_TYPE_NATIVE;
}

static int add_string(struct profile *r, const char *s, uint32_t *ret)
{
	return profile_add_string(r, s, strlen(s), ret);
}

/* name|module|kind */
static int add_code(struct profile *r, char *text, uint64_t address, uint32_t *ret)
{
	char *name = strsep(&text, "|"), *module = strsep(&text, "|");
	unsigned int kind = text ? kind_of(text) : FRAME_TYPE_NATIVE;
	struct profile_module m = { 0 };
	struct profile_frame frame = { .type = kind, .offset = address };
	int err;

	if (kind > FRAME_TYPE_INLINED) {
		*ret = marks[kind - FRAME_TYPE_INLINED - 1];
		return 0;
	}
	err = add_string(r, module ? module : "", &m.path);
	if (!err)
		err = profile_add_module(r, &m, &frame.module);
	if (!err)
		err = add_string(r, name, &frame.name);
	return err ? err : profile_add_frame(r, &frame, ret);
}

static int add_path(struct profile *r, char *frames, uint64_t line, uint32_t *ret)
{
	uint32_t code;
	char *frame;
	int err = 0;

	*ret = 0;
	while (!err && (frame = strsep(&frames, "\x1f"))) {
		err = add_code(r, frame, line % 3, &code);
		if (!err)
			err = profile_add_node(r, *ret, code, ret);
	}
	return err;
}

static int add_thread(struct profile *r, char *field[FIELDS], uint32_t *ret)
{
	struct profile_process process = { .pid = (uint32_t)atoi(field[2]) };
	struct profile_thread thread = { .tid = (uint32_t)atoi(field[4]) };
	int err = add_string(r, field[3], &process.name);

	if (!err)
		err = add_string(r, field[6], &process.cgroup);
	if (!err)
		err = profile_add_process(r, &process, &thread.process);
	if (!err)
		err = add_string(r, field[5], &thread.name);
	return err ? err : profile_add_thread(r, &thread, ret);
}

static int add_sample(struct profile *r, char *field[FIELDS], uint64_t line)
{
	struct profile_stack stack = { 0 };
	uint64_t weight = strtoull(field[1], NULL, 10);
	uint32_t id, thread;
	int err = add_path(r, field[7], line, &stack.node[VIEW_THREAD]);

	if (!err)
		err = add_path(r, field[8], line, &stack.node[VIEW_ASYNC]);
	if (!err)
		err = profile_add_stack(r, &stack, &id);
	if (!err)
		err = add_thread(r, field, &thread);
	if (err)
		return err;
	if (!strcmp(field[0], "-"))
		return timeline_add_undated(&r->timeline, id, thread, weight);
	return timeline_add(&r->timeline, (uint32_t)atoi(field[0]) + 1000, id, thread,
			    weight);
}

struct page {
	struct profile *profile;
	struct writer_options options;
	char title[256];
};

static int add_line(struct page *page, char *text, uint64_t line)
{
	struct profile *r = page->profile;
	char *field[FIELDS];
	int n = 0;

	while (n < FIELDS && (field[n] = strsep(&text, "\t")))
		n++;
	if (n == 2 && !strcmp(field[0], "title"))
		snprintf(page->title, sizeof(page->title), "%s", field[1]);
	else if (n == 2 && !strcmp(field[0], "view"))
		page->options.view = field[1][0] == 't' ? VIEW_THREAD : VIEW_ASYNC;
	else if (n == 2 && !strcmp(field[0], "one_view"))
		r->one_view = field[1][0] == 't';
	if (n == 2)
		return 0;
	if (n == 3 && !strcmp(field[0], "ledger"))
		return profile_add_count(r, field[1], strtoull(field[2], NULL, 10));
	if (n != FIELDS)
		return fail(-EINVAL, "line %" PRIu64 " has %d fields", line, n);
	return add_sample(r, field, line);
}

static int write_page(const char *path)
{
	struct page page = { .options.title = page.title };
	AUTO(profile) r = NULL;
	AUTO(outfile) out = NULL;
	AUTO_FREE char *text = NULL;
	uint64_t line = 0;
	size_t room = 0;
	ssize_t n;
	int err = profile_new(&r);

	page.profile = r;
	while (!err && (n = getline(&text, &room, stdin)) > 0) {
		if (text[n - 1] == '\n')
			text[n - 1] = '\0';
		err = add_line(&page, text, ++line);
	}
	if (!err)
		err = profile_finish(r);
	if (!err)
		err = outfile_new(&out, path);
	if (!err)
		err = html_writer.write(out, r, &page.options);
	return err ? err : outfile_finish(out);
}

int main(int argc, char **argv)
{
	if (argc != 2 || write_page(argv[1])) {
		fprintf(stderr, "write: %s\n", argc == 2 ? error_sentence() : "usage");
		return 1;
	}
	return 0;
}
