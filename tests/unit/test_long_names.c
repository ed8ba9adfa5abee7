/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names as long as folly's, and as whoever has no good will makes them: two that
 * differ only at their ends are two, out of every source and through the worker, and
 * what is not whole says so.
 */
#include "base/name.h"
#include "base/vec.h"
#include "core/names.h"
#include "obj/elf_names.h"
#include "obj/inlines.h"
#include "worker/worker.h"

#include "long_names.h"

static const size_t lengths[] = { 1100, 5000, 30000, 65535, 65536, 100000, 1200000 };

#define N_LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* Is it that name, whole if it may be? */
static void expect(const char *name, size_t n, char last)
{
	char *wanted = long_name(n, last);

	assert_non_null(name);
	if (n < NAME_BYTES_MAX) {
		assert_string_equal(name, wanted);
	} else {
		assert_memory_equal(name, wanted, NAME_HEAD_BYTES);
		assert_true(is_marked(name));
		assert_true(strlen(name) == NAME_HEAD_BYTES + NAME_MARK_BYTES);
	}
	free(wanted);
}

static void shortens_between_characters(void **state)
{
	char *name = malloc(2 * NAME_BYTES_MAX);

	for (size_t before = 0; before < 4; before++) {
		struct str out = { 0 };
		const char *mark;

		memset(name, 'x', before);
		for (size_t i = before; i + 4 < 2 * NAME_BYTES_MAX; i += 4)
			memcpy(name + i, "\xf0\x9f\x8e\x89", 5);
		name_add(&out, name, strlen(name));
		mark = strstr(out.s, "…");
		assert_non_null(mark);
		assert_int_equal((size_t)(mark - out.s),
				 NAME_HEAD_BYTES - (NAME_HEAD_BYTES - before) % 4);
		assert_memory_equal(mark - 4, "\xf0\x9f\x8e\x89", 4);
		str_free(&out);
	}
	free(name);
}

/* Of labels an assembler takes any; the names stand one behind another, so that
 * windows end in each. */
static void write_labels(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, ".text\n");
	for (size_t i = 0; i < 2 * N_LENGTHS; i++) {
		char *name = long_name(lengths[i / 2], i % 2 ? 'z' : 'y');

		fprintf(f,
			".globl %s\n.type %s, %%function\n%s: .rept 16\nnop\n.endr\n"
			".size %s, 16\n",
			name, name, name, name);
		free(name);
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(
		shell("gcc -nostdlib -shared -Wl,-Ttext=0x1000000 -o long.so %s", path),
		0);
}

static void expect_all(struct found_names *found)
{
	for (size_t i = 0; i < 2 * N_LENGTHS; i++)
		expect(found->names[i], lengths[i / 2], i % 2 ? 'z' : 'y');
	for (size_t i = 0; i < 2 * N_LENGTHS; i += 2)
		assert_string_not_equal(found->names[i], found->names[i + 1]);
	forget(found);
}

static void symbols_that_differ_at_their_ends(void **state)
{
	uint64_t addrs[2 * N_LENGTHS];
	struct elf_names_request request = { .addrs = addrs,
					     .n = 2 * N_LENGTHS,
					     .linked = true };
	struct found_names found = { 0 };
	struct worker *worker;
	int fd;

	write_labels("long.s");
	request.fd = fd = open_file("long.so");
	for (size_t i = 0; i < 2 * N_LENGTHS; i++)
		addrs[i] = 0x1000000 + 16 * i + 3;
	assert_int_equal(elf_names(NULL, &request, hear, &found), 0);
	expect_all(&found);
	assert_int_equal(worker_new(&worker), 0);
	assert_int_equal(worker_names(worker,
				      &(struct name_request){ NAMES_ELF_LINKED, fd, addrs,
							      2 * N_LENGTHS, 5000 },
				      hear, &found),
			 0);
	expect_all(&found);
	worker_free(worker);
	close(fd);
}

static void lines_of_perf_maps(void **state)
{
	uint64_t addrs[2 * N_LENGTHS + 1];
	FILE *f = fopen("long.map", "w");
	struct found_names found = { 0 };
	int fd;

	assert_non_null(f);
	for (size_t i = 0; i < 2 * N_LENGTHS; i++) {
		char *name = long_name(lengths[i / 2], i % 2 ? 'z' : 'y');

		fprintf(f, "%zx 10 %s\n", 0x1000 + 16 * i, name);
		addrs[i] = 0x1000 + 16 * i + 3;
		free(name);
	}
	fprintf(f, "9000 10 short\n");
	addrs[2 * N_LENGTHS] = 0x9001;
	assert_int_equal(fclose(f), 0);
	fd = open_file("long.map");
	assert_int_equal(perf_map_names(fd, addrs, 2 * N_LENGTHS + 1, hear, &found), 0);
	assert_string_equal(found.names[2 * N_LENGTHS], "short");
	expect_all(&found);
	close(fd);
}

static void lines_of_kallsyms(void **state)
{
	const uint64_t addrs[] = { 0x1001, 0x2001, 0x3001 };
	FILE *f = fopen("long.kallsyms", "w");
	char *one = long_name(5000, 'y'), *other = long_name(5000, 'z');
	struct found_names found = { 0 };
	int fd;

	assert_non_null(f);
	fprintf(f, "1000 t %s\t[mod]\n2000 t %s\n3000 t next\n", one, other);
	assert_int_equal(fclose(f), 0);
	fd = open_file("long.kallsyms");
	assert_int_equal(kallsyms_names(fd, addrs, 3, hear, &found), 0);
	assert_int_equal(strlen(found.names[0]), 5006);
	assert_memory_equal(found.names[0], one, 5000);
	assert_string_equal(found.names[0] + 5000, " [mod]");
	assert_string_equal(found.names[1], other);
	assert_string_equal(found.names[2], "next");
	forget(&found);
	free(one);
	free(other);
	close(fd);
}

struct located {
	VEC(char *) names;
};

static int on_location(void *arg, size_t index, const struct source_location *locations,
		       size_t n)
{
	struct located *located = arg;

	for (size_t i = 0; i + 1 < n; i++)
		assert_int_equal(vec_push(&located->names, strdup(locations[i].name)), 0);
	return 0;
}

/* One function inlined into the next, 8 deep, whose names differ in their last
 * letters; then the same through the worker. */
static void inlined_functions(void **state)
{
	struct located located = { 0 };
	struct worker *worker;
	FILE *f = fopen("inlined.c", "w");
	uint64_t addr;
	int fd;

	assert_non_null(f);
	fprintf(f, "extern volatile int sink;\n");
	for (char last = 'b'; last < 'j'; last++) {
		char *name = long_name(20000, last), *inner = long_name(20000, last - 1);

		fprintf(f, "static inline __attribute__((always_inline)) void %s(void) {",
			name);
		fprintf(f, last == 'b' ? "sink++; }\n" : "%s(); }\n", inner);
		free(name);
		free(inner);
	}
	fprintf(f, "void caller(void) { ");
	for (int i = 0; i < 19999; i++)
		fputc('a', f);
	fprintf(f, "i(); }\nvolatile int sink;\n");
	assert_int_equal(fclose(f), 0);
	assert_int_equal(shell("gcc -w -g -O1 -shared -nostdlib -Wl,-Bsymbolic "
			       "-o inlined.so inlined.c"),
			 0);
	addr = nm_value("", "inlined.so", "caller") + 4;
	fd = open_file("inlined.so");
	assert_int_equal(worker_new(&worker), 0);
	assert_int_equal(
		elf_inlines(&(struct inline_request){ fd, { .alternate = -1 }, &addr, 1 },
			    on_location, &located),
		0);
	assert_int_equal(worker_locations(worker,
					  &(struct name_request){ NAMES_LOCATIONS, fd,
								  &addr, 1, 5000 },
					  NULL, on_location, &located),
			 0);
	assert_int_equal(located.names.n, 16);
	for (size_t i = 0; i < 16; i++) {
		expect(located.names.items[i], 20000, "bcdefghi"[i % 8]);
		free(located.names.items[i]);
	}
	vec_free(&located.names);
	worker_free(worker);
	close(fd);
}

/* One file may not take the room of all; what it already has keeps its name. */
static void a_files_long_names_are_limited(void **state)
{
	char *name = long_name(60000, 'y');
	struct names *names;
	uint32_t whole = 0, frame = 0;
	bool first_is_whole;

	assert_int_equal(names_new(&names), 0);
	names_begin_file(names);
	for (; frame < 400; frame++) {
		snprintf(name + 59990, 11, "%010u", frame);
		assert_int_equal(names_set(names, frame, name), 0);
		whole += !strcmp(names_get(names, frame), name);
	}
	assert_true(whole > 200 && whole < 300);
	assert_int_equal(names_shortened(names), 400 - whole);
	assert_int_equal(names_refused(names), 0);
	assert_true(is_marked(names_get(names, 398)));
	assert_string_not_equal(names_get(names, 398), names_get(names, 399));
	snprintf(name + 59990, 11, "%010u", 0);
	assert_int_equal(names_set(names, frame, name), 0);
	first_is_whole = !strcmp(names_get(names, frame), name);
	assert_true(first_is_whole);
	names_begin_file(names);
	snprintf(name + 59990, 11, "%010u", 1000);
	assert_int_equal(names_set(names, ++frame, name), 0);
	assert_string_equal(names_get(names, frame), name);
	names_free(names);
	free(name);
}

/* Nor may many files: what usual names need is kept. */
static void all_long_names_are_limited(void **state)
{
	char *name = long_name(60000, 'y'), usual[32];
	struct names *names;
	uint32_t frame = 0;

	assert_int_equal(names_new(&names), 0);
	for (unsigned int file = 0; file < 40; file++) {
		names_begin_file(names);
		for (int i = 0; i < 250; i++, frame++) {
			snprintf(name + 59990, 11, "%010u", frame);
			assert_int_equal(names_set(names, frame, name), 0);
		}
	}
	for (int i = 0; i < 100000; i++, frame++) {
		snprintf(usual, sizeof(usual), "function_%d", i);
		assert_int_equal(names_set(names, frame, usual), 0);
		assert_string_equal(names_get(names, frame), usual);
	}
	assert_int_equal(names_refused(names), 0);
	names_free(names);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortens_between_characters),
		cmocka_unit_test(symbols_that_differ_at_their_ends),
		cmocka_unit_test(lines_of_perf_maps),
		cmocka_unit_test(lines_of_kallsyms),
		cmocka_unit_test(inlined_functions),
		cmocka_unit_test(a_files_long_names_are_limited),
		cmocka_unit_test(all_long_names_are_limited),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
