/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of processes whose mappings change in between, each word of them held against
 * what it is by itself. What a word came to is remembered for a window, so the same words
 * come again and again: of the same process and of others, as callers and as leaves, in
 * generated code whose dump grows, and before and behind each change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <string.h>

#include "base/vec.h"
#include "pipeline/translate.h"

#define PIDS	   4
#define PLACES	   8 /* where something may be mapped */
#define PLACE_AT   0x10000ULL
#define PLACE_SIZE 0x1000ULL
#define WORDS_MAX  24
#define KERNEL_AT  0xffffffff81000000ULL
#define TURNS	   20000

struct machine {
	struct module_table *modules;
	struct process_table *processes;
	struct aggregator *aggregator;
	struct translator *translator;
	uint64_t random, now_ns;
	uint64_t changes, jit_frames, same_words;
	struct {
		struct sample_rec rec;
		unsigned long long words[WORDS_MAX];
	} sample;
};

static uint32_t pick(struct machine *m, uint32_t n)
{
	m->random = m->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(m->random >> 33) % n;
}

static void change(struct machine *m)
{
	static const char *const paths[] = { "/a", "/b", "//anon", "[vdso]" };
	struct side_event event = {
		.kind = SIDE_MMAP,
		.time_ns = m->now_ns,
		.pid = 1 + pick(m, PIDS),
		.start = PLACE_AT * (1 + pick(m, PLACES)),
		.bytes = PLACE_SIZE,
		.pgoff = PLACE_SIZE * pick(m, 2),
		.ino = 1 + pick(m, 2),
		.is_told = true,
	};

	switch (pick(m, 8)) {
	case 0:
		event.kind = SIDE_EXEC;
		break;
	case 1:
		event.kind = SIDE_FORK;
		event.ppid = 1 + pick(m, PIDS);
		event.tid = event.pid;
		break;
	case 2:
		process_set_code_since(m->processes, event.pid,
				       pick(m, 2) ? m->now_ns - pick(m, 3) : 0);
		return;
	default:
		strcpy(event.path, paths[pick(m, 4)]);
	}
	assert_int_equal(process_apply(m->processes, &event), 0);
	m->changes++;
}

static const unsigned int kinds[] = { FRAME_USER,   FRAME_SYSCALL, FRAME_UNPROVEN,
				      FRAME_CALLER, FRAME_LAUNCH,  FRAME_RESUMER };
#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

static unsigned long long user_word(struct machine *m)
{
	uint64_t addr = PLACE_AT * (1 + pick(m, PLACES)) +
			(pick(m, 4) ? pick(m, 3) : PLACE_SIZE - pick(m, 2));

	return (unsigned long long)kinds[pick(m, N_KINDS)] << FRAME_KIND_SHIFT | addr;
}

static void sample(struct machine *m)
{
	struct sample_rec *rec = &m->sample.rec;

	*rec = (struct sample_rec){
		.ts_ns = m->now_ns,
		.weight_ns = 1,
		.tgid = 1 + pick(m, PIDS + 1),
		.tid = 1,
		.n_words = (unsigned short)pick(m, WORDS_MAX + 1),
		.comm = "made",
	};
	rec->n_kernel = (unsigned short)pick(m, rec->n_words + 1U);
	rec->n_thread = (unsigned short)m->now_ns; /* no two stacks are the same */
	for (unsigned int i = 0; i < rec->n_words; i++)
		m->sample.words[i] =
			i < rec->n_kernel ? KERNEL_AT + pick(m, 4) : user_word(m);
}

/* What a word is by itself. */
static struct frame true_frame(struct machine *m, const struct process *process,
			       unsigned int i)
{
	uint64_t word = m->sample.words[i], addr = FRAME_ADDR(word);
	unsigned int kind = FRAME_KIND(word);
	struct frame ret = { .offset = addr,
			     .module = MODULE_ID_UNMAPPED,
			     .returned = kind != FRAME_USER,
			     .unproven = kind == FRAME_UNPROVEN,
			     .uncallable = kind == FRAME_SYSCALL ||
					   kind == FRAME_LAUNCH ||
					   kind == FRAME_RESUMER };
	const struct mapping *map =
		process ? process_mapping(process, addr - ret.returned) : NULL;

	if (i < m->sample.rec.n_kernel)
		return (struct frame){ word, MODULE_ID_KERNEL, i > 0, 0, 0, 0 };
	if (!map)
		return ret;
	ret.module = map->module;
	if (!map->is_jit)
		ret.offset -= map->start;
	if (!map->is_jit && map->module != MODULE_ID_VDSO)
		ret.offset += map->pgoff;
	if (map->is_jit && process->code_since_ns) {
		ret.code_ns = m->now_ns > process->code_since_ns ? process->code_since_ns
								 : m->now_ns;
		m->jit_frames++;
	}
	return ret;
}

static void check(struct machine *m, const struct process *process)
{
	size_t bytes, n = intern_count(m->aggregator->stacks);
	const uint32_t *codes =
		intern_bytes(m->aggregator->stacks, (uint32_t)n - 1, &bytes);

	assert_int_equal(codes[STACK_THREAD], m->sample.rec.n_thread);
	assert_int_equal(bytes / sizeof(*codes), STACK_HEAD + m->sample.rec.n_words);
	for (unsigned int i = 0; i < m->sample.rec.n_words; i++) {
		const struct frame frame = true_frame(m, process, i);
		uint32_t code = codes[STACK_HEAD + i];
		bool is_resumer = i >= m->sample.rec.n_kernel &&
				  FRAME_KIND(m->sample.words[i]) == FRAME_RESUMER;

		assert_int_equal(code & CODE_KIND,
				 is_resumer ? CODE_RESUMER : CODE_FRAME);
		assert_memory_equal(aggregator_frame(m->aggregator, code & ~CODE_KIND),
				    &frame, sizeof(frame));
	}
}

static void begin(struct machine *m)
{
	*m = (struct machine){ .random = 1, .now_ns = 1 };
	assert_int_equal(module_table_new(&m->modules), 0);
	assert_int_equal(process_table_new(&m->processes, m->modules, NULL), 0);
	assert_int_equal(aggregator_new(&m->aggregator), 0);
	assert_int_equal(translator_new(&m->translator, m->aggregator), 0);
}

static void end(struct machine *m)
{
	translator_free(m->translator);
	aggregator_free(m->aggregator);
	process_table_free(m->processes);
	module_table_free(m->modules);
}

static void each_word_is_what_it_is_by_itself(void **state)
{
	struct machine m;

	begin(&m);
	for (m.now_ns = 1; m.now_ns < TURNS; m.now_ns++) {
		const struct process *process;

		if (!pick(&m, 8))
			change(&m);
		sample(&m);
		process = process_get(m.processes, m.sample.rec.tgid);
		assert_int_equal(translate_sample(m.translator, &m.sample.rec, process),
				 0);
		check(&m, process);
	}
	assert_true(m.changes > TURNS / 16);
	assert_true(m.jit_frames > TURNS / 16);
	end(&m);
}

/* Words for which there is no room are none that are known. */
static void where_there_is_no_room_each_is_told(void **state)
{
	struct machine m;
	uint64_t before;

	begin(&m);
	sample(&m);
	m.sample.rec.n_words = 2;
	m.sample.rec.n_kernel = 2;
	m.sample.words[0] = m.sample.words[1] = KERNEL_AT;
	intern_limit_bytes(m.aggregator->frames, 1);
	for (int i = 0; i < 3; i++) {
		before = m.aggregator->samples.frames_dropped;
		assert_int_equal(translate_sample(m.translator, &m.sample.rec, NULL), 0);
		assert_int_equal(m.aggregator->samples.frames_dropped, before + 2);
	}
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_is_what_it_is_by_itself),
		cmocka_unit_test(where_there_is_no_room_each_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
