/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information made by hand, byte by byte, in a file of its own: code at
 * CODE, the section at FRAME. Nothing of user/obj writes it.
 */
#ifndef WEFT_TESTS_CFI_MADE_H
#define WEFT_TESTS_CFI_MADE_H

#include "elf_files.h"

#include "unwind/cfi.h"

#define CODE	   0x100000u
#define CODE_BYTES (64u << 20)
#define FRAME	   0x1000u
#define MADE_BYTES (2u << 20)

struct made {
	uint8_t bytes[MADE_BYTES];
	size_t n;
	size_t record;		 /* where the one being written begins */
	uint32_t cie;		 /* offset of the last */
	bool debug, arm64, bare; /* bare: without section headers */
};

static inline void put(struct made *made, const void *bytes, size_t n)
{
	assert_true(made->n + n <= sizeof(made->bytes));
	memcpy(made->bytes + made->n, bytes, n);
	made->n += n;
}

static inline void put8(struct made *made, uint8_t value)
{
	put(made, &value, 1);
}

static inline UNUSED void put32(struct made *made, uint32_t value)
{
	put(made, &value, 4);
}

static inline UNUSED void put64(struct made *made, uint64_t value)
{
	put(made, &value, 8);
}

static inline UNUSED void put_uleb(struct made *made, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put8(made, (uint8_t)(value | 0x80));
	put8(made, (uint8_t)value);
}

static inline void begin_record(struct made *made)
{
	made->record = made->n;
	put32(made, 0);
}

static inline void end_record(struct made *made)
{
	uint32_t length = (uint32_t)(made->n - made->record - 4);

	memcpy(made->bytes + made->record, &length, 4);
}

static inline UNUSED void put_cie(struct made *made, const char *letters,
				  const void *data, size_t n_data)
{
	static const uint8_t x86[] = { 0x0c, 7, 8, 0x90, 1 }; /* rsp + 8; ra at -8 */
	static const uint8_t arm64[] = { 0x0c, 31, 0 };

	begin_record(made);
	made->cie = (uint32_t)made->record;
	put32(made, made->debug ? UINT32_MAX : 0);
	put8(made, 1);
	put(made, letters, strlen(letters) + 1);
	put8(made, made->arm64 ? 4 : 1);
	put8(made, 0x78); /* -8 */
	put8(made, made->arm64 ? 30 : 16);
	if (*letters == 'z')
		put_uleb(made, n_data);
	put(made, data, n_data);
	if (made->arm64)
		put(made, arm64, sizeof(arm64));
	else
		put(made, x86, sizeof(x86));
	end_record(made);
}

/* For addresses as they are, 8 bytes each; in .eh_frame, relative to the place. */
static inline UNUSED void put_plain_cie(struct made *made)
{
	static const uint8_t pcrel_s4[] = { 0x1b };

	if (made->debug)
		put_cie(made, "", "", 0);
	else
		put_cie(made, "zR", pcrel_s4, 1);
}

static inline void begin_fde(struct made *made)
{
	begin_record(made);
	put32(made, made->debug ? made->cie : (uint32_t)made->n - made->cie);
}

static inline UNUSED void put_fde(struct made *made, uint32_t begin, uint32_t n,
				  const void *code, size_t n_code)
{
	begin_fde(made);
	if (made->debug) {
		put64(made, begin);
		put64(made, n);
	} else {
		put32(made, begin - (FRAME + (uint32_t)made->n));
		put32(made, n);
		put8(made, 0); /* augmentation */
	}
	put(made, code, n_code);
	end_record(made);
}

struct made_file {
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[3];
	Elf64_Shdr shdrs[3];
	char names[32];
	uint8_t header_frame[8];
};

static inline int made_fd(const struct made *made)
{
	const uint64_t hdr = offsetof(struct made_file, header_frame);
	int32_t distance = (int32_t)(FRAME - (FRAME - 8) - 4);
	struct made_file file = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_type = ET_DYN,
			    .e_machine = made->arm64 ? EM_AARCH64 : EM_X86_64,
			    .e_phoff = offsetof(struct made_file, phdrs),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 3,
			    .e_shoff = made->bare ? 0 : offsetof(struct made_file, shdrs),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = made->bare ? 0 : 3,
			    .e_shstrndx = made->bare ? 0 : 1 },
		.header_frame = { 1, 0x1b, 0xff, 0xff },
	};
	int fd;

	memcpy(file.header_frame + 4, &distance, 4);
	file.phdrs[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_offset = sizeof(file),
				      .p_vaddr = CODE,
				      .p_filesz = made->n,
				      .p_memsz = CODE_BYTES };
	file.phdrs[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R,
				      .p_offset = hdr,
				      .p_vaddr = FRAME - 8,
				      .p_filesz = 8 + made->n };
	file.phdrs[2] = file.phdrs[1];
	file.phdrs[2].p_type = PT_GNU_EH_FRAME;
	file.shdrs[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct made_file, names),
				      .sh_size = sizeof(file.names) };
	file.shdrs[2] = (Elf64_Shdr){ .sh_name = 1,
				      .sh_type = SHT_PROGBITS,
				      .sh_addr = made->debug ? 0 : FRAME,
				      .sh_offset = sizeof(file),
				      .sh_size = made->n };
	strcpy(file.names + 1, made->debug ? ".debug_frame" : ".eh_frame");
	fd = bytes_fd(&file, sizeof(file));
	assert_int_equal(write(fd, made->bytes, made->n), made->n);
	return fd;
}

#define ROWS_MAX 4096

struct rows {
	size_t n;
	struct row {
		uint64_t pc;
		struct unwind_rule rule;
	} items[ROWS_MAX];
	struct cfi_stats stats;
	int err;
};

static inline int rows_take(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct rows *rows = arg;

	assert_true(!rows->n || pc > rows->items[rows->n - 1].pc);
	assert_true(rows->n < ROWS_MAX);
	rows->items[rows->n++] = (struct row){ pc, *rule };
	return 0;
}

static inline UNUSED void rows_read(struct rows *rows, const struct made *made)
{
	const struct cfi_sink sink = { .arg = rows, .row = rows_take };
	int fd = made_fd(made);
	AUTO_ELF file = { 0 };

	memset(rows, 0, sizeof(*rows));
	assert_int_equal(elf_file_open(&file, fd), 0);
	rows->err = cfi_read(&file, &sink, &rows->stats);
	close(fd);
}

/* A function that begins as a call leaves the stack is told so; later it is not. */
static inline void rows_check_first(struct rows *rows, const struct made *made)
{
	struct unwind_rule *rule = rows->n ? &rows->items[0].rule : NULL;

	if (!rule || rule->cfa != UNWIND_CFA_SP || rule->fp != UNWIND_FP_SAME ||
	    rule->cfa_offset != (made->arm64 ? 0 : 8))
		return;
	assert_true(rule->reg == UNWIND_FIRST || rule->reg == UNWIND_LEADS);
	if (rule->reg == UNWIND_FIRST)
		rule->reg = 0;
}

#endif
