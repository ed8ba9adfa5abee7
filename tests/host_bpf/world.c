// SPDX-License-Identifier: BSD-2-Clause
#include "world.h"

#include "base/cleanup.h"
#include "core/sample.h"
#include "pipeline/translate.h"
#include "tables.h"

#include <string.h>

int world_setup(void **state)
{
	memory_clear();
	tables_clear();
	walker_default_knobs();
	walker_forget(0xa5);
	return 0;
}

void put_frame(uint64_t fp, uint64_t caller_fp, uint64_t ra)
{
	memory_put(fp, caller_fp);
	memory_put(fp + 8, ra);
}

void put_root(uint64_t at, uint64_t top, uint64_t next, uint64_t fp)
{
	memory_put(at, top);
	memory_put(at + 8, next);
	memory_put(at + 16, fp);
	memory_put(at + 24, 0xbad);
}

void put_node(uint64_t at, uint64_t parent, uint64_t ip, uint64_t root)
{
	memory_put(at, parent);
	memory_put(at + 8, ip);
	memory_put(at + 16, root);
}

void put_stack(uint64_t stack, unsigned int n, uint64_t pc)
{
	for (unsigned int i = 0; i < n; i++)
		put_frame(FP(stack, i), i + 1 < n ? FP(stack, i + 1) : 0, pc + i + 1);
}

void put_chain(uint64_t at, unsigned int n, uint64_t ip, uint64_t root)
{
	for (unsigned int i = 0; i < n; i++) {
		bool last = i + 1 == n;

		put_node(at + 24ULL * i, last ? 0 : at + 24 * (i + 1ULL), ip + i,
			 last ? root : 0);
	}
}

struct sampled leaf_at(uint64_t pc)
{
	return (struct sampled){ .pc = pc, .sp = STACK, .fp = FP(STACK, 0) };
}

struct sampled leaf_in_root(uint64_t pc, uint64_t root)
{
	struct sampled at = leaf_at(pc);

	at.roots[0] = root;
	return at;
}

static const char *code_text(const struct aggregator *aggregator, uint32_t code,
			     char *room)
{
	switch (code & CODE_KIND) {
	case VIEW_BOUNDARY:
		return "--";
	case VIEW_GAP:
		return "..";
	case VIEW_CUT:
		return "cut";
	}
	sprintf(room, "%lx", (unsigned long)aggregator_frame(aggregator, code)->offset);
	return room;
}

/* Through the user half as it is, without a process that maps anything. */
const char *view_text(const struct sampled *at, enum view view)
{
	static char text[20 * VIEW_ROOM(2 * RECORD_WORDS_MAX)];
	static uint32_t out[VIEW_ROOM(2 * RECORD_WORDS_MAX)];
	const struct sample_rec *rec = walker_sample(at);
	AUTO(aggregator) aggregator = NULL;
	AUTO(translator) translator = NULL;
	const uint32_t *codes;
	size_t bytes, n, length = 0;
	struct view_notes notes;
	char room[20];

	assert_int_equal(sample_check(rec, SAMPLE_HEADER_BYTES + 8 * rec->n_words), 0);
	if (record_flaw(rec))
		fail_msg("a record with %s", record_flaw(rec));
	assert_int_equal(aggregator_new(&aggregator), 0);
	assert_int_equal(translator_new(&translator, aggregator), 0);
	assert_int_equal(translate_sample(translator, rec, NULL), 0);
	codes = intern_bytes(aggregator->stacks, 0, &bytes);
	n = view_read(&(struct view_stack){ codes, bytes / sizeof(*codes), NULL }, view,
		      out, &notes);
	text[0] = 0;
	for (size_t i = 0; i < n; i++)
		length += sprintf(text + length, "%s%s", i ? " " : "",
				  code_text(aggregator, out[i], room));
	return text;
}

void assert_view(const struct sampled *at, enum view view, const char *text,
		 const char *file, int line)
{
	const char *got = view_text(at, view);

	if (strcmp(got, text)) {
		print_error("expected: %s\n     got: %s\n", text, got);
		_fail(file, line);
	}
}

uint64_t segment_of(const struct sample_rec *rec, enum segment_kind kind,
		    unsigned int nth)
{
	unsigned int i = rec->n_kernel + rec->n_thread;

	while (i < rec->n_words) {
		if (SEGMENT_KIND(rec->words[i]) == kind && !nth--)
			return rec->words[i];
		i += 1 + SEGMENT_COUNT(rec->words[i]);
	}
	fail_msg("no such segment");
	return 0;
}
