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
	{ "_Z2ouPZ2ouILi0EE4TaskIiEvE26_Z2ouILi0EE4TaskIiEv.Frame.actor", "ou<0>.actor" },
	{ "_Z2ouPZ2ouILi1EE4TaskIiEvE26_Z2ouILi1EE4TaskIiEv.Frame.actor.cold",
	  "ou<1>.actor.cold" },
	{ "_Z2ouP39_Z2ouILi0EEN5folly4coro4TaskIiEEv.Frame.actor", "ou<0>.actor" },
	{ "_ZN2ns3fooEPZNS_3fooILi2EEE4TaskIiEiE32_ZN2ns3fooILi2EEE4TaskIiEi.Frame.actor",
	  "ns::foo<2>.actor" },
	{ "_ZN2ns1S1mEPZNKS0_1mEiE19_ZNK2ns1S1mEi.Frame.destroy", "ns::S::m.destroy" },
	{ "_ZZ4mainENUliE_clEPZZ4mainENKS_clEiE26_ZZ4mainENKUliE_clEi.Frame.actor",
	  "main::{lambda(int)#1}::operator().actor" },
	{ "_Z2ouP8_Z.Frame.actor", "ou.actor" },
	{ "_Z4taskv.Frame.actor", "task.actor" },
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
	{ "gtk_main@@libgtk-3.so.0", "gtk_main" },
	{ "@odd", "@odd" },
	{ "..@4.loop", "..@4.loop" },
	{ ".@", ".@" },
	{ "..@4.loop@V1", "..@4.loop" },
	{ "JS:*parse /node_modules/@babel/parser/lib/index.js:9:3",
	  "JS:*parse /node_modules/@babel/parser/lib/index.js:9:3" },
	{ "*Int32@Int#to_s<IO+>:Nil", "*Int32@Int#to_s<IO+>:Nil" },
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

/* Good until the next call. */
static const char *demangled(const char *symbol, size_t n)
{
	static struct str out;

	str_clear(&out);
	demangle(&out, symbol, n);
	assert_false(out.failed);
	assert_int_equal(strlen(out.s), out.n);
	assert_true(out.n < NAME_BYTES_MAX);
	return out.s;
}

static void shows_names_as_people_know_them(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(demangled(names[i].symbol, strlen(names[i].symbol)),
				    names[i].shown);
}

static void takes_no_more_than_its_length(void **state)
{
	struct str out = { 0 };

	assert_string_equal(demangled("_Z3foov.resume", 7), "foo");
	assert_string_equal(demangled("", 0), "");
	str_add(&out, "a::");
	demangle(&out, "_Z3foov", 7);
	assert_string_equal(out.s, "a::foo");
	str_free(&out);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Only a part was printed, which is never passed off as the whole. */
static void assert_cut(const char *name, const char *begins, const char *ends)
{
	const char *mark = strstr(name, "…#");

	assert_memory_equal(name, begins, strlen(begins));
	assert_non_null(mark);
	assert_int_equal(strspn(mark + 4, "0123456789abcdef"), 16);
	assert_string_equal(mark + 20, ends);
}

/* Each template argument is the whole name so far, twice. */
static void is_not_blown_up_by_back_references(void **state)
{
	char symbol[1024] = "_Z1fI1aI";
	double begun = cpu_seconds();

	strcat(symbol, "iiE1bIS1_S1_E");
	for (int i = 3; i < 33; i++) {
		char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10), more[32];

		snprintf(more, sizeof(more), "S2_IS%c_S%c_E", digit, digit);
		strcat(symbol, more);
	}
	strcat(symbol, "EvT_");
	strcat(symbol, ".resume");
	assert_cut(demangled(symbol, strlen(symbol)),
		   "f<a<int, int>, b<a<int, int>, a<int, int> >, b<", ".resume");
	/* Rust's v0: a tuple of two back references to the tuple before it */
	strcpy(symbol, "_RMC0T");
	for (int i = 0; i < 40; i++)
		strcat(symbol, "TB4_B4_E");
	strcat(symbol, "E");
	demangled(symbol, strlen(symbol));
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
	char symbol[256];
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
		demangled(symbol, strlen(symbol));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_names_as_people_know_them),
		cmocka_unit_test(takes_no_more_than_its_length),
		cmocka_unit_test(is_not_blown_up_by_back_references),
		cmocka_unit_test(survives_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
