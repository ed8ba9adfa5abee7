// SPDX-License-Identifier: BSD-2-Clause
/*
 * FUZZ=TARGET parsers …   what reads bytes that others wrote, under clang's fuzzer
 *
 * One target a parser; tests/fuzz/targets says which source each is for. Whatever the
 * bytes are, what comes of them keeps to what the parser's header promises.
 */
#include "parsers.h"

#include "base/error.h"
#include "base/log.h"
#include "base/name.h"
#include "obj/build_id.h"
#include "obj/elf_links.h"
#include "obj/elf_names.h"
#include "obj/elf_plt.h"
#include "obj/elf_scan.h"
#include "obj/fde_index.h"
#include "obj/go_lines.h"
#include "obj/go_values.h"
#include "obj/names.h"
#include "obj/symbol_shelf.h"
#include "proc/open_moved.h"
#include "proc/side_event.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRID 128

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const uint8_t *file_bytes;
static size_t file_n;

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
ssize_t __real_pread(int fd, void *buf, size_t n, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t offset);

int __wrap_fstat(int fd, struct stat *st)
{
	if (fd != MEMORY_FD)
		return __real_fstat(fd, st);
	*st = (struct stat){ .st_mode = S_IFREG | 0644, .st_size = (off_t)file_n };
	return 0;
}

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t offset)
{
	if (fd != MEMORY_FD)
		return __real_pread(fd, buf, n, offset);
	if (offset < 0) {
		errno = EINVAL;
		return -1;
	}
	if ((size_t)offset >= file_n)
		return 0;
	if (n > file_n - (size_t)offset)
		n = file_n - (size_t)offset;
	memcpy(buf, file_bytes + offset, n);
	return (ssize_t)n;
}

void require_clean(const char *name)
{
	AUTO_STR again = { 0 };
	size_t n = strlen(name);

	REQUIRE(n && n < NAME_BYTES_MAX);
	str_add_clean(&again, name, n, n);
	REQUIRE(again.n == n && !memcmp(again.s, name, n));
}

struct named {
	uint64_t addrs[GRID];
	unsigned char seen[GRID];
	bool starts_before; /* a symbol's start is in the unit of the addresses */
};

/* Every 32 bytes from `from` on. */
static void lay_grid(struct named *named, uint64_t from)
{
	*named = (struct named){ .starts_before = true };
	for (size_t i = 0; i < GRID; i++)
		named->addrs[i] = from + 32 * i;
}

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct named *named = arg;

	REQUIRE(index < GRID && !named->seen[index]);
	named->seen[index] = 1;
	require_clean(name);
	REQUIRE(!named->starts_before || start <= named->addrs[index]);
	return 0;
}

static int on_jitdump_name(void *arg, size_t index, const char *name, uint64_t start)
{
	REQUIRE(index % JITDUMP_QUESTION_WORDS == 0);
	return on_name(arg, index / JITDUMP_QUESTION_WORDS, name, start);
}

void require_error(int err)
{
	REQUIRE(err <= 0 && err > -4096);
}

static void fuzz_elf_scan(const uint8_t *data, size_t n)
{
	struct elf_info info;
	uint64_t vaddr;
	int err = elf_scan(MEMORY_FD, &info);

	require_error(err);
	if (err)
		return;
	REQUIRE(info.n_segments <= SEGMENTS_MAX && info.n_keys <= FILE_KEYS_MAX);
	REQUIRE(info.build_id_bytes <= BUILD_ID_MAX && info.libc <= LIBC_MUSL);
	REQUIRE(info.is_64bit <= 1 && info.hides_key <= 1);
	REQUIRE(info.context.access < N_TLS_ACCESSES);
	for (uint32_t i = 0; i < info.n_keys; i++)
		for (uint32_t j = 0; j < i; j++)
			REQUIRE(info.key_vaddrs[i] != info.key_vaddrs[j]);
	for (uint64_t at = 0; at < n; at += 1024) {
		elf_vaddr_of_offset(&info, at, &vaddr);
		elf_vaddr_of_mapping(&info, at, &vaddr);
	}
}

static void fuzz_fde_index(const uint8_t *data, size_t n)
{
	struct elf_info info = { .fde_index_vaddr = 0x1000 };
	struct paged_file file = { NULL, MEMORY_FD };
	struct fde fde;

	REQUIRE(!file_pages_new(&file.pages));
	for (uint64_t vaddr = 0; vaddr < 0x2000; vaddr += 64)
		if (fde_index_find(&file, &info, vaddr, &fde))
			REQUIRE(fde.begin <= vaddr);
	file_pages_free(file.pages);
}

static void fuzz_names(const uint8_t *data, size_t n)
{
	struct elf_names_request request = { .fd = MEMORY_FD, .n = GRID };
	struct named named;

	request.addrs = named.addrs;
	lay_grid(&named, 0x1000);
	named.starts_before = false; /* of two segments that hold it, any */
	require_error(elf_names(NULL, &request, on_name, &named));
	lay_grid(&named, 0x1000);
	request.linked = true;
	require_error(elf_names(NULL, &request, on_name, &named));
}

/* What one address was called. */
struct called {
	char name[NAME_BYTES_MAX];
	uint64_t start;
};

static int on_called(void *arg, size_t index, const char *name, uint64_t start)
{
	struct called *called = arg;

	REQUIRE(!index && !*called->name && strlen(name) < sizeof(called->name));
	strcpy(called->name, name);
	called->start = start;
	return 0;
}

/* Of a file that is asked about again and again each answer is that of the first time. */
static void fuzz_shelf(const uint8_t *data, size_t n)
{
	static struct called once, again;
	AUTO(symbol_shelf) shelf = NULL;

	REQUIRE(!symbol_shelf_new(&shelf));
	for (size_t i = 0; i < 16; i++) {
		uint64_t at = n / 16 * i;
		const struct elf_names_request request = { MEMORY_FD, &at, 1,
							   i % 4 == 3 };
		int err;

		memset(&once, 0, sizeof(once));
		memset(&again, 0, sizeof(again));
		err = elf_names(NULL, &request, on_called, &once);
		REQUIRE(elf_names(shelf, &request, on_called, &again) == err);
		REQUIRE(once.start == again.start && !strcmp(once.name, again.name));
	}
}

static int on_link(void *arg, size_t index, const char *name, uint64_t start)
{
	size_t n = strlen(name);

	REQUIRE(index < N_ELF_LINKS && n);
	REQUIRE(n < (index == ELF_LINK_ALTERNATE_ID ? BUILD_ID_HEX : ELF_LINK_BYTES));
	if (index == ELF_LINK_ALTERNATE)
		REQUIRE(!strncmp(name, ELF_LINK_DWZ, strlen(ELF_LINK_DWZ)) &&
			!strstr(name, ".."));
	else
		REQUIRE(!memchr(name, '/', n));
	return 0;
}

static int on_same(void *arg, size_t index, const char *name, uint64_t start)
{
	REQUIRE(index == 0);
	return 0;
}

static void fuzz_moved(const uint8_t *data, size_t n)
{
	int fd = memfd_create("image", 0);

	if (write(fd, data, n) == (ssize_t)n)
		require_error(open_move_back(fd, 0x7f1234560000));
	close(fd);
}

static void fuzz_links(const uint8_t *data, size_t n)
{
	static const uint64_t asked[] = { ELF_LINK_DEBUG, ELF_LINK_ALTERNATE,
					  ELF_LINK_ALTERNATE_ID };
	const struct elf_identity by_id = { 20, 0, 0, { 1, 2, 3 } };
	const struct elf_identity by_crc = { 0, 1, 0x12345678, { 0 } };
	uint64_t words[ELF_IDENTITY_WORDS];

	require_error(elf_links(MEMORY_FD, asked, N_ELF_LINKS, on_link, NULL));
	memcpy(words, &by_id, sizeof(words));
	require_error(elf_same(MEMORY_FD, words, ELF_IDENTITY_WORDS, on_same, NULL));
	memcpy(words, &by_crc, sizeof(words));
	require_error(elf_same(MEMORY_FD, words, ELF_IDENTITY_WORDS, on_same, NULL));
}

/* FDEs may overlap or lie about themselves, but none starts behind what it holds. */
static void fuzz_starts(const uint8_t *data, size_t n)
{
	struct named named;

	for (uint64_t from = 0; from <= 0x1000; from += 0x1000) {
		lay_grid(&named, from);
		require_error(
			function_starts(MEMORY_FD, named.addrs, GRID, on_name, &named));
	}
}

static int on_line(void *arg, size_t index, const struct source_location *locations,
		   size_t n)
{
	struct named *named = arg;

	REQUIRE(index < GRID && !named->seen[index]);
	REQUIRE(n && n <= INLINES_MAX + 1 && !*locations[n - 1].name);
	named->seen[index] = 1;
	for (size_t i = 0; i < n; i++) {
		REQUIRE(!*locations[i].file == !locations[i].line);
		REQUIRE(strlen(locations[i].file) < file_n);
		if (i + 1 < n)
			require_clean(locations[i].name);
	}
	return 0;
}

/* From the beginning of the code on, every 4 bytes. */
static void fuzz_go_lines(const struct go_table *table)
{
	struct named named = { .starts_before = true };

	for (size_t i = 0; i < GRID; i++)
		named.addrs[i] = table->text + 4 * i;
	require_error(go_lines(MEMORY_FD, named.addrs, GRID, on_line, &named));
}

/* A name, lines, and how far sp is at each instruction of the function that has them. */
static void fuzz_go(const uint8_t *data, size_t n)
{
	AUTO_GO_TABLE table = { 0 };
	AUTO_ELF file = { 0 };
	struct go_values values;
	struct go_function function;
	struct named named;

	lay_grid(&named, 0);
	require_error(go_names(MEMORY_FD, named.addrs, GRID, on_name, &named));
	if (elf_file_open(&file, MEMORY_FD) || go_table_open(&table, &file))
		return;
	fuzz_go_lines(&table);
	for (uint32_t i = 0; i < table.n_functions; i++) {
		uint64_t end;

		if (!go_table_function(&table, i, &function))
			continue;
		REQUIRE(function.begin <= function.end);
		REQUIRE(strlen(function.name) < table.n);
		go_values_begin(&table, &function, function.sp, &values);
		for (end = function.begin; go_values_next(&values); end = values.end)
			REQUIRE(values.end > end && values.end <= function.end);
	}
}

static void fuzz_plt(const uint8_t *data, size_t n)
{
	struct elf_stub stubs[GRID];
	struct elf_code code[ELF_CODE_MAX];
	struct elf_dynamic dynamic = { 0 };
	AUTO_ELF file = { 0 };
	size_t some;

	if (elf_file_open(&file, MEMORY_FD))
		return;
	some = elf_plt_find(&file, code);
	REQUIRE(some <= ELF_CODE_MAX);
	for (size_t i = 0; i < some; i++)
		REQUIRE(code[i].begin <= code[i].end);
	memset(stubs, 0, sizeof(stubs));
	for (size_t i = 0; i < GRID; i++) {
		stubs[i].vaddr = 0x1000 + 32 * i;
		stubs[i].index = i;
	}
	some = elf_plt_decode(&file, stubs, GRID);
	REQUIRE(some <= GRID);
	for (size_t i = 1; i < some; i++)
		REQUIRE(stubs[i - 1].slot <= stubs[i].slot);
	if (!elf_table_dynamic(&file, &dynamic))
		require_error(elf_plt_resolve(&file, &dynamic, stubs, some));
}

static void fuzz_perf_map(const uint8_t *data, size_t n)
{
	struct named named;

	lay_grid(&named, 0x1000);
	require_error(perf_map_names(MEMORY_FD, named.addrs, GRID, on_name, &named));
}

/* At moments of which each is later than the last, and some that last long. */
static void fuzz_jitdump(const uint8_t *data, size_t n)
{
	uint64_t words[GRID * JITDUMP_QUESTION_WORDS];
	struct named named;

	lay_grid(&named, 0x1000);
	for (size_t i = 0; i < GRID; i++) {
		uint64_t *question = words + JITDUMP_QUESTION_WORDS * i;

		question[0] = named.addrs[i];
		question[1] = 16 * i;
		question[2] = question[1] + (i % 4 ? i : 1ULL << 40);
	}
	require_error(jitdump_names(MEMORY_FD, words, GRID * JITDUMP_QUESTION_WORDS,
				    on_jitdump_name, &named));
}

static void fuzz_kallsyms(const uint8_t *data, size_t n)
{
	struct named named;

	lay_grid(&named, 0xffffffff81000000);
	require_error(kallsyms_names(MEMORY_FD, named.addrs, GRID, on_name, &named));
}

static void fuzz_side_event(const uint8_t *data, size_t n)
{
	static struct side_event event, again;
	AUTO_STR bytes = { 0 };

	side_event_time(data, n);
	if (side_event_read(&event, data, n))
		return;
	REQUIRE(event.kind <= SIDE_OTHER);
	REQUIRE(event.kind != SIDE_MMAP || memchr(event.path, '\0', sizeof(event.path)));
	if (event.kind != SIDE_MMAP)
		return;
	side_event_write(&bytes, &event);
	REQUIRE(!side_event_read(&again, bytes.s, bytes.n));
	REQUIRE(again.start == event.start && !strcmp(again.path, event.path));
}

static const struct target {
	const char *name;
	void (*run)(const uint8_t *data, size_t n);
} targets[] = {
	{ "elf_scan", fuzz_elf_scan },
	{ "fde_index", fuzz_fde_index },
	{ "fde_cfa", fuzz_fde_cfa },
	{ "flow", fuzz_flow },
	{ "names", fuzz_names },
	{ "shelf", fuzz_shelf },
	{ "links", fuzz_links },
	{ "moved", fuzz_moved },
	{ "starts", fuzz_starts },
	{ "go", fuzz_go },
	{ "go_rules", fuzz_go_rules },
	{ "leaf", fuzz_leaf },
	{ "plt", fuzz_plt },
	{ "perf_map", fuzz_perf_map },
	{ "jitdump", fuzz_jitdump },
	{ "kallsyms", fuzz_kallsyms },
	{ "demangle", fuzz_demangle },
	{ "resource", fuzz_resource },
	{ "process_context", fuzz_process_context },
	{ "attributes", fuzz_attributes },
	{ "side_event", fuzz_side_event },
	{ "short_names", fuzz_short_names },
	{ "tape", fuzz_tape },
	{ "replies", fuzz_replies },
	{ "otlp", fuzz_otlp },
	{ "pprof_part", fuzz_pprof_part },
	{ "split", fuzz_split },
	{ "inflater", fuzz_inflater },
};

static const struct target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ");

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (name && !strcmp(targets[i].name, name))
			target = &targets[i];
	if (!target) {
		fprintf(stderr, "FUZZ=");
		for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
			fprintf(stderr, "%s%s", i ? "|" : "", targets[i].name);
		fprintf(stderr, " parsers …\n");
		exit(2);
	}
	if (getenv("FUZZ_SEEDS"))
		write_replies(getenv("FUZZ_SEEDS"));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	file_bytes = data;
	file_n = n;
	target->run(data, n);
	error_clear();
	return 0;
}
