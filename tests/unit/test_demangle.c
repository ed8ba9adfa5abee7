/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as compilers write them and as people read them. */
#include "obj/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static const struct {
	const char *symbol, *shown;
} names[] = {
	{ "main", "main" },
	{ "_start", "_start" },
	{ "_Z", "_Z" },
	{ "_Zebra", "_Zebra" },
	{ "_Razor", "_Razor" },
	{ "_ZN3Foo3barEi", "Foo::bar" },
	{ "_ZNK3Foo3barERKSsd", "Foo::bar" },
	{ "_Z3maxIiET_S0_S0_", "max<int>" },
	{ "_ZN3FooC1Ev", "Foo::Foo" },
	{ "_ZN3FooD0Ev", "Foo::~Foo" },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
	  "std::vector<int, std::allocator<int> >::push_back" },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()" },
	/* coroutine bodies and other clones are still told apart */
	{ "_Z4taskv.resume", "task.resume" },
	{ "_Z4taskPZ4taskiE14_Z4taski.Frame.actor", "task.actor" },
	{ "_Z4taskPZ4taskiE14_Z4taski.Frame.destroy", "task.destroy" },
	{ "_ZN3Foo3barEi.part.0", "Foo::bar.part.0" },
	{ "_ZN3Foo3barEi.constprop.0.isra.0", "Foo::bar.constprop.0.isra.0" },
	{ "_ZN3Foo3barEi.cold", "Foo::bar.cold" },
	{ "helper.constprop.0", "helper.constprop.0" },
	{ "_ZN3Foo3barEi.llvm.1234567890", "Foo::bar" },
	{ "helper.llvm.42", "helper" },
	{ "helper.llvm.", "helper.llvm." },
	{ ".llvm.1", ".llvm.1" },
	/* versions */
	{ "memcpy@@GLIBC_2.14", "memcpy" },
	{ "memcpy@GLIBC_2.2.5", "memcpy" },
	{ "_ZN3Foo3barEi@@V1", "Foo::bar" },
	{ "@odd", "@odd" },
	/* Rust, v0 and legacy, whose identifiers may hold dots */
	{ "_RNvMNtCs6GmmlP4bgsG_1r4deepINtB2_1ShE4showB4_", "<r::deep::S<u8>>::show" },
	{ "_RNvCs6GmmlP4bgsG_1r4main", "r::main" },
	{ "_RNvCs6GmmlP4bgsG_1r4main.llvm.99", "r::main" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.77",
	  "core::fmt::Formatter::pad" },
	{ "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt"
	  "17h0123456789abcdefE",
	  "<alloc::string::String as core::fmt::Display>::fmt" },
	/* what a terminal must not see */
	{ "esc\033[2J", "esc?[2J" },
	{ "a\xff\xfe", "a??" },
	{ "semi;colon", "semi;colon" },
};

static size_t demangle_all(char *out, const char *symbol)
{
	return demangle(out, NAME_BYTES_MOST, symbol, strlen(symbol));
}

static void shows_names_as_people_know_them(void **state)
{
	char out[NAME_BYTES_MOST];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = demangle_all(out, names[i].symbol);

		assert_string_equal(out, names[i].shown);
		assert_int_equal(n, strlen(out));
	}
}

static void takes_no_more_than_its_length(void **state)
{
	char out[8];

	assert_int_equal(demangle(out, sizeof(out), "_Z3foov.resume", 7), 3);
	assert_string_equal(out, "foo");
	assert_int_equal(demangle(out, sizeof(out), "", 0), 0);
	assert_string_equal(out, "");
	assert_int_equal(demangle(out, sizeof(out), "_ZN9something4elseEv", 20), 7);
	assert_string_equal(out, "somethi");
}

static void leaves_very_long_names_alone(void **state)
{
	char symbol[MANGLED_BYTES_MOST + 64], out[NAME_BYTES_MOST];

	memcpy(symbol, "_Z2100", 6);
	memset(symbol + 6, 'a', sizeof(symbol) - 6);
	symbol[sizeof(symbol) - 1] = '\0';
	assert_int_equal(demangle_all(out, symbol), NAME_BYTES_MOST - 1);
	assert_memory_equal(out, symbol, NAME_BYTES_MOST - 1);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Each template argument is the whole name so far, twice. */
static void is_not_blown_up_by_back_references(void **state)
{
	char symbol[1024] = "_Z1fI1aI", out[NAME_BYTES_MOST];
	double begun = cpu_seconds();

	strcat(symbol, "iiE");
	for (int i = 0; i < 30; i++) {
		char more[32];

		snprintf(more, sizeof(more), "1bIS%c_S%c_E", '0' + i % 10, '0' + i % 10);
		strcat(symbol, more);
	}
	strcat(symbol, "EvT_");
	assert_true(demangle_all(out, symbol) < NAME_BYTES_MOST);
	/* Rust's v0: a tuple of two back references to the tuple before it */
	strcpy(symbol, "_RMC0T");
	for (int i = 0; i < 40; i++)
		strcat(symbol, "TB4_B4_E");
	strcat(symbol, "E");
	assert_true(demangle_all(out, symbol) < NAME_BYTES_MOST);
	assert_true(cpu_seconds() - begun < 2);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void survives_mutations(void **state)
{
	static const char letters[] = "_ZRNSIECTJLXFKPMBDsvUlhTtSaSbSdGVr0123456789E$.@";
	char symbol[256], out[NAME_BYTES_MOST];
	uint64_t seed = 0xdead;

	for (int i = 0; i < 40000; i++) {
		const char *from =
			names[next_random(&seed) % (sizeof(names) / sizeof(*names))]
				.symbol;
		size_t n = strlen(from);

		strcpy(symbol, from);
		for (uint64_t k = next_random(&seed) % 6 + 1; k && n > 2; k--)
			symbol[2 + next_random(&seed) % (n - 2)] =
				letters[next_random(&seed) % (sizeof(letters) - 1)];
		n = demangle_all(out, symbol);
		assert_int_equal(n, strlen(out));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_names_as_people_know_them),
		cmocka_unit_test(takes_no_more_than_its_length),
		cmocka_unit_test(leaves_very_long_names_alone),
		cmocka_unit_test(is_not_blown_up_by_back_references),
		cmocka_unit_test(survives_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
