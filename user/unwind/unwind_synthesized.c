// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_synthesized.h"

#include "base/error.h"
#include "obj/x86_insn.h"

#include <string.h>

#define FIRST_BYTES  32 /* arm64's entry that resolves a name, where there is one */
#define PUSH	     0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */
#define WORD	     4
#define X86_ENTRY    16
#define X86_NO_PUSH  16 /* in none of an entry's bytes */
#define X86_BYTES    48 /* the first entries: mold's first has two's */
#define X86_PUSH_GOT 6	/* push GOT+8(%rip) */
#define X86_PUSH_R11 2

#define EH_INDEX_BYTES 8 /* of .eh_frame_hdr, for an entry that tells of code */
#define LARGE_CODE     (32u << 20)
#define CODE_EACH      4096 /* bytes: where an entry has more, hardly any is told */

static void add(struct synthesized_code *code, uint64_t pc, struct unwind_rule rule)
{
	if (pc < code->end) {
		code->rows[code->n].pc = pc;
		code->rows[code->n++].rule = rule;
	}
}

static struct unwind_rule arm64_rule(int offset)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
				     .cfa_offset = offset,
				     .ra = UNWIND_RA_LR };
}

static void look_at_arm64(struct elf_file *file, uint64_t offset,
			  struct synthesized_code *code)
{
	uint32_t words[2]; /* the push may follow a bti */

	if (code->end - code->begin < FIRST_BYTES ||
	    elf_file_read(file, offset, words, sizeof(words)))
		return;
	add(code, code->begin, arm64_rule(0));
	for (uint64_t i = 0; i < 2; i++) {
		if (words[i] != PUSH)
			continue;
		add(code, code->begin + (i + 1) * WORD, arm64_rule(16));
		add(code, code->begin + FIRST_BYTES, arm64_rule(0));
		break;
	}
}

static struct unwind_rule x86_rule(enum unwind_cfa cfa, int offset, size_t pushed)
{
	return (struct unwind_rule){ .cfa = (unsigned char)cfa,
				     .cfa_offset = offset,
				     .reg = (unsigned char)pushed,
				     .ra_words = -1 };
}

/* [endbr64] [[bnd] jmp *slot(%rip)] [push $n], the one or the other or both; or as mold
 * has it, [endbr64] mov $n, %r11d; jmp *slot(%rip). Where it has pushed, X86_NO_PUSH, or
 * 0: it is something else. */
static size_t x86_pushed(const unsigned char *stub)
{
	size_t at = x86_insn_endbr64(stub, X86_ENTRY), jump;

	if (stub[at] == 0x41 && stub[at + 1] == 0xbb) /* mov $n, %r11d: it pushes none */
		return stub[at + 6] == 0xff && stub[at + 7] == 0x25 ? X86_NO_PUSH : 0;
	jump = at + (stub[at] == 0xf2);
	if (stub[jump] == 0xff && stub[jump + 1] == 0x25) {
		at = jump + 6;
		return stub[at] == 0x68 ? at + 5 : X86_NO_PUSH;
	}
	return stub[at] == 0x68 ? at + 5 : 0;
}

/* The entry that resolves a name: push GOT+8(%rip); [bnd] jmp *GOT+16(%rip). Or mold's:
 * [endbr64] push %r11 before that. Its bytes; 0: there is none. */
static size_t look_at_first(const unsigned char *bytes, struct synthesized_code *code)
{
	size_t at = x86_insn_endbr64(bytes, X86_BYTES);
	bool is_molds = bytes[at] == 0x41 && bytes[at + 1] == 0x53;

	at = is_molds ? at + X86_PUSH_R11 : 0;
	if (bytes[at] != 0xff || bytes[at + 1] != 0x35)
		return 0;
	if (is_molds) /* others' stubs have pushed a number by then */
		add(code, code->begin, x86_rule(UNWIND_CFA_SP, 8, 0));
	add(code, code->begin + at, x86_rule(UNWIND_CFA_SP, 16, 0));
	add(code, code->begin + at + X86_PUSH_GOT, x86_rule(UNWIND_CFA_SP, 24, 0));
	return is_molds ? 2 * X86_ENTRY : X86_ENTRY;
}

static void look_at_x86(struct elf_file *file, uint64_t offset,
			struct synthesized_code *code)
{
	unsigned char bytes[X86_BYTES] = { 0 };
	uint64_t n = code->end - code->begin, first;
	size_t pushed;

	if (elf_file_read(file, offset, bytes, n < X86_BYTES ? n : X86_BYTES))
		return;
	first = look_at_first(bytes, code);
	pushed = x86_pushed(bytes + first);
	/* where an entry has pushed, its place in 16 bytes says; a static program's may
	 * begin anywhere, and push nothing */
	if (pushed == X86_NO_PUSH || (pushed && code->begin % X86_ENTRY == 0))
		add(code, code->begin + first, x86_rule(UNWIND_CFA_PLT, 8, pushed));
	else
		code->n = 0; /* nothing, rather than half of it */
}

/* [endbr64]; sub $8, %rsp; …; add $8, %rsp; ret: pieces that a linker joins */
static void look_at_init(struct elf_file *file, uint64_t offset,
			 struct synthesized_code *code)
{
	static const unsigned char push[] = { 0x48, 0x83, 0xec, 0x08 };
	static const unsigned char pop_ret[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	unsigned char first[X86_ENDBR64_BYTES + sizeof(push)], last[sizeof(pop_ret)];
	uint64_t n = code->end - code->begin;
	size_t at;

	if (n < sizeof(push) + sizeof(last) ||
	    elf_file_read(file, offset, first, sizeof(first)) ||
	    elf_file_read(file, offset + n - sizeof(last), last, sizeof(last)))
		return;
	at = x86_insn_endbr64(first, sizeof(first));
	if (memcmp(first + at, push, sizeof(push)) ||
	    memcmp(last, pop_ret, sizeof(pop_ret)))
		return;
	/* by the PLT's rule, since it says nothing of what a file does that keeps
	 * frame pointers */
	add(code, code->begin, x86_rule(UNWIND_CFA_PLT, 8, X86_NO_PUSH));
	add(code, code->begin + at + sizeof(push),
	    x86_rule(UNWIND_CFA_PLT, 16, X86_NO_PUSH));
	add(code, code->end - 1, x86_rule(UNWIND_CFA_PLT, 8, X86_NO_PUSH));
}

#define ENTRY_MAX 128 /* glibc's dynamic linker has 61, for arm64 80 */

static bool arm64_leaves(uint32_t word)
{
	return word >> 26 == 5 ||		    /* b */
	       (word & 0xfffffc1f) == 0xd61f0000 || /* br */
	       (word & 0xfffffc1f) == 0xd65f0000 || /* ret */
	       (word & 0xffe0001f) == 0xd4200000;   /* brk */
}

/* The bytes of the code up to where it leaves for good; 0: it can't be told. */
static size_t entry_bytes(const struct elf_file *file, const unsigned char *bytes,
			  size_t n)
{
	for (size_t at = 0; at < n;) {
		bool arm64 = file->header.e_machine == EM_AARCH64, calls, by_register;
		size_t one = arm64 ? WORD : x86_insn_bytes(bytes + at, n - at, &calls);
		uint32_t word;

		if (!one || at + one > n)
			return 0;
		memcpy(&word, bytes + at, arm64 ? sizeof(word) : 1);
		if (arm64 ? arm64_leaves(word)
			  : x86_insn_leaves(bytes + at, one, &by_register))
			return at + one;
		at += one;
	}
	return 0;
}

/* Linkers gave libraries an entry point, too: the first byte of .text. The dynamic
 * linker, which is none of a program's kind, has its own in the middle. */
static bool has_entry(const struct elf_file *file)
{
	uint64_t entry = file->header.e_entry;

	if (!entry || file->header.e_type == ET_EXEC)
		return entry != 0;
	for (size_t i = 0; i < file->n_phdrs; i++)
		if (file->phdrs[i].p_type == PT_INTERP)
			return true;
	for (size_t i = 0; i < file->n_shdrs; i++)
		if (file->shdrs[i].sh_addr == entry)
			return false;
	return file->n_shdrs > 0;
}

static void look_at_entry(struct elf_file *file, struct synthesized_code *code)
{
	unsigned char bytes[ENTRY_MAX];
	uint64_t offset, n;

	*code = (struct synthesized_code){ .begin = file->header.e_entry,
					   .may_be_cut = true };
	if (!has_entry(file) || !elf_file_loads(file, code->begin, 1, PF_X) ||
	    !elf_file_offset(file, code->begin, &offset, &n))
		return;
	n = n < sizeof(bytes) ? n : sizeof(bytes);
	if (elf_file_read(file, offset, bytes, n))
		return;
	code->end = code->begin + entry_bytes(file, bytes, n);
	add(code, code->begin, (struct unwind_rule){ .cfa = UNWIND_CFA_END });
}

/* Puts code in its place by address; what overlaps it stays out, so that rows rise
 * whatever the headers say. */
static void put(struct unwind_synthesized *synthesized,
		const struct synthesized_code *code)
{
	size_t at = synthesized->n;

	while (at > 0 && synthesized->code[at - 1].begin >= code->end)
		at--;
	if (!code->n || (at > 0 && synthesized->code[at - 1].end > code->begin))
		return;
	memmove(synthesized->code + at + 1, synthesized->code + at,
		(synthesized->n++ - at) * sizeof(*code));
	synthesized->code[at] = *code;
}

/* Is there more code than is read soon, of which hardly any is told? Chromium has, as its
 * makers build it, and what is built on it: 6,000 entries for 151 MB. */
static bool hardly_tells(const struct elf_file *file)
{
	uint64_t code = 0, entries = 0;

	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X)
			code += ph->p_filesz;
		else if (ph->p_type == PT_GNU_EH_FRAME)
			entries = ph->p_filesz / EH_INDEX_BYTES;
	}
	return code > LARGE_CODE && code / CODE_EACH > entries;
}

void unwind_synthesized_open(struct unwind_synthesized *synthesized,
			     struct elf_file *file, const struct cfi_sink *sink)
{
	bool arm64 = file->header.e_machine == EM_AARCH64;
	struct elf_code ranges[ELF_CODE_MAX];
	size_t n = elf_plt_find(file, ranges);
	struct synthesized_code code;

	*synthesized = (struct unwind_synthesized){
		.file = file,
		.sink = sink,
		.budget = { .bytes = GAP_BYTES_MAX,
			    .v8_bytes = V8_BYTES_MAX,
			    .spares_fp = hardly_tells(file) },
	};
	if (!arm64 && file->header.e_machine != EM_X86_64)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t offset, bytes;

		code = (struct synthesized_code){ .begin = ranges[i].begin,
						  .end = ranges[i].end };
		if (!elf_file_offset(file, code.begin, &offset, &bytes))
			continue;
		if (!ranges[i].is_init)
			(arm64 ? look_at_arm64 : look_at_x86)(file, offset, &code);
		else if (!arm64)
			look_at_init(file, offset, &code);
		put(synthesized, &code);
	}
	look_at_entry(file, &code);
	put(synthesized, &code);
	error_clear(); /* what can't be read stays unknown */
}

static int tell(const struct unwind_synthesized *synthesized,
		const struct synthesized_code *code)
{
	static const struct unwind_rule none;
	const struct cfi_sink *sink = synthesized->sink;
	int err = 0;

	for (size_t i = 0; !err && i < code->n; i++)
		err = sink->row(sink->arg, code->rows[i].pc, &code->rows[i].rule);
	return err ? err : sink->row(sink->arg, code->end, &none);
}

/* The code before pc of which no row before this one says anything. */
static int tell_until(struct unwind_synthesized *synthesized, uint64_t pc)
{
	int err = 0;

	for (; !err && synthesized->next < synthesized->n; synthesized->next++) {
		struct synthesized_code *code = &synthesized->code[synthesized->next];

		if (code->may_be_cut && pc > code->begin && pc < code->end)
			code->end = pc;
		if (code->end > pc)
			break;
		if (!synthesized->covered &&
		    (!synthesized->any || synthesized->pc <= code->begin))
			err = tell(synthesized, code);
	}
	return err;
}

/* Of code between rows, and of what else is told. */
static int tell_piece(struct unwind_synthesized *synthesized, uint64_t begin,
		      uint64_t end)
{
	uint64_t bytes = end - begin;
	size_t most = bytes < SMALL_GAP_BYTES ? GAPS_MAX / 2 : GAPS_MAX;

	if (begin >= end || (synthesized->n_gaps >= most && bytes < LARGE_GAP_BYTES))
		return 0;
	synthesized->n_gaps += unwind_switch_is_code(begin, end);
	return unwind_switch_tell(synthesized->file, begin, end, &synthesized->budget,
				  synthesized->sink);
}

/* The code from begin to end, of which no row says anything. */
static int tell_uncovered(struct unwind_synthesized *synthesized, uint64_t begin,
			  uint64_t end)
{
	int err = 0;

	for (; synthesized->next < synthesized->n; synthesized->next++) {
		struct synthesized_code *code = &synthesized->code[synthesized->next];

		if (code->begin >= end)
			break;
		if (code->begin < begin)
			continue;
		if (code->may_be_cut && code->end > end)
			code->end = end;
		err = tell_piece(synthesized, begin, code->begin);
		if (!err && code->end <= end)
			err = tell(synthesized, code);
		if (err)
			return err;
		begin = code->end;
	}
	return tell_piece(synthesized, begin, end);
}

/* As far as it lies before the first row, and behind what is told. */
static int tell_early(struct unwind_synthesized *synthesized,
		      struct synthesized_code code, uint64_t pc, uint64_t *told)
{
	uint64_t end = code.end < pc ? code.end : pc;

	if (code.begin < *told || code.begin >= end)
		return 0;
	*told = end;
	return tell_uncovered(synthesized, code.begin, end);
}

/* The code before the first row: all of a file's that has no call frame information.
 * Which of a segment's bytes are code, its sections say; where it has none, a segment is
 * all code that is nothing else, as linkers make them. */
static int tell_before(struct unwind_synthesized *synthesized, uint64_t pc)
{
	const struct elf_file *file = synthesized->file;
	uint64_t told = 0;
	int err = 0;

	for (size_t i = 0; !err && i < file->n_shdrs; i++) {
		const Elf64_Shdr *sh = &file->shdrs[i];

		if (elf_section_is_code(sh))
			err = tell_early(synthesized,
					 (struct synthesized_code){ .begin = sh->sh_addr,
								    .end = sh->sh_addr +
									   sh->sh_size },
					 pc, &told);
	}
	for (size_t i = 0; !err && !file->n_shdrs && i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];

		/* the first one has the file's headers, where it is not code alone */
		if (ph->p_type == PT_LOAD && ph->p_flags == (PF_R | PF_X) && ph->p_offset)
			err = tell_early(synthesized,
					 (struct synthesized_code){ .begin = ph->p_vaddr,
								    .end = ph->p_vaddr +
									   ph->p_filesz },
					 pc, &told);
	}
	while (synthesized->next < synthesized->n &&
	       synthesized->code[synthesized->next].begin < told)
		synthesized->next++; /* rows rise, whatever the headers say */
	return err;
}

/* The code before pc and behind the last row, if that says nothing of it. */
static int tell_gap(struct unwind_synthesized *synthesized, uint64_t pc)
{
	if (!synthesized->any)
		return tell_before(synthesized, pc);
	return synthesized->covered ? 0
				    : tell_uncovered(synthesized, synthesized->pc, pc);
}

int unwind_synthesized_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_synthesized *synthesized = arg;
	int err = tell_gap(synthesized, pc);

	if (!err)
		err = tell_until(synthesized, pc);
	synthesized->covered = rule->cfa != UNWIND_CFA_NONE;
	synthesized->pc = pc;
	synthesized->any = true;
	return err ? err : synthesized->sink->row(synthesized->sink->arg, pc, rule);
}

int unwind_synthesized_end(struct unwind_synthesized *synthesized)
{
	int err = tell_gap(synthesized, UINT64_MAX);

	return err ? err : tell_until(synthesized, UINT64_MAX);
}
