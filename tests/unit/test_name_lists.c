/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names out of perf maps and kallsyms, and the choice among candidates that
 * all readers share, against a model that tries every pair.
 */
#include "named.h"

#include "base/name.h"

#include "obj/candidates.h"

#include <errno.h>

static int list_fd(const char *text)
{
	return bytes_fd(text, strlen(text));
}

static void check_name(names_reader *reader, const char *text, uint64_t addr,
		       const char *want)
{
	int fd = list_fd(text);

	assert_string_equal(name_by(reader, fd, addr), want);
	close(fd);
}

static void perf_map_lines(void **state)
{
	static const char map[] = "7f0000001000 10 plain\n"
				  "0x7f0000002000 0x20 LazyCompile:~f a b.js:3:1\n"
				  "7F0000003000 20 _ZN3Foo3barEv\n"
				  "7f0000004000 20 returns\r\n"
				  "not a line\n"
				  "7f0000005000\n"
				  "7f0000005000 20\n"
				  "7f0000005000 20 \n"
				  "7f0000006000 ffffffffffffffff wraps\n"
				  "17f0000000000000000 10 too_wide\n"
				  "\n"
				  "7f0000007000 0 empty\n"
				  "7f0000008000 10 being wri";

	check_name(perf_map_names, map, 0x7f0000001000, "plain");
	check_name(perf_map_names, map, 0x7f000000100f, "plain");
	check_name(perf_map_names, map, 0x7f0000001010, "");
	check_name(perf_map_names, map, 0x7f0000000fff, "");
	check_name(perf_map_names, map, 0x7f0000002001, "LazyCompile:~f a b.js:3:1");
	check_name(perf_map_names, map, 0x7f000000301f, "Foo::bar");
	check_name(perf_map_names, map, 0x7f0000004000, "returns");
	check_name(perf_map_names, map, 0x7f0000005000, "");
	check_name(perf_map_names, map, 0x7f0000006000, "");
	check_name(perf_map_names, map, 0x7f0000007000, "");
	check_name(perf_map_names, map, 0x7f0000008000, "");
}

/* A JIT appends, also over code that is gone. */
static void perf_map_later_wins(void **state)
{
	static const char map[] = "1000 100 old\n"
				  "1080 10 newer\n"
				  "1040 100 newest\n"
				  "1000 8 last\n";

	check_name(perf_map_names, map, 0x1000, "last");
	check_name(perf_map_names, map, 0x1008, "old");
	check_name(perf_map_names, map, 0x1080, "newest");
	check_name(perf_map_names, map, 0x113f, "newest");
}

static void perf_map_long_lines(void **state)
{
	const size_t n = 300000;
	char *map = malloc(n + 64);
	int fd;

	memcpy(map, "1000 10 ", 8);
	memset(map + 8, 'x', n);
	strcpy(map + n, "\n2000 10 after\n");
	fd = list_fd(map);
	assert_int_equal(strlen(name_by(perf_map_names, fd, 0x1000)),
			 NAME_HEAD_BYTES + NAME_MARK_BYTES);
	assert_string_equal(name_by(perf_map_names, fd, 0x2000), "after");
	close(fd);
	strcpy(map + 3000, "\n2000 10 after\n");
	fd = list_fd(map);
	assert_int_equal(strlen(name_by(perf_map_names, fd, 0x1000)), 2992);
	assert_string_equal(name_by(perf_map_names, fd, 0x2000), "after");
	close(fd);
	free(map);
}

/* Of a map that is too large the end counts; its holes read as a long line. */
static void perf_map_too_large(void **state)
{
	static const char end[] = "\n1000 10 at the end\n";
	int fd = list_fd("1000 10 at the start\n3000 10 gone\n");

	assert_int_equal(pwrite(fd, end, strlen(end), 300 << 20), strlen(end));
	assert_string_equal(name_by(perf_map_names, fd, 0x1000), "at the end");
	assert_string_equal(name_by(perf_map_names, fd, 0x3000), "");
	close(fd);
}

static void perf_map_no_file(void **state)
{
	static struct named named = { .n = 1 };
	uint64_t addr = 0x1000;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(perf_map_names(ends[0], &addr, 1, named_sink, &named), -EBADMSG);
	assert_int_equal(perf_map_names(-1, &addr, 1, named_sink, &named), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void kallsyms_lines(void **state)
{
	static const char list[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T first_function\n"
				   "ffffffff81000100 t local_function\n"
				   "ffffffff81000200 T __softirqentry_text_start\n"
				   "ffffffff81000200 T __do_softirq\n"
				   "ffffffff81000300 W weak_alias\n"
				   "ffffffff81000300 T strong\n"
				   "ffffffff81000400 D some_data\n"
				   "ffffffff81000500 T _RNvCs6GmmlP4bgsG_1r4main\n"
				   "ffffffffc0100000 t probe\t[nf_tables]\n"
				   "ffffffffc0000000 t bpf_prog_0123\t[bpf]\n"
				   "ffffffffc0000080 t esc\033\t[a\033b]\n";

	check_name(kallsyms_names, list, 0xffffffff80ffffff, "");
	check_name(kallsyms_names, list, 0xffffffff81000000, "first_function");
	check_name(kallsyms_names, list, 0xffffffff810000ff, "first_function");
	check_name(kallsyms_names, list, 0xffffffff81000100, "local_function");
	check_name(kallsyms_names, list, 0xffffffff81000234, "__do_softirq");
	check_name(kallsyms_names, list, 0xffffffff81000300, "strong");
	check_name(kallsyms_names, list, 0xffffffff81000410, "strong");
	check_name(kallsyms_names, list, 0xffffffff81000500, "r::main");
	check_name(kallsyms_names, list, 0xffffffffb0000000, "");
	check_name(kallsyms_names, list, 0xffffffffc0000010, "bpf_prog_0123 [bpf]");
	check_name(kallsyms_names, list, 0xffffffffc0000090, "esc? [a?b]");
	check_name(kallsyms_names, list, 0xffffffffc0100010, "probe [nf_tables]");
}

/* kptr_restrict: every address is 0. */
static void kallsyms_hidden(void **state)
{
	static const char list[] = "0000000000000000 T startup_64\n"
				   "0000000000000000 T secondary_startup_64\n";

	check_name(kallsyms_names, list, 0, "");
	check_name(kallsyms_names, list, 0x100, "");
	check_name(kallsyms_names, list, 0xffffffff81000000, "");
}

static void batches_keep_their_indices(void **state)
{
	char map[64 * 32] = "";
	uint64_t addrs[64];
	struct named *named;
	int fd;

	for (int i = 0; i < 64; i++) {
		addrs[i] = 0x1000 + 0x10 * (uint64_t)i;
		if (i % 3)
			sprintf(map + strlen(map), "%x 8 n%d\n", 0x1000 + 0x10 * i, i);
	}
	fd = list_fd(map);
	named = named_by(perf_map_names, fd, addrs, 64);
	for (int i = 0; i < 64; i++) {
		char want[16] = "";

		if (i % 3)
			sprintf(want, "n%d", i);
		assert_string_equal(named->items[i].name, want);
	}
	free(named);
	close(fd);
}

#define MODEL_QUERIES 40
#define MODEL_SYMBOLS 60

/* What candidates_best() promises, said without any cleverness. */
static const struct candidate *model_best(const struct candidate *symbols, size_t n,
					  uint64_t addr)
{
	const struct candidate *covering = NULL, *below = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct candidate *s = &symbols[i];

		if (s->start > addr)
			continue;
		if (s->sized && addr < s->end &&
		    (!covering || s->order > covering->order ||
		     (s->order == covering->order && s->rank > covering->rank)))
			covering = s;
		if (!below || s->start > below->start ||
		    (s->start == below->start &&
		     (s->sized > below->sized ||
		      (s->sized == below->sized && s->rank > below->rank))))
			below = s;
	}
	if (covering)
		return covering;
	return below && !below->sized && addr < below->end ? below : NULL;
}

static bool has_any(const struct candidates *batch, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < batch->n; i++)
		if (batch->items[i].addr >= start && batch->items[i].addr < end)
			return true;
	return false;
}

static void try_batch(uint64_t *seed)
{
	struct candidate symbols[MODEL_SYMBOLS];
	struct candidates batch;
	unsigned int far = next_random(seed) % 54; /* from each other */

	assert_int_equal(candidates_new(&batch, MODEL_QUERIES), 0);
	for (size_t i = 0; i < MODEL_QUERIES; i++)
		candidates_add(&batch, next_random(seed) % 500 << far, i);
	candidates_sort(&batch);
	for (size_t i = 0; i < MODEL_SYMBOLS; i++) {
		struct candidate *s = &symbols[i];

		*s = (struct candidate){
			.start = next_random(seed) % 500 << far,
			.rank = next_random(seed) % 4,
			.sized = next_random(seed) % 2,
			.name = i,
		};
		s->order = s->start;
		s->end = s->start + ((1 + next_random(seed) % 40) << far);
		if (s->sized)
			candidates_cover(&batch, s);
		assert_int_equal(candidates_below(&batch, s),
				 has_any(&batch, s->start, s->end));
	}
	for (size_t i = 0; i < MODEL_QUERIES; i++) {
		const struct candidate *got = candidates_best(&batch, i);
		const struct candidate *want =
			model_best(symbols, MODEL_SYMBOLS, batch.items[i].addr);

		assert_int_equal(got != NULL, want != NULL);
		if (got)
			assert_int_equal(got->name, want->name);
	}
	candidates_free(&batch);
}

static void candidates_agree_with_the_model(void **state)
{
	uint64_t seed = 0xc0ffee;

	for (int i = 0; i < 2000; i++)
		try_batch(&seed);
}

static void ranks_names(void **state)
{
	static const char *const better[][2] = {
		{ "read", "__read" },
		{ "puts", "_IO_puts" },
		{ "fopen", "fopen64" },
		{ "_ZN1a1bEv", "_helper" },
		{ "__vdso_time", "_Xtime_here" },
		{ "a", "ab" },
	};

	for (size_t i = 0; i < sizeof(better) / sizeof(*better); i++)
		assert_true(name_rank(better[i][0], strlen(better[i][0]), false, false) >
			    name_rank(better[i][1], strlen(better[i][1]), false, false));
	assert_true(name_rank("__a", 3, false, true) > name_rank("a", 1, true, false));
	assert_true(name_rank("a", 1, false, true) > name_rank("__a", 3, false, false));
	assert_true(name_rank("abc", 3, false, false) > name_rank("a", 1, false, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_map_lines),
		cmocka_unit_test(perf_map_later_wins),
		cmocka_unit_test(perf_map_long_lines),
		cmocka_unit_test(perf_map_too_large),
		cmocka_unit_test(perf_map_no_file),
		cmocka_unit_test(kallsyms_lines),
		cmocka_unit_test(kallsyms_hidden),
		cmocka_unit_test(batches_keep_their_indices),
		cmocka_unit_test(candidates_agree_with_the_model),
		cmocka_unit_test(ranks_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
