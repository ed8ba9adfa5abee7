// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which entries there are, in the order of the code that they are for. Linkers
 * write them so already; what overlaps all the same is told once, by the entry
 * that begins first. .debug_frame adds what .eh_frame says nothing of: Go has
 * nothing else, and a program of Go and C has both.
 */
#include "unwind/cfi_parts.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"
#include "obj/x86_insn.h"
#include "unwind/cfi_insn.h"
#include "unwind/x86_stack.h"

#include <errno.h>

#define CFI_STEPS_MAX (64u << 20) /* instructions; the largest files take some 10 M */
#define CIES_CACHED   64	  /* a file has a handful, or one an object file */
#define SIGNALS_MAX   64	  /* functions that are looked at; files have one */
#define SIGNAL_BYTES  32	  /* of code, at most, up to the system call's end */

enum { EH_FRAME, DEBUG_FRAME, N_SECTIONS };

struct cfi_entry {
	uint64_t begin, end;
	uint32_t offset; /* of the record in its section */
	uint32_t section;
};

/* Where the CFA is. */
struct cfi_cfa {
	uint64_t reg, offset;
};

struct cfi_reading {
	struct elf_file *file;
	const struct cfi_sink *sink;
	struct cfi_section sections[N_SECTIONS];
	struct cfi_stats stats;
	VEC(struct cfi_entry) entries;
	size_t n_eh; /* of these */
	struct {
		bool tried, good;
		uint32_t section;
		struct cfi_cie cie;
	} cies[CIES_CACHED];
	struct cfi_exec exec;
	unsigned int n_signals, n_silent; /* that were looked at */
};

static void cfi_reading_free(struct cfi_reading *reading)
{
	if (!reading)
		return;
	for (int i = 0; i < N_SECTIONS; i++)
		cfi_section_close(&reading->sections[i]);
	vec_free(&reading->entries);
	free(reading);
}
DEFINE_FREEP(cfi_reading)

/* NULL: can't be read. */
static const struct cfi_cie *get_cie(struct cfi_reading *reading, uint32_t section,
				     uint64_t offset)
{
	__auto_type slot = &reading->cies[(offset / 8 + section) % CIES_CACHED];

	if (!slot->tried || slot->cie.offset != offset || slot->section != section) {
		slot->tried = true;
		slot->good =
			cfi_cie_read(&reading->sections[section], offset, &slot->cie);
		slot->cie.offset = offset;
		slot->section = section;
	}
	return slot->good ? &slot->cie : NULL;
}

static bool is_in_headers(const struct elf_file *file, uint64_t vaddr)
{
	uint64_t offset, bytes;

	return elf_file_offset(file, vaddr, &offset, &bytes) &&
	       offset < sizeof(file->header);
}

/* Does .eh_frame say something of these addresses? Its entries are sorted. */
static bool is_told(const struct cfi_reading *reading, uint64_t begin, uint64_t end)
{
	size_t n = LOWER_BOUND(reading->n_eh, i, reading->entries.items[i].begin < end);

	return n && reading->entries.items[n - 1].end > begin;
}

/* More than the cold part of any function, which begins with its frame up. */
#define BLANKET_BYTES (64u << 10)

/* Do these instructions say no more than by which register the CFA goes all the way, and
 * where others are saved? */
static bool says_one_frame(struct cfi_cursor in, struct cfi_cfa *cfa)
{
	while (in.at < in.end && !in.bad) {
		uint8_t op = cfi_u8(&in);

		if (op == DEF_CFA) {
			cfa->reg = cfi_uleb(&in);
			cfa->offset = cfi_uleb(&in);
		} else if ((op & RESTORE) == OFFSET) {
			cfi_uleb(&in);
		} else if (op != NOP) {
			return false;
		}
	}
	return !in.bad;
}

/*
 * A compiler that keeps frame pointers can say so in one entry of all its code, as
 * Dart's does. It holds behind each function's prologue, not before it, nor in what has
 * no frame; so what the code itself shows is better.
 */
static bool is_blanket(const struct cfi_reading *reading, const struct cfi_cie *cie,
		       const struct cfi_fde *fde)
{
	struct cfi_cfa cfa = { CFI_NO_REGISTER, 0 };

	return fde->end - fde->begin >= BLANKET_BYTES &&
	       says_one_frame(cie->code, &cfa) && says_one_frame(fde->code, &cfa) &&
	       cfa.reg == reading->exec.machine->fp && cfa.offset == 2 * sizeof(uint64_t);
}

#define SILENT_BYTES 128  /* what is smaller, and has no frame, is most functions' */
#define SILENT_LARGE 2048 /* and what is larger nobody's; */
#define SILENT_LOOKS 512  /* of others so many are looked at: a read each */

static bool says_nothing(struct cfi_cursor in)
{
	while (in.at < in.end && !in.bad)
		if (cfi_u8(&in) != NOP)
			return false;
	return !in.bad;
}

/* Does the code there begin by making a frame? */
static bool makes_frame(struct elf_file *file, uint64_t vaddr)
{
	uint8_t code[X86_ENDBR64_BYTES + X86_INSN_MAX];
	uint64_t offset, bytes;
	size_t at, n;
	bool calls;

	if (!elf_file_offset(file, vaddr, &offset, &bytes) || bytes < sizeof(code) ||
	    elf_file_read(file, offset, code, sizeof(code)))
		return false;
	at = x86_insn_endbr64(code, sizeof(code));
	n = x86_insn_bytes(code + at, sizeof(code) - at, &calls);
	return n && x86_effect(code + at, n).pushed > 0;
}

/*
 * Who writes assembly may begin and end an entry and forget what lies between. OpenSSL
 * 3.5 has such ones of AES-XTS for AVX-512, of kilobytes that have a frame from their
 * second byte on; glibc of the arithmetic by which printf() and strtod() write and read
 * floating point, libmvec of two of its functions.
 */
static bool is_silent(struct cfi_reading *reading, const struct cfi_fde *fde)
{
	uint64_t bytes = fde->end - fde->begin;
	bool is_false;

	if (bytes < SILENT_BYTES || reading->file->header.e_machine != EM_X86_64 ||
	    !says_nothing(fde->code) ||
	    (bytes < SILENT_LARGE && reading->n_silent++ >= SILENT_LOOKS))
		return false;
	is_false = makes_frame(reading->file, fde->begin);
	error_clear(); /* what can't be read says nothing else */
	return is_false;
}

static int add_entry(struct cfi_reading *reading, const struct cfi_record *record,
		     uint32_t section, uint64_t offset)
{
	const struct cfi_cie *cie = get_cie(reading, section, record->cie);
	struct cfi_fde fde;

	if (!cie || !cfi_fde_read(&reading->sections[section], record, cie, &fde)) {
		reading->stats.bad++;
		return 0;
	}
	/* a linker that drops a function leaves address 0 behind */
	if (fde.end == fde.begin || is_in_headers(reading->file, fde.begin) ||
	    !elf_file_loads(reading->file, fde.begin, fde.end - fde.begin, PF_X)) {
		reading->stats.outside++;
		return 0;
	}
	if (section == DEBUG_FRAME && is_told(reading, fde.begin, fde.end))
		return 0;
	if (is_blanket(reading, cie, &fde) || is_silent(reading, &fde)) {
		reading->stats.blankets++;
		return 0;
	}
	reading->stats.n_debug += section == DEBUG_FRAME;
	if (reading->entries.n == CFI_FDES_MAX)
		return fail(-E2BIG, "more than %u functions", CFI_FDES_MAX);
	return vec_push(&reading->entries, (struct cfi_entry){ .begin = fde.begin,
							       .end = fde.end,
							       .offset = (uint32_t)offset,
							       .section = section });
}

static int list_entries(struct cfi_reading *reading, uint32_t which)
{
	const struct cfi_section *section = &reading->sections[which];
	struct cfi_cursor in = { .at = section->bytes };
	uint64_t seen = 0;
	int err = 0;

	if (section->n) /* else its bytes may be NULL, to which nothing is added */
		in.end = in.at + section->n;
	while (!err && in.at < in.end) {
		uint64_t offset = (uint64_t)(in.at - section->bytes);
		struct cfi_record record = cfi_record_next(section, &in);

		if (record.kind == CFI_PADDING && section->ends_at_zero &&
		    seen >= section->fdes_at_least)
			break;
		if (record.kind == CFI_BAD)
			reading->stats.bad++;
		if (record.kind != CFI_FDE)
			continue;
		seen++;
		err = add_entry(reading, &record, which, offset);
	}
	return err;
}

static int compare_entries(const void *a, const void *b)
{
	const struct cfi_entry *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort_entries(struct cfi_reading *reading)
{
	struct cfi_entry *items = reading->entries.items;
	size_t n = reading->entries.n, i = 1;

	while (i < n && compare_entries(&items[i - 1], &items[i]) < 0)
		i++;
	if (i < n)
		qsort(items, n, sizeof(*items), compare_entries);
}

/*
 * Is this where a signal's handler returns to? Its entry says where the registers
 * lie in words that differ from libc to libc, and wrongly in the arm64 vDSO; its
 * code says that it is so. Other entries are marked as signal frames only so that
 * their callers' addresses are taken as they are: the starts of coroutines.
 */
static bool is_sigreturn(struct cfi_reading *reading, const struct cfi_fde *fde)
{
	const struct cfi_machine *machine = reading->exec.machine;
	uint8_t code[SIGNAL_BYTES];
	uint64_t offset, n;

	if (reading->n_signals++ >= SIGNALS_MAX ||
	    !elf_file_offset(reading->file, fde->begin, &offset, &n))
		return false;
	if (n > fde->end - fde->begin)
		n = fde->end - fde->begin;
	if (n > sizeof(code))
		n = sizeof(code);
	if (elf_file_read(reading->file, offset, code, n)) {
		error_clear(); /* then it is what its entry says */
		return false;
	}
	return memmem(code, n, machine->sigreturn, machine->sigreturn_bytes);
}

/* It could be read before; what it says of [from, end) becomes rows. */
static int run_entry(struct cfi_reading *reading, const struct cfi_entry *entry,
		     uint64_t from)
{
	const struct cfi_section *section = &reading->sections[entry->section];
	struct cfi_cursor in = { .at = section->bytes + entry->offset,
				 .end = section->bytes + section->n };
	struct cfi_record record = cfi_record_next(section, &in);
	const struct cfi_cie *cie = get_cie(reading, entry->section, record.cie);
	struct cfi_fde fde;

	if (!cie || !cfi_fde_read(section, &record, cie, &fde))
		return 0;
	if (reading->sink->fde)
		reading->sink->fde(reading->sink->arg, from, fde.end);
	reading->stats.n_fdes++;
	reading->exec.section = section;
	reading->exec.is_sigreturn = cie->is_signal && is_sigreturn(reading, &fde);
	return cfi_exec_run(&reading->exec, cie, &fde, from);
}

static int run_entries(struct cfi_reading *reading)
{
	static const struct unwind_rule none;
	const struct cfi_sink *sink = reading->sink;
	uint64_t end = 0;
	int err = 0;

	for (size_t i = 0; i < reading->entries.n && !err; i++) {
		const struct cfi_entry *entry = &reading->entries.items[i];
		uint64_t from = entry->begin > end ? entry->begin : end;

		reading->stats.overlaps += entry->begin < end;
		if (end && entry->begin > end)
			err = sink->row(sink->arg, end, &none);
		if (err || entry->end <= end)
			continue;
		err = run_entry(reading, entry, from);
		end = entry->end;
	}
	return err || !end ? err : sink->row(sink->arg, end, &none);
}

static int read_sections(struct cfi_reading *reading)
{
	int err = cfi_section_eh(reading->file, &reading->sections[EH_FRAME]);

	if (!err)
		err = list_entries(reading, EH_FRAME);
	if (err)
		return err;
	sort_entries(reading);
	reading->n_eh = reading->entries.n;
	err = cfi_section_debug(reading->file, &reading->sections[DEBUG_FRAME]);
	if (!err)
		err = list_entries(reading, DEBUG_FRAME);
	if (err && reading->n_eh) {
		if (err == -ENOMEM)
			elf_file_stop_recording(reading->file);
		reading->stats.bad++;
		error_clear(); /* it was there for debuggers only */
		reading->entries.n = reading->n_eh;
		return 0;
	}
	sort_entries(reading);
	return err;
}

int cfi_read(struct elf_file *file, const struct cfi_sink *sink, struct cfi_stats *ret)
{
	AUTO(cfi_reading) reading = calloc(1, sizeof(*reading));
	int err;

	if (!reading)
		return fail(-ENOMEM, "no memory for call frame information");
	reading->file = file;
	reading->sink = sink;
	reading->exec = (struct cfi_exec){
		.machine = cfi_machine(file->header.e_machine),
		.sink = sink,
		.stats = &reading->stats,
		.steps_left = CFI_STEPS_MAX,
	};
	if (!reading->exec.machine)
		return fail(-ENOEXEC, "call frame information of an unknown machine");
	err = read_sections(reading);
	if (!err)
		err = run_entries(reading);
	if (!err)
		*ret = reading->stats;
	return err;
}
