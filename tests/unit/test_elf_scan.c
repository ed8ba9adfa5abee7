/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scan of ELF files: every way in which a key can lie in a file, against
 * nm, readelf and this process's own libc.
 */
#include "elf_files.h"

#include "base/str.h"
#include "obj/elf_scan.h"
#include "shared/async_abi.h"

#include <dlfcn.h>
#include <errno.h>

#ifdef __aarch64__
#define MUSL "/lib/ld-musl-aarch64.so.1"
#else
#define MUSL "/lib/ld-musl-x86_64.so.1"
#endif

static const char key_c[] =
	"#include <pthread.h>\n"
	"#ifndef HOW\n"
	"#define HOW\n"
	"#endif\n"
	"HOW pthread_key_t folly_async_stack_root_tls_key = -1;\n"
	"const char folly_async_stack_metadata_frame_cookie = 1;\n"
	"char __folly_suspended_frame_cookie;\n"
	"int use(void) { return (int)folly_async_stack_root_tls_key; }\n"
	"#ifndef SHARED\n"
	"int main(void) { return use(); }\n"
	"#endif\n";

static const char unique_cc[] = "inline unsigned folly_async_stack_root_tls_key = -1u;\n"
				"extern \"C\" unsigned *use(void);\n"
				"unsigned *use(void) "
				"{ return &folly_async_stack_root_tls_key; }\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("key.c", key_c, strlen(key_c));
	write_file("unique.cc", unique_cc, strlen(unique_cc));
	return 0;
}

static int scan_path(const char *path, struct elf_info *info)
{
	int fd = open_file(path), err;

	memset(info, 0xa5, sizeof(*info));
	err = elf_scan(fd, info);
	close(fd);
	return err;
}

struct kind {
	const char *compiler;
	const char *options;
	const char *libc; /* "-", "glibc" or "musl" */
	const char *nm;	  /* options that show the key; NULL: it is gone */
};

#define WEAK_ATTR "-DHOW='__attribute__((weak))'"
#define LOCAL	  "-DHOW='static __attribute__((used))'"
#define SHARED	  "-DSHARED -shared -fPIC "

static const struct kind kinds[] = {
	{ "gcc", "", "-", "" },
	{ "gcc", "-rdynamic -s", "-", "-D" },
	{ "gcc", "-s", "-", NULL },
	{ "gcc", "-no-pie", "-", "" },
	{ "gcc", "-static", "glibc", "" },
	{ "gcc", "-static-pie", "glibc", "" },
	{ "gcc", "-static -s", "glibc", NULL },
	{ "gcc", SHARED, "-", "-D" },
	{ "gcc", SHARED "-s", "-", "-D" },
	{ "gcc", SHARED "-s -Wl,--hash-style=sysv", "-", "-D" },
	{ "gcc", SHARED "-s -Wl,--hash-style=gnu", "-", "-D" },
	{ "gcc", SHARED WEAK_ATTR, "-", "-D" },
	{ "gcc", SHARED LOCAL, "-", "" },
	{ "gcc", LOCAL, "-", "" },
	{ "clang", SHARED WEAK_ATTR, "-", "-D" },
	{ "clang", "-fPIE -pie " WEAK_ATTR, "-", "" },
	{ "musl-gcc", "", "musl", "" },
	{ "musl-gcc", "-static", "musl", "" },
	{ "aarch64-linux-gnu-gcc", SHARED "-s", "-", "-D" },
	{ "aarch64-linux-gnu-gcc", "-static", "glibc", "" },
};

static void check_kind(const struct kind *kind, const char *path)
{
	enum elf_libc libc = !strcmp(kind->libc, "glibc")  ? LIBC_GLIBC
			     : !strcmp(kind->libc, "musl") ? LIBC_MUSL
							   : LIBC_UNKNOWN;
	struct elf_info info;

	assert_int_equal(scan_path(path, &info), 0);
	if (info.libc != libc)
		fail_msg("%s %s: libc %u", kind->compiler, kind->options, info.libc);
	assert_int_equal(info.keys_left_out, 0);
	if (!kind->nm) {
		assert_int_equal(info.n_keys, 0);
		return;
	}
	if (info.n_keys != 1)
		fail_msg("%s %s: %u keys", kind->compiler, kind->options, info.n_keys);
	assert_int_equal(info.key_vaddrs[0],
			 nm_value(kind->nm, "file", ASYNC_KEY_SYMBOL));
	assert_int_equal(info.metadata_cookie_vaddr,
			 nm_value(kind->nm, "file", ASYNC_METADATA_COOKIE));
	assert_int_equal(info.suspended_cookie_vaddr,
			 nm_value(kind->nm, "file", ASYNC_SUSPENDED_COOKIE));
}

static void finds_the_key_in_every_kind_of_file(void **state)
{
	size_t tried = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct kind *kind = &kinds[i];

		if (!has_tool(kind->compiler))
			continue;
		assert_int_equal(
			shell("%s %s -w key.c -o file", kind->compiler, kind->options),
			0);
		check_kind(kind, "file");
		if (!kind->nm || strcmp(kind->nm, "-D"))
			continue;
		/* what is in .dynsym is found without section headers, too */
		cut_sections("file", "cut");
		check_kind(kind, "cut");
		tried++;
	}
	assert_true(tried > 3);
}

static void finds_a_unique_key(void **state)
{
	struct elf_info info;

	if (!has_tool("g++"))
		skip();
	assert_int_equal(shell("g++ -std=c++17 -shared -fPIC -s unique.cc -o u.so"), 0);
	assert_int_equal(
		shell("readelf --dyn-syms -W u.so | grep -Eq '(UNIQUE|: 10) .*%s'",
		      ASYNC_KEY_SYMBOL),
		0);
	assert_int_equal(scan_path("u.so", &info), 0);
	assert_int_equal(info.n_keys, 1);
	assert_int_equal(info.key_vaddrs[0], nm_value("-D", "u.so", ASYNC_KEY_SYMBOL));
}

/* An undefined key is somebody else's. */
static void ignores_a_key_that_is_only_used(void **state)
{
	const char source[] = "extern unsigned folly_async_stack_root_tls_key;\n"
			      "int f(void) { return folly_async_stack_root_tls_key; }\n";
	struct elf_info info;

	write_file("undef.c", source, strlen(source));
	assert_int_equal(shell("gcc -shared -fPIC undef.c -o undef.so"), 0);
	assert_int_equal(scan_path("undef.so", &info), 0);
	assert_int_equal(info.n_keys, 0);
}

static void tells_what_is_stripped_of_its_key(void **state)
{
	static const struct {
		const char *options;
		bool hides;
	} builds[] = {
		{ "-s", true },
		{ "-s -static", true },
		{ "-s -static-pie", true },
		{ "-s -shared -fPIC -DSHARED", true },
		{ "-s -DASSERTS", true },
		{ "", false },					 /* its key is found */
		{ "-s -rdynamic -Wl,--hash-style=gnu", false },	 /* so it is */
		{ "-s -rdynamic -Wl,--hash-style=both", false }, /* by either table */
		{ "-s -rdynamic -Wl,--hash-style=sysv", false },
		{ "-s -DNO_TEXT", false }, /* of others than folly */
		{ "-s -DNO_SLOT", false }, /* nobody sets a key */
		{ "-s -shared -fPIC -DSHARED -DNO_SLOT -nostdlib -Wl,-soname,f", false },
	};
	const char source[] =
		"#include <pthread.h>\n"
		"#include <stdio.h>\n"
		"pthread_key_t __attribute__((visibility(SEEN)))\n"
		"folly_async_stack_root_tls_key = -1;\n"
		"int use(void)\n"
		"{\n"
		"#ifndef NO_TEXT\n"
		"#ifdef ASSERTS\n"
		"puts(\"currentThreadAsyncStackRoot.get() == &root_\");\n"
		"#else\n"
		"puts(\"Failed to initialise folly_async_stack_root_tls_key: %d\");\n"
		"#endif\n"
		"#endif\n"
		"#ifdef NO_SLOT\n"
		"return 0;\n"
		"#else\n"
		"return pthread_setspecific(folly_async_stack_root_tls_key, &use);\n"
		"#endif\n"
		"}\n"
		"#ifndef SHARED\n"
		"int main(void) { return use(); }\n"
		"#endif\n";
	struct elf_info info;

	write_file("folly.c", source, strlen(source));
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		const char *seen =
			strstr(builds[i].options, "-rdynamic") ? "default" : "hidden";

		assert_int_equal(shell("gcc -w '-DSEEN=\"%s\"' %s folly.c -o f", seen,
				       builds[i].options),
				 0);
		assert_int_equal(scan_path("f", &info), 0);
		assert_int_equal(info.hides_key, builds[i].hides);
	}
}

#define NOTE_BEFORE                                                                      \
	"asm(\".pushsection .note.weft, \\\"a\\\", %note\\n.balign 4\\n"                 \
	".4byte 5, 8, 1\\n.asciz \\\"weft\\\"\\n.balign 4\\n"                            \
	".8byte "
#define NOTE_BEHIND " - .\\n.popsection\");\n"
#define NOTE(key)   NOTE_BEFORE key NOTE_BEHIND

#define NOTES_HERE 20

static void finds_keys_by_note(void **state)
{
	static const char *const options[] = { "", "-static-pie", "-no-pie" };
	AUTO_STR source = { 0 };
	struct elf_info info;

	_Static_assert(FILE_KEYS_MAX < NOTES_HERE, "some are left out");
	for (int i = 0; i < NOTES_HERE; i++) {
		str_addf(&source, "int k%d = 1;\n", i);
		str_add(&source, NOTE("k0") NOTE_BEFORE);
		str_addf(&source, "k%d", i);
		str_add(&source, NOTE_BEHIND);
	}
	str_add(&source, "int main(void) { return 0; }\n");
	write_file("note.c", source.s, source.n);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		assert_int_equal(shell("gcc %s note.c -o n", options[i]), 0);
		assert_int_equal(shell("strip -o stripped n"), 0);
		assert_int_equal(scan_path("stripped", &info), 0);
		assert_int_equal(info.n_keys, FILE_KEYS_MAX);
		assert_int_equal(info.keys_left_out, NOTES_HERE - FILE_KEYS_MAX);
		for (int k = 0; k < FILE_KEYS_MAX; k++) {
			char name[8];

			snprintf(name, sizeof(name), "k%d", k);
			assert_int_equal(info.key_vaddrs[k], nm_value("", "n", name));
		}
	}
}

/* Says where its variable is, as its own code finds it. */
static const char context_c[] =
	"#include <stdio.h>\n"
	"__thread void *otel_thread_ctx_v1;\n"
	"static __thread volatile char more[MORE] __attribute__((aligned(ALIGN))) = { 1 "
	"};\n"
	"int main(void) {\n"
	"	printf(\"%ld\\n\", (long)((char *)&otel_thread_ctx_v1 -\n"
	"		(char *)__builtin_thread_pointer()));\n"
	"	return more[0] - 1;\n"
	"}\n";

static void finds_a_programs_thread_context(void **state)
{
	static const char *const options[] = {
		"-DMORE=1 -DALIGN=1",
		"-DMORE=1 -DALIGN=1 -no-pie",
		"-DMORE=77 -DALIGN=64",
		"-DMORE=77 -DALIGN=4096 -no-pie",
		"-DMORE=5000 -DALIGN=16 -static-pie -fPIE",
	};
	struct elf_info info;
	char said[32];

	write_file("context.c", context_c, strlen(context_c));
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		FILE *out;

		assert_int_equal(
			shell("gcc -O1 %s -Wl,--export-dynamic-symbol=otel_thread_ctx_v1 "
			      "context.c -o c",
			      options[i]),
			0);
		assert_int_equal(shell("./c >said"), 0);
		out = fdopen(open_file("said"), "r");
		assert_non_null(out);
		assert_non_null(fgets(said, sizeof(said), out));
		fclose(out);
		assert_int_equal(scan_path("c", &info), 0);
		assert_int_equal(info.context.access, TLS_BY_OFFSET);
		assert_int_equal(info.context.at, strtol(said, NULL, 10));
	}
	/* in .symtab it is not published */
	assert_int_equal(shell("gcc -DMORE=1 -DALIGN=1 context.c -o c"), 0);
	assert_int_equal(scan_path("c", &info), 0);
	assert_int_equal(info.context.access, TLS_NONE);
	assert_int_equal(info.context.at, 0);
}

static void ignores_notes_that_point_nowhere(void **state)
{
	const char source[] = NOTE("0x7000000000") NOTE("main") "int main(void)"
								" { return 0; }\n";
	struct elf_info info;

	write_file("bad_note.c", source, strlen(source));
	assert_int_equal(shell("gcc bad_note.c -o bad_note"), 0);
	assert_int_equal(scan_path("bad_note", &info), 0);
	assert_int_equal(info.n_keys, 0);
}

/* The live variable is what debuggers read; the file must say the same. */
static void reads_what_this_libc_says_of_itself(void **state)
{
	const uint32_t *live = dlsym(RTLD_DEFAULT, "_thread_db_pthread_specific");
	struct elf_info info;
	Dl_info libc;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc));
	assert_int_equal(scan_path(libc.dli_fname, &info), 0);
	assert_int_equal(info.libc, LIBC_GLIBC);
	assert_int_equal(info.n_keys, 0);
	if (!live)
		skip();
	assert_int_equal(info.specific_offset, live[2]);
}

static void knows_musl_itself(void **state)
{
	struct elf_info info;

	if (access(MUSL, R_OK))
		skip();
	assert_int_equal(scan_path(MUSL, &info), 0);
	assert_int_equal(info.libc, LIBC_MUSL);
	assert_int_equal(info.specific_offset, 0);
}

static void reads_the_build_id(void **state)
{
	static const unsigned char id[] = { 0xde, 0xad, 0xbe, 0xef, 0x01 };
	struct elf_info info;

	assert_int_equal(shell("gcc -Wl,--build-id=0xdeadbeef01 key.c -o id"), 0);
	assert_int_equal(scan_path("id", &info), 0);
	assert_int_equal(info.build_id_bytes, sizeof(id));
	assert_memory_equal(info.build_id, id, sizeof(id));
	/* 24 bytes, of which 20 are kept */
	assert_int_equal(shell("gcc -Wl,--build-id=0xdeadbeef01%038d key.c -o id", 0), 0);
	assert_int_equal(scan_path("id", &info), 0);
	assert_int_equal(info.build_id_bytes, BUILD_ID_MAX);
	assert_memory_equal(info.build_id, id, sizeof(id));
	assert_int_equal(shell("gcc -Wl,--build-id=none key.c -o id"), 0);
	assert_int_equal(scan_path("id", &info), 0);
	assert_int_equal(info.build_id_bytes, 0);
}

static void converts_offsets(void **state)
{
	struct elf_info info;
	uint64_t vaddr;
	size_t n_code = 0;

	assert_int_equal(shell("gcc key.c -o id"), 0);
	assert_int_equal(scan_path("id", &info), 0);
	assert_int_equal(info.machine,
			 info.machine == EM_AARCH64 ? EM_AARCH64 : EM_X86_64);
	assert_int_equal(info.is_64bit, 1);
	assert_true(info.n_segments >= 2);
	for (uint32_t i = 0; i < info.n_segments; i++) {
		const struct elf_segment *seg = &info.segments[i];

		n_code += seg->flags & PF_X ? 1 : 0;
		assert_true(elf_vaddr_of_offset(&info, seg->offset, &vaddr));
		assert_int_equal(vaddr, seg->vaddr);
		assert_true(elf_vaddr_of_offset(&info, seg->offset + seg->file_bytes - 1,
						&vaddr));
		assert_int_equal(vaddr, seg->vaddr + seg->file_bytes - 1);
	}
	assert_int_equal(n_code, 1);
	assert_false(elf_vaddr_of_offset(&info, UINT64_MAX, &vaddr));
	assert_false(elf_vaddr_of_offset(&info, 1 << 30, &vaddr));
}

/* As lld lays files out: code begins in the page in which what is read ends. */
static void a_mapping_begins_in_front_of_its_code(void **state)
{
	struct elf_info info = {
		.n_segments = 3,
		.segments = { { .offset = 0, .file_bytes = 0x16340, .flags = PF_R },
			      { .offset = 0x16340,
				.vaddr = 0x17340,
				.file_bytes = 0x44c40,
				.flags = PF_R | PF_X },
			      { .offset = 0x5af80,
				.vaddr = 0x5cf80,
				.file_bytes = 0x2d58,
				.flags = PF_R | PF_W } },
	};
	uint64_t vaddr = 0;

	assert_true(elf_vaddr_of_mapping(&info, 0x16000, &vaddr));
	assert_int_equal(vaddr, 0x17000);
	assert_true(elf_vaddr_of_mapping(&info, 0x20000, &vaddr));
	assert_int_equal(vaddr, 0x21000);
	assert_true(elf_vaddr_of_mapping(&info, 0x5a000, &vaddr));
	assert_int_equal(vaddr, 0x5b000);
	/* mapped by hand, and no code */
	assert_true(elf_vaddr_of_mapping(&info, 0x1000, &vaddr));
	assert_int_equal(vaddr, 0x1000);
	assert_false(elf_vaddr_of_mapping(&info, UINT64_MAX - 4095, &vaddr));
}

static void refuses_what_is_no_such_file(void **state)
{
	struct elf_info info;
	Elf64_Ehdr header = { .e_type = ET_DYN };
	int fd;

	write_file("empty", "", 0);
	assert_int_equal(scan_path("empty", &info), -ENOEXEC);
	assert_int_equal(scan_path("key.c", &info), -ENOEXEC);
	assert_int_equal(scan_path("/", &info), -ENOEXEC);
	assert_int_equal(scan_path("/dev/zero", &info), -ENOEXEC);
	assert_int_equal(elf_scan(-1, &info), -EBADF);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	write_file("narrow", &header, sizeof(header));
	assert_int_equal(scan_path("narrow", &info), -ENOEXEC);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_phnum = 3;
	header.e_phentsize = sizeof(Elf64_Phdr);
	header.e_phoff = UINT64_MAX - 8;
	write_file("wild", &header, sizeof(header));
	assert_int_equal(scan_path("wild", &info), -EBADMSG);
	assert_int_equal(shell("mkfifo fifo"), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_int_equal(elf_scan(fd, &info), -ENOEXEC);
	close(fd);
	fd = open("key.c", O_WRONLY);
	assert_int_equal(elf_scan(fd, &info), -EBADF);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_key_in_every_kind_of_file),
		cmocka_unit_test(finds_a_unique_key),
		cmocka_unit_test(ignores_a_key_that_is_only_used),
		cmocka_unit_test(tells_what_is_stripped_of_its_key),
		cmocka_unit_test(finds_keys_by_note),
		cmocka_unit_test(finds_a_programs_thread_context),
		cmocka_unit_test(ignores_notes_that_point_nowhere),
		cmocka_unit_test(reads_what_this_libc_says_of_itself),
		cmocka_unit_test(knows_musl_itself),
		cmocka_unit_test(reads_the_build_id),
		cmocka_unit_test(converts_offsets),
		cmocka_unit_test(a_mapping_begins_in_front_of_its_code),
		cmocka_unit_test(refuses_what_is_no_such_file),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
