// SPDX-License-Identifier: BSD-2-Clause
/* What a JVM calls its code, by its own structures: what is right, and what is not. */
#include "hotspot_made.h"

#define TYPES_VARIABLE (BASE + 16)
#define TYPES	       (BASE + 8192)
#define HEAP	       (BASE + 12288) /* 32 segments of 128 bytes */
#define SEGMENTS_AT    (BASE + 16384)
#define METHOD_AT      (BASE + 17408)
#define CONST_AT       (BASE + 17536)
#define POOL	       (BASE + 17664)
#define POOL_BYTES     72
#define CLASS_AT       (BASE + 18432)
#define SYMBOLS	       (BASE + 18560)

static size_t n_symbols;

static uint64_t put_symbol(const char *text)
{
	uint64_t at = SYMBOLS + n_symbols;

	put(at, strlen(text), 2);
	memcpy(made.bytes + (at + 6 - BASE), text, strlen(text));
	n_symbols += 6 + strlen(text);
	return at;
}

static void put_block(unsigned int segment, unsigned int n, const char *kind,
		      uint64_t method)
{
	uint64_t blob = HEAP + 128ULL * segment + 16;

	for (unsigned int i = 0; i < n; i++)
		put(SEGMENTS_AT + segment + i, i, 1);
	put(blob + 8, put_name(kind), 8);
	put(blob + 20, 128 * n - 16, 4);
	put(blob + 64, method, 8);
}

/* Class.method in segments 8 to 15, a stub in 16 and 17. */
static void put_code(const char *class, const char *method, const char *signature)
{
	put_jdk(17);
	n_symbols = 0;
	put_heap(0, HEAP, HEAP + 4096, SEGMENTS_AT);
	put(QUEUE + 8, HEAP, 8);
	memset(made.bytes + (SEGMENTS_AT - BASE), HOTSPOT_SEGMENT_FREE, 32);
	put(TYPES_VARIABLE, TYPES, 8);
	put(TYPES, put_name("Method"), 8);
	put(TYPES + 32, 88, 8);
	put(TYPES + 40, put_name("ConstantPool"), 8);
	put(TYPES + 72, POOL_BYTES, 8);
	put_block(8, 8, "nmethod", METHOD_AT);
	put_block(16, 2, "StubRoutines (1)", 0);
	put(METHOD_AT + 8, CONST_AT, 8);
	put(CONST_AT + 8, POOL, 8);
	put(CONST_AT + 34, 3, 2);
	put(CONST_AT + 36, 5, 2);
	put(POOL + 24, CLASS_AT, 8);
	put(CLASS_AT + 16, put_symbol(class), 8);
	put(POOL + POOL_BYTES + 8 * 3, put_symbol(method), 8);
	put(POOL + POOL_BYTES + 8 * 5, put_symbol(signature), 8);
}

static int ask(const uint64_t *addrs, size_t n, struct str *ret)
{
	const struct hotspot_symbols symbols = { VARIABLE, TYPES_VARIABLE };
	struct hotspot_view view;
	int err = hotspot_view_read(&memory, &symbols, &view);

	return err ? err : hotspot_names(&memory, &view, addrs, n, ret);
}

static const char *names_of(const uint64_t *addrs, size_t n)
{
	static struct str text;

	str_clear(&text);
	assert_int_equal(ask(addrs, n, &text), 0);
	return text.n ? text.s : "";
}

static void names_methods(void **state)
{
	static const struct {
		const char *class, *method, *signature, *name;
	} cases[] = {
		{ "java/util/TimSort", "mergeLo", "(IIII)V",
		  "void java.util.TimSort.mergeLo(int, int, int, int)" },
		{ "Spin", "main", "([Ljava/lang/String;)V",
		  "void Spin.main(java.lang.String[])" },
		{ "Spin$$Lambda+0x0000000800000028", "is", "(I)Z",
		  "boolean Spin$$Lambda/0x0000000800000028.is(int)" },
		{ "A", "<init>", "([[BJLa/B;FDSC)[La/C;",
		  "a.C[] A.<init>(byte[][], long, a.B, float, double, short, char)" },
		/* which no compiler writes */
		{ "A", "f", "", "A.f" },
		{ "A", "f", "(", "A.f" },
		{ "A", "f", "(LA", "A.f" },
		{ "A", "f", "(LA)", " A.f(A)" },
		{ "A", "f", "([)I", "int A.f([])" },
		{ "A", "f", "(Q)Q", "? A.f(?)" },
		{ "", "", "()V", "void .()" },
		{ "A\nB", "f", "()V", "void A?B.f()" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t addr = HEAP + 10ULL * 128 + 5;
		char want[128];

		put_code(cases[i].class, cases[i].method, cases[i].signature);
		snprintf(want, sizeof(want), "%llx 1 %s\n", (unsigned long long)addr,
			 cases[i].name);
		assert_string_equal(names_of(&addr, 1), want);
	}
}

static void names_stubs_and_leaves_out_the_rest(void **state)
{
	const uint64_t addrs[] = {
		HEAP + 8ULL * 128,  HEAP + 15ULL * 128 + 127,
		HEAP + 16ULL * 128, HEAP + 18ULL * 128,
		HEAP - 1,	    HEAP + 4096,
	};

	put_code("A", "f", "()V");
	assert_string_equal(names_of(addrs, sizeof(addrs) / sizeof(*addrs)),
			    "7f0000003400 1 void A.f()\n"
			    "7f00000037ff 1 void A.f()\n"
			    "7f0000003800 1 StubRoutines (1)\n");
}

static void names_methods_that_were_interpreted(void **state)
{
	const uint64_t addrs[] = { METHOD_AT | HOTSPOT_METHOD, 0x1000 | HOTSPOT_METHOD,
				   METHOD_AT | HOTSPOT_METHOD, METHOD_AT };

	put_code("A", "f", "()V");
	assert_string_equal(names_of(addrs, 4), "7f0000004400 1 void A.f()\n"
						"7f0000004400 1 void A.f()\n");
}

/* What can't be read of one costs no other its name. */
static void what_is_not_there_has_no_name(void **state)
{
	static const uint64_t words[] = { HEAP + 8 * 128 + 16 + 64,
					  METHOD_AT + 8,
					  CONST_AT + 8,
					  POOL + 24,
					  CLASS_AT + 16,
					  POOL + POOL_BYTES + 24 };
	const uint64_t addrs[] = { HEAP + 8ULL * 128, HEAP + 16ULL * 128 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		put_code("A", "f", "()V");
		put(words[i], 0x1234, 8);
		assert_string_equal(names_of(addrs, 2),
				    "7f0000003800 1 StubRoutines (1)\n");
	}
}

static void refuses_other_structures(void **state)
{
	const uint64_t addr = HEAP + 8ULL * 128;
	struct str text = { 0 };

	put_code("A", "f", "()V");
	put(TYPES + 40, put_name("OtherPool"), 8);
	assert_int_equal(ask(&addr, 1, &text), -ENOTSUP);
	put_code("A", "f", "()V");
	put(ENTRIES + 48ULL * (made.n_entries - 1) + 8, put_name("_other"), 8);
	assert_int_equal(ask(&addr, 1, &text), -ENOTSUP);
	assert_int_equal(text.n, 0);
	str_free(&text);
	error_clear();
}

static void holds_whatever_it_reads(void **state)
{
	const uint64_t addrs[] = { HEAP + 9ULL * 128, HEAP + 17ULL * 128 };

	for (size_t at = 0; at < BYTES; at++)
		for (int i = 0; i < 2; i++) {
			struct str text = { 0 };

			put_code("A", "f", "()V");
			made.bytes[at] ^= i ? 0xff : 1U << at % 8;
			ask(addrs, 2, &text);
			assert_true(text.n < 16384);
			str_free(&text);
			error_clear();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_methods),
		cmocka_unit_test(names_stubs_and_leaves_out_the_rest),
		cmocka_unit_test(names_methods_that_were_interpreted),
		cmocka_unit_test(what_is_not_there_has_no_name),
		cmocka_unit_test(refuses_other_structures),
		cmocka_unit_test(holds_whatever_it_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
