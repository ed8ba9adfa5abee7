/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long C++ symbols: what a compiler makes is shown whole, and what is made to take the
 * demangler's stack, time or output ends nothing and is marked.
 */
#include "obj/demangle.h"
#include "obj/names.h"
#include "worker/worker.h"

#include "long_names.h"

#include <sys/resource.h>

#define TYPE "%stype_%04u_with_a_name_of_40_letters_____"

/* f<type_0000…, type_0001…>, of which the truth is known without a demangler. */
static void make_pack(struct str *source, struct str *shown, unsigned int n)
{
	str_add(source, "template <class... T> struct pack {};\n"
			"template <class... T> __attribute__((noinline))\n"
			"void f(pack<T...>) { asm(\"\"); }\n");
	for (unsigned int i = 0; i < n; i++)
		str_addf(source, TYPE " {};\n", "struct ", i);
	str_add(source, "void g() { f(pack<");
	str_add(shown, "f<");
	for (unsigned int i = 0; i < n; i++) {
		str_addf(source, TYPE, i ? ", " : "", i);
		str_addf(shown, TYPE, i ? ", " : "", i);
	}
	str_add(source, ">()); }\n");
	str_add(shown, ">");
}

/* g++ mangles such a name with 42 bytes a type. */
static void templates_of_a_compiler(void **state)
{
	static const unsigned int n_types[] = { 20, 35, 120, 480, 720 };
	struct worker *worker;

	if (!has_tool("g++"))
		skip();
	assert_int_equal(worker_new(&worker), 0);
	for (size_t i = 0; i < sizeof(n_types) / sizeof(*n_types); i++) {
		struct str source = { 0 }, shown = { 0 };
		struct found_names found = { 0 };
		uint64_t addr;
		FILE *nm;
		int fd;

		make_pack(&source, &shown, n_types[i]);
		write_file("pack.cpp", source.s, source.n);
		assert_int_equal(shell("g++ -w -O1 -shared -fPIC -o pack.so pack.cpp"),
				 0);
		nm = popen("nm pack.so | grep ' _Z1fI'", "r");
		assert_int_equal(fscanf(nm, "%lx", &addr), 1);
		pclose(nm);
		fd = open_file("pack.so");
		assert_int_equal(
			worker_names(worker,
				     &(struct name_request){ NAMES_ELF_LINKED, fd, &addr,
							     1, 5000 },
				     hear, &found),
			0);
		assert_string_equal(found.names[0], shown.s);
		forget(&found);
		str_free(&source);
		str_free(&shown);
		close(fd);
	}
	assert_int_equal(worker_counts(worker)->restarts, 0);
	worker_free(worker);
}

/* What may take the whole stack of the demangler, and more of the output than a name
 * may have: none ends the parser, and the honest one beside them has its name. */
static void hostile_ones_end_nothing(void **state)
{
	static const char *const parts[] = { "P",   "F",      "PF",   "MFv", "Z", "R",
					     "OT_", "1aIRT_", "N1aI", "A_",  "Fv" };
	const size_t n = sizeof(parts) / sizeof(*parts);
	FILE *f = fopen("hostile.map", "w");
	struct found_names found = { 0 };
	struct worker *worker;
	uint64_t addrs[32];
	int fd;

	assert_non_null(f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%zx 10 _Z1fI", 0x1000 + 16 * i);
		for (size_t bytes = 5; bytes < 65000; bytes += strlen(parts[i]))
			fputs(parts[i], f);
		fputs("\n", f);
		addrs[i] = 0x1000 + 16 * i;
	}
	fprintf(f, "%zx 10 _ZN6honest4nameEv\n", 0x1000 + 16 * n);
	addrs[n] = 0x1000 + 16 * n;
	assert_int_equal(fclose(f), 0);
	fd = open_file("hostile.map");
	assert_int_equal(worker_new(&worker), 0);
	assert_int_equal(worker_names(worker,
				      &(struct name_request){ NAMES_PERF_MAP, fd, addrs,
							      n + 1, 5000 },
				      hear, &found),
			 0);
	assert_string_equal(found.names[n], "honest::name");
	for (size_t i = 0; i < n; i++)
		assert_non_null(found.names[i]);
	assert_int_equal(worker_counts(worker)->restarts, 0);
	worker_free(worker);
	forget(&found);
	close(fd);
}

/* As long when printed: mangled 2 KB, each argument a reference to the one before. */
static void what_grows_too_long_is_marked(void **state)
{
	struct str symbol = { 0 }, one = { 0 }, other = { 0 };
	char *name = long_name(1000, 'y');

	str_addf(&symbol, "_Z1fI1000%s", name);
	for (int i = 0; i < 100; i++)
		str_add(&symbol, "S0_");
	str_add(&symbol, "1bEvv");
	demangle(&one, symbol.s, symbol.n);
	symbol.s[symbol.n - 4] = 'c';
	demangle(&other, symbol.s, symbol.n);
	assert_memory_equal(one.s, "f<aaaa", 6);
	assert_true(is_marked(one.s) && is_marked(other.s));
	assert_int_equal(one.n, NAME_HEAD_BYTES + NAME_MARK_BYTES);
	assert_memory_equal(one.s, other.s, NAME_HEAD_BYTES);
	assert_string_not_equal(one.s, other.s);
	str_free(&symbol);
	str_free(&one);
	str_free(&other);
	free(name);
}

/* A long symbol with other letters here and there. */
static void survives_mutations(void **state)
{
	static const char letters[] = "NSIECTJLXFKPMBDRO_sclpvTtSUl0123456789E";
	struct str symbol = { 0 }, mutated = { 0 }, name = { 0 };
	uint64_t seed = 0xbeef;

	str_add(&symbol, "_ZN1a1bIJ");
	for (int i = 0; i < 400; i++)
		str_addf(&symbol, "N1aIJRKT_OS%d_iEE1bEXsrT_1cE", i % 10);
	str_add(&symbol, "EE1fEv");
	assert_true(symbol.n > 10000);
	for (int i = 0; i < 3000; i++) {
		str_clear(&mutated);
		str_clear(&name);
		str_add_bytes(&mutated, symbol.s, symbol.n);
		for (uint64_t k = next_random(&seed) % 6 + 1; k; k--)
			mutated.s[2 + next_random(&seed) % (symbol.n - 2)] =
				letters[next_random(&seed) % (sizeof(letters) - 1)];
		demangle(&name, mutated.s, mutated.n);
		assert_true(name.n && name.n < NAME_BYTES_MAX);
	}
	str_free(&symbol);
	str_free(&mutated);
	str_free(&name);
}

/* As a parser has. */
static int setup(void **state)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack))
		return -1;
	if (stack.rlim_cur < DEMANGLE_STACK_BYTES)
		stack.rlim_cur = DEMANGLE_STACK_BYTES;
	return setrlimit(RLIMIT_STACK, &stack) ? -1 : files_setup(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(templates_of_a_compiler),
		cmocka_unit_test(hostile_ones_end_nothing),
		cmocka_unit_test(what_grows_too_long_is_marked),
		cmocka_unit_test(survives_mutations),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
