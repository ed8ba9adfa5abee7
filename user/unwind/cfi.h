/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the call frame information of an ELF file, x86-64 or arm64, as rules
 * that a walker in the kernel can follow (shared/unwind.h). What no rule can
 * hold becomes a row that says so and is counted by reason. Runs in the parse
 * worker: every length is checked, memory and work are bounded.
 */
#ifndef WEFT_UNWIND_CFI_H
#define WEFT_UNWIND_CFI_H

#include "obj/elf_file.h"
#include "shared/unwind.h"

#define CFI_FDES_MAX (4u << 20)

/* Why a row is UNSUPPORTED, or knows less than the file says. */
#define CFI_UNSUPPORTED(X)                                                               \
	X(CFA_EXPR, "its CFA is an expression that no rule holds")                       \
	X(CFA_RANGE, "its CFA lies too far away, or nowhere")                            \
	X(RA_PLACE, "its return address is elsewhere")                                   \
	X(SP_PLACE, "its caller's stack pointer is not the CFA")                         \
	X(BAD_CODE, "its instructions can't be read")                                    \
	X(FP_PLACE, "the caller's frame pointer is where no rule finds it")

enum cfi_unsupported {
#define X(name, text) CFI_##name,
	CFI_UNSUPPORTED(X)
#undef X
		N_CFI_UNSUPPORTED
};

struct cfi_stats {
	uint32_t n_fdes;  /* of which rows were made */
	uint32_t bad;	  /* records that can't be read */
	uint32_t outside; /* FDEs of addresses that are no code */
	uint32_t
		blankets; /* FDEs that say of much code that a frame is always up, or that
			    * none is where the code makes one */
	uint32_t overlaps; /* FDEs that others cover, wholly or in part */
	uint32_t n_debug;  /* FDEs that .debug_frame added */
	uint32_t unsupported[N_CFI_UNSUPPORTED]; /* rows by enum cfi_unsupported */
};

struct cfi_sink {
	void *arg;

	/* From pc on. pc rises from call to call. 0, or an error that ends it. */
	int (*row)(void *arg, uint64_t pc, const struct unwind_rule *rule);

	/* Before the rows of [begin, end); may be NULL. */
	void (*fde)(void *arg, uint64_t begin, uint64_t end);

	/* Before a row that is unsupported, with its expression, if it has one; may be
	 * NULL. */
	void (*unsupported)(void *arg, enum cfi_unsupported unsupported,
			    const uint8_t *expr, size_t n);

	/* Before a row of code that was read: where in the same function the stack was
	 * first as the row says; may be NULL. */
	void (*first)(void *arg, uint64_t pc);
};

/* 0, also when the file has none; a negative errno; or the sink's. */
int cfi_read(struct elf_file *file, const struct cfi_sink *sink, struct cfi_stats *ret);

#endif
