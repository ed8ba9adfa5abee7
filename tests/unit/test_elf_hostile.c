/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files that are cut, damaged or made up. Whatever they say, a scan and a
 * naming end soon, within bounds, and with an error that fits; the sanitizers
 * see to the rest.
 */
#include "named.h"

#include "obj/elf_scan.h"
#include "obj/names.h"

#include <errno.h>

#define FLIPS	4000
#define QUERIES 64

static const char source_c[] = "#include <stdio.h>\n"
			       "unsigned folly_async_stack_root_tls_key = -1;\n"
			       "int f(int n) { return puts(\"f\") + n; }\n"
			       "int g(int n) { return printf(\"%d\", f(n)) + n; }\n"
			       "asm(\".text\\n.globl bare\\nbare: nop\\n nop\\n\");\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", source_c, strlen(source_c));
	return shell("gcc -O1 -fPIC -shared s.c -o whole &&"
		     "strip -o stripped whole &&"
		     "gcc -O1 -fPIC -shared -Wl,--hash-style=sysv s.c -o sysv");
}

static int check_name(void *arg, size_t index, const char *name, uint64_t start)
{
	size_t n = strlen(name);

	(*(size_t *)arg)++;
	assert_true(index < QUERIES);
	assert_true(n > 0 && n < 1024);
	for (size_t i = 0; i < n; i++)
		assert_true((unsigned char)name[i] >= 0x20 && name[i] != 0x7f);
	return 0;
}

static bool is_expected(int err)
{
	return !err || err == -ENOEXEC || err == -EBADMSG;
}

static size_t try_names(int fd, size_t file_bytes)
{
	uint64_t addrs[QUERIES];
	size_t named = 0;

	for (size_t i = 0; i < QUERIES; i++)
		addrs[i] = 0x1000 + i * (i < 48 ? 8 : file_bytes / 8);
	assert_true(is_expected(file_names(fd, addrs, QUERIES, check_name, &named)));
	assert_true(is_expected(linked_names(fd, addrs, QUERIES, check_name, &named)));
	return named;
}

static void check_bounds(const struct elf_info *info)
{
	assert_true(info->n_segments <= SEGMENTS_MAX);
	assert_true(info->n_keys <= FILE_KEYS_MAX);
	assert_true(info->build_id_bytes <= BUILD_ID_MAX);
	assert_true(info->libc <= LIBC_MUSL);
	assert_true(info->hides_key <= 1);
	assert_true(info->context.access < N_TLS_ACCESSES);
}

static void survives_truncation(void **state)
{
	struct elf_info info;
	unsigned char *bytes;
	size_t n;

	bytes = read_file("whole", &n);
	for (size_t cut = 0; cut < n; cut += cut < 4096 ? 7 : 61) {
		int fd = bytes_fd(bytes, cut), err = elf_scan(fd, &info);

		if (!err)
			check_bounds(&info);
		else
			assert_true(is_expected(err));
		try_names(fd, n);
		close(fd);
	}
	free(bytes);
}

/* Where a flip does most: headers, dynamic section, hash, symbols. */
static size_t place(uint64_t *seed, size_t n)
{
	return next_random(seed) % (next_random(seed) % 4 ? 0x800 : n);
}

static void flip_bytes(const char *path)
{
	uint64_t seed = 0x5eed;
	unsigned char *bytes;
	size_t n, done = 0, named = 0;

	bytes = read_file(path, &n);
	for (int i = 0; i < FLIPS; i++) {
		size_t where[4];
		unsigned char was[4];
		struct elf_info info;
		int fd, err;

		for (int k = 0; k < 4; k++) {
			where[k] = place(&seed, n);
			was[k] = bytes[where[k]];
			bytes[where[k]] = (unsigned char)next_random(&seed);
		}
		fd = bytes_fd(bytes, n);
		err = elf_scan(fd, &info);
		done += err == 0;
		if (!err)
			check_bounds(&info);
		named += try_names(fd, n);
		close(fd);
		for (int k = 3; k >= 0; k--)
			bytes[where[k]] = was[k];
	}
	assert_true(done > FLIPS / 10);
	assert_true(named > FLIPS / 10);
	free(bytes);
}

static void survives_flipped_bytes(void **state)
{
	flip_bytes("whole");
	flip_bytes("stripped");
	flip_bytes("sysv");
}

/* A terabyte of holes whose headers claim tables of that size. */
static void is_not_drawn_into_a_huge_file(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr phdrs[3];
		Elf64_Dyn dynamic[6];
		uint32_t hash[2];
	} bytes = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_type = ET_DYN,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 3 },
		.hash = { 1, UINT32_MAX },
	};
	const uint64_t terabyte = 1ULL << 40;
	struct elf_info info;
	double begun;
	int fd;

	bytes.phdrs[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				       .p_flags = PF_R | PF_X,
				       .p_filesz = terabyte,
				       .p_memsz = terabyte };
	bytes.phdrs[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				       .p_offset = offsetof(__typeof__(bytes), dynamic),
				       .p_filesz = sizeof(bytes.dynamic) };
	bytes.phdrs[2] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_filesz = terabyte };
	bytes.dynamic[0] = (Elf64_Dyn){ DT_SYMTAB, { 4096 } };
	bytes.dynamic[1] = (Elf64_Dyn){ DT_STRTAB, { 8192 } };
	bytes.dynamic[2] = (Elf64_Dyn){ DT_STRSZ, { terabyte } };
	bytes.dynamic[3] = (Elf64_Dyn){ DT_HASH, { offsetof(__typeof__(bytes), hash) } };
	write_file("huge", &bytes, sizeof(bytes));
	assert_int_equal(truncate("huge", (off_t)terabyte), 0);
	begun = cpu_seconds();
	fd = open_file("huge");
	assert_int_equal(elf_scan(fd, &info), 0);
	assert_true(cpu_seconds() - begun < 5);
	assert_int_equal(info.n_keys, 0);
	assert_int_equal(info.n_segments, 1);
	begun = cpu_seconds();
	try_names(fd, terabyte);
	assert_true(cpu_seconds() - begun < 5);
	close(fd);
}

/* Every one covers every query: the work is bounded, not only the memory. */
static void is_not_kept_busy_by_overlaps(void **state)
{
	const size_t n_syms = 1 << 20;
	struct overlaps {
		Elf64_Ehdr header;
		Elf64_Phdr phdr;
		Elf64_Shdr shdrs[3];
		char strings[8];
	} head = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_type = ET_DYN,
			    .e_phoff = offsetof(struct overlaps, phdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shoff = offsetof(struct overlaps, shdrs),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3 },
		.phdr = { .p_type = PT_LOAD,
			  .p_flags = PF_X,
			  .p_filesz = 1 << 24,
			  .p_memsz = 1 << 24 },
		.strings = "\0a\0_a",
	};
	Elf64_Sym *syms = calloc(n_syms, sizeof(*syms));
	size_t bytes = sizeof(head) + n_syms * sizeof(*syms);
	unsigned char *file = malloc(bytes);
	double begun = cpu_seconds();
	int fd;

	head.shdrs[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_offset = sizeof(head),
				      .sh_size = n_syms * sizeof(*syms),
				      .sh_entsize = sizeof(*syms),
				      .sh_link = 2 };
	head.shdrs[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct overlaps, strings),
				      .sh_size = sizeof(head.strings) };
	for (size_t i = 0; i < n_syms; i++)
		syms[i] = (Elf64_Sym){ .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				       .st_name = 1 + 2 * (i & 1),
				       .st_shndx = 1,
				       .st_value = i & 0xfff,
				       .st_size = 1 << 24 };
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), syms, n_syms * sizeof(*syms));
	fd = bytes_fd(file, bytes);
	assert_int_equal(try_names(fd, 1 << 20), 2 * QUERIES);
	assert_true(cpu_seconds() - begun < 10);
	close(fd);
	free(file);
	free(syms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_truncation),
		cmocka_unit_test(survives_flipped_bytes),
		cmocka_unit_test(is_not_drawn_into_a_huge_file),
		cmocka_unit_test(is_not_kept_busy_by_overlaps),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
