// SPDX-License-Identifier: BSD-2-Clause
/*
 * Corrupts files, the same way in every run.
 *
 *	corrupt name IN OUT NAME         the symbol of libspin.c is called NAME
 *	corrupt elf IN FOLDER KEEP BYTES one file for each way of being wrong that
 *	                                 is below; BYTES at KEEP stay as they are
 *	corrupt flip IN OUT SEED         some bytes of OUT are others
 *	corrupt long IN OUT              both symbol tables of OUT go on for TABLE_BYTES,
 *	                                 which take no room on disk
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOL	     "spin_under_this_long_name"
#define FILE_MAX     (64u << 20)
#define RANDOM_FILES 12
#define TABLE_BYTES  (256LL << 30)

struct file {
	unsigned char *bytes;
	size_t n;
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static void stop(const char *what)
{
	perror(what);
	exit(1);
}

static struct file read_file(const char *path)
{
	struct file file = { malloc(FILE_MAX), 0 };
	FILE *f = fopen(path, "rb");

	if (!f || !file.bytes)
		stop(path);
	file.n = fread(file.bytes, 1, FILE_MAX, f);
	fclose(f);
	return file;
}

static void write_file(const char *path, const struct file *file)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(file->bytes, 1, file->n, f) != file->n || fclose(f))
		stop(path);
}

static Elf64_Ehdr *header_of(struct file *file)
{
	return (Elf64_Ehdr *)file->bytes;
}

static Elf64_Shdr *section(struct file *file, uint32_t type)
{
	Elf64_Shdr *sections = (Elf64_Shdr *)(file->bytes + header_of(file)->e_shoff);

	for (int i = 0; i < header_of(file)->e_shnum; i++)
		if (sections[i].sh_type == type)
			return &sections[i];
	fprintf(stderr, "no section of type %u\n", type);
	exit(1);
}

static Elf64_Phdr *segment(struct file *file, uint32_t type)
{
	Elf64_Phdr *segments = (Elf64_Phdr *)(file->bytes + header_of(file)->e_phoff);

	for (int i = 0; i < header_of(file)->e_phnum; i++)
		if (segments[i].p_type == type)
			return &segments[i];
	fprintf(stderr, "no segment of type %u\n", type);
	exit(1);
}

static void sections_garbage(struct file *file)
{
	memset(file->bytes + header_of(file)->e_shoff, 0xff,
	       header_of(file)->e_shnum * sizeof(Elf64_Shdr));
}

static void sections_beyond(struct file *file)
{
	header_of(file)->e_shoff = UINT64_MAX - 8;
}

static void sections_many(struct file *file)
{
	header_of(file)->e_shnum = 0xffff;
}

static void segments_garbage(struct file *file)
{
	memset(file->bytes + header_of(file)->e_phoff, 0xff,
	       header_of(file)->e_phnum * sizeof(Elf64_Phdr));
}

static void segments_wrap(struct file *file)
{
	Elf64_Phdr *load = segment(file, PT_LOAD);

	load->p_offset = UINT64_MAX - 4095;
	load->p_filesz = load->p_memsz = UINT64_MAX;
}

static void symbols_endless(struct file *file)
{
	section(file, SHT_SYMTAB)->sh_size = UINT64_MAX;
	section(file, SHT_DYNSYM)->sh_size = UINT64_MAX;
}

static void symbols_of_no_size(struct file *file)
{
	section(file, SHT_SYMTAB)->sh_entsize = 0;
}

static void symbols_garbage(struct file *file)
{
	Elf64_Shdr *table = section(file, SHT_SYMTAB);

	memset(file->bytes + table->sh_offset, 0xff, table->sh_size);
}

static void symbols_without_names(struct file *file)
{
	section(file, SHT_SYMTAB)->sh_link = UINT32_MAX;
}

static void names_garbage(struct file *file)
{
	Elf64_Shdr *sections = (Elf64_Shdr *)(file->bytes + header_of(file)->e_shoff);
	Elf64_Shdr *table = &sections[section(file, SHT_SYMTAB)->sh_link];

	memset(file->bytes + table->sh_offset, 0xff, table->sh_size);
}

static void dynamic_garbage(struct file *file)
{
	Elf64_Phdr *dynamic = segment(file, PT_DYNAMIC);

	for (size_t i = 0; i + 16 <= dynamic->p_filesz; i += 16)
		memset(file->bytes + dynamic->p_offset + i + 8, 0xff, 8);
	symbols_garbage(file);
}

static void hash_endless(struct file *file)
{
	Elf64_Shdr *hash = section(file, SHT_GNU_HASH);
	uint32_t words[] = { UINT32_MAX, 0, UINT32_MAX, UINT32_MAX };

	memcpy(file->bytes + hash->sh_offset, words, sizeof(words));
	section(file, SHT_SYMTAB)->sh_type = SHT_NULL;
}

static void note_endless(struct file *file)
{
	Elf64_Phdr *note = segment(file, PT_NOTE);

	memset(file->bytes + note->p_offset, 0xff, 8);
	note->p_filesz = UINT64_MAX;
}

static void of_32_bits(struct file *file)
{
	header_of(file)->e_ident[EI_CLASS] = ELFCLASS32;
}

static void no_elf(struct file *file)
{
	memset(file->bytes, 0, sizeof(Elf64_Ehdr));
}

static const struct {
	const char *name;
	void (*corrupt)(struct file *file);
} ways[] = {
#define WAY(name)                                                                        \
	{                                                                                \
#name, name                                                              \
	}
	WAY(sections_garbage),	 WAY(sections_beyond), WAY(sections_many),
	WAY(segments_garbage),	 WAY(segments_wrap),   WAY(symbols_endless),
	WAY(symbols_of_no_size), WAY(symbols_garbage), WAY(symbols_without_names),
	WAY(names_garbage),	 WAY(dynamic_garbage), WAY(hash_endless),
	WAY(note_endless),	 WAY(of_32_bits),      WAY(no_elf),
#undef WAY
};

static void flip(struct file *file, uint64_t seed, unsigned int most)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;

	next_random(&state);
	for (uint64_t n = 1 + next_random(&state) % most; file->n && n; n--)
		file->bytes[next_random(&state) % file->n] =
			(unsigned char)next_random(&state);
}

static void write_variant(const char *folder, const char *name, const struct file *file)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.so", folder, name);
	write_file(path, file);
}

static void corrupt_elf(const char *in, const char *folder, size_t keep, size_t bytes)
{
	struct file good = read_file(in);
	struct file bad = { malloc(good.n), good.n };
	char name[32];

	if (!bad.bytes || keep + bytes > good.n)
		stop(in);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) + RANDOM_FILES; i++) {
		memcpy(bad.bytes, good.bytes, good.n);
		if (i < RANDOM_FILES)
			flip(&bad, i, 4u << i);
		else
			ways[i - RANDOM_FILES].corrupt(&bad);
		memcpy(bad.bytes + keep, good.bytes + keep, bytes);
		snprintf(name, sizeof(name), "random_%zu", i);
		write_variant(folder,
			      i < RANDOM_FILES ? name : ways[i - RANDOM_FILES].name,
			      &bad);
	}
}

/* Wherever it stands: in .strtab and in .dynstr. */
static void corrupt_name(const char *in, const char *out, const char *name)
{
	struct file file = read_file(in);
	char padded[sizeof(SYMBOL)] = "";
	unsigned char *at = file.bytes;

	memcpy(padded, name, strnlen(name, sizeof(padded) - 1));
	while ((at = memmem(at, file.n - (size_t)(at - file.bytes), SYMBOL,
			    strlen(SYMBOL))))
		memcpy(at, padded, strlen(SYMBOL));
	write_file(out, &file);
}

static void corrupt_long(const char *in, const char *out)
{
	struct file file = read_file(in);
	Elf64_Shdr *tables[] = { section(&file, SHT_SYMTAB), section(&file, SHT_DYNSYM) };

	for (int i = 0; i < 2; i++) {
		tables[i]->sh_offset = (file.n + 7) & ~(size_t)7;
		tables[i]->sh_size = TABLE_BYTES;
	}
	write_file(out, &file);
	if (truncate(out, TABLE_BYTES + 2 * FILE_MAX))
		stop(out);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "name")) {
		corrupt_name(argv[2], argv[3], argv[4]);
	} else if (argc == 6 && !strcmp(argv[1], "elf")) {
		corrupt_elf(argv[2], argv[3], strtoul(argv[4], NULL, 0),
			    strtoul(argv[5], NULL, 0));
	} else if (argc == 5 && !strcmp(argv[1], "flip")) {
		struct file file = read_file(argv[2]);

		flip(&file, strtoul(argv[4], NULL, 0), 8);
		write_file(argv[3], &file);
	} else if (argc == 4 && !strcmp(argv[1], "long")) {
		corrupt_long(argv[2], argv[3]);
	} else {
		fprintf(stderr, "usage: corrupt name|elf|flip|long …\n");
		return 2;
	}
	return 0;
}
