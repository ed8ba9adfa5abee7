// SPDX-License-Identifier: BSD-2-Clause
/*
 * Short names: what they look like, and that two functions never become one, with every
 * name that this machine's largest libraries have.
 */
#include "base/error.h"
#include "core/short_names.h"
#include "obj/demangle.h"

#include "elf_files.h"

static void add_frame(struct profile *r, const char *name)
{
	struct profile_frame frame = { .type = FRAME_TYPE_NATIVE };
	uint32_t id;

	assert_int_equal(profile_add_string(r, name, strlen(name), &frame.name), 0);
	assert_int_equal(profile_add_frame(r, &frame, &id), 0);
}

/* names: in pairs, each with what becomes of it beside all the others; NULL ends it. */
static void expect(const char *const *names)
{
	AUTO(profile) r = NULL;

	assert_int_equal(profile_new(&r), 0);
	for (size_t i = 0; names[i]; i += 2)
		add_frame(r, names[i]);
	assert_int_equal(profile_shorten_names(r), 0);
	for (size_t i = 0; names[i]; i += 2)
		assert_string_equal(profile_string(r, r->frames.items[i / 2].name),
				    names[i + 1]);
}

static void leaves_out_what_tells_nothing_apart(void **state)
{
	static const char *const names[] = {
		"acme::text::detail::Parser<char, std::allocator<char> >::next",
		"Parser<…>::next",
		"main",
		"main",
		"folly::coro::detail::BlockingWaitPromise<void>::start",
		"BlockingWaitPromise<…>::start",
		"std::operator<< <char>",
		"std::operator<< <…>",
		"a::b::c::{lambda(int)#1}::operator()",
		"b::c::{lambda(int)#1}::operator()",
		"a::(anonymous namespace)::run",
		"a::(anonymous namespace)::run",
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		"<…>::drop",
		"libz.so.1.2.13!0x5a20",
		"libz.so.1.2.13!0x5a20",
		"x+0x12",
		"x+0x12",
		NULL,
	};

	expect(names);
}

static void parts_of_a_function_go_by_its_name(void **state)
{
	static const char *const names[] = {
		"ns::f.cold",
		"ns::f",
		"ns::f",
		"ns::f",
		"systrim.constprop.0",
		"systrim",
		"g.isra.0.cold",
		"g",
		"h.part.3",
		"h",
		"main_loop.__part.2",
		"main_loop",
		"digest.llvm.1234567890123456789",
		"digest",
		"once.__uniq.42.warm",
		"once",
		"net::session::run.resume",
		"session::run",
		"net::session::run.destroy",
		"session::run",
		"net::session::run.actor",
		"session::run",
		/* Go's functions, which are no parts */
		"os.cleanup",
		"os.cleanup",
		"net/http.(*conn).resume",
		"net/http.(*conn).resume",
		".cold",
		".cold",
		NULL,
	};

	expect(names);
}

static void keeps_functions_of_go(void **state)
{
	static const char *const names[] = {
		"runtime.goexit.abi0",
		"runtime.goexit.abi0",
		"cache.cold",
		"cache.cold",
		"cache",
		"cache",
		/* C's and C++'s in the same program */
		"deflate.constprop.0",
		"deflate",
		"ns::f.cold",
		"ns::f",
		NULL,
	};

	expect(names);
}

static void keeps_what_tells_two_functions_apart(void **state)
{
	static const char *const names[] = {
		"a::x::Parser<int>::next",
		"Parser<int>::next",
		"a::x::Parser<char>::next",
		"a::x::Parser<…>::next",
		"b::x::Parser<char>::next",
		"b::x::Parser<…>::next",
		"c::deep::run",
		"c::deep::run",
		"d::deep::run",
		"d::deep::run",
		"f::d::deep::run",
		"f::d::deep::run",
		"e::deep::other",
		"deep::other",
		/* one's short name is another's whole one */
		"k::Parser::last",
		"k::Parser::last",
		"Parser::last",
		"Parser::last",
		NULL,
	};

	expect(names);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t count_distinct(char **texts, size_t n)
{
	size_t distinct = 0;

	qsort(texts, n, sizeof(*texts), by_text);
	for (size_t i = 0; i < n; i++)
		distinct += !i || strcmp(texts[i - 1], texts[i]) != 0;
	return distinct;
}

/* Every function that a library exports, by nm; NULL: it is not there. */
static struct profile *read_library(const char *pattern)
{
	AUTO(profile) r = NULL;
	AUTO_STR name = { 0 };
	AUTO_FREE char *line = NULL;
	char command[256];
	size_t room = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "nm -D --defined-only %s 2>/dev/null | sed -n 's/.* [TtWwi] //p'",
		 pattern);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(profile_new(&r), 0);
	while (getline(&line, &room, f) > 0) {
		str_clear(&name);
		demangle(&name, line, strcspn(line, "\n"));
		add_frame(r, name.s);
	}
	pclose(f);
	return GIVE(r);
}

static void no_two_functions_become_one(void **state)
{
	static const char *const libraries[] = {
		"/usr/lib/*/libstdc++.so.6",
		"/usr/lib/llvm-*/lib/libclang-cpp.so.*",
		"/usr/lib/*/libLLVM-*.so.1",
	};
	size_t all = 0;

	for (size_t k = 0; k < sizeof(libraries) / sizeof(*libraries); k++) {
		AUTO(profile) r = read_library(libraries[k]);
		AUTO(short_names) names = NULL;
		char **whole = calloc(r->frames.n + 1, sizeof(*whole));
		char **shorter = calloc(r->frames.n + 1, sizeof(*shorter));
		size_t bytes = 0, shorter_bytes = 0;

		assert_int_equal(short_names_new(&names, r), 0);
		for (size_t i = 0; i < r->frames.n; i++) {
			uint32_t name = r->frames.items[i].name;

			whole[i] = (char *)profile_string(r, name);
			shorter[i] = (char *)short_names_get(names, name);
			bytes += strlen(whole[i]);
			shorter_bytes += strlen(shorter[i]);
		}
		assert_int_equal(count_distinct(shorter, r->frames.n),
				 count_distinct(whole, r->frames.n));
		assert_true(shorter_bytes <= bytes);
		print_message("# %zu names, %zu bytes of %zu left\n", r->frames.n,
			      shorter_bytes, bytes);
		all += r->frames.n;
		free(whole);
		free(shorter);
	}
	assert_true(all > 1000 || !has_tool("nm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_out_what_tells_nothing_apart),
		cmocka_unit_test(parts_of_a_function_go_by_its_name),
		cmocka_unit_test(keeps_functions_of_go),
		cmocka_unit_test(keeps_what_tells_two_functions_apart),
		cmocka_unit_test(no_two_functions_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
