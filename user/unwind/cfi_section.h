/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of an ELF file's call frame information, in memory: .eh_frame by
 * its section header or as the unwinder finds it, by PT_GNU_EH_FRAME; or
 * .debug_frame. They are a copy, at most CFI_SECTION_MAX of them.
 */
#ifndef WEFT_UNWIND_CFI_SECTION_H
#define WEFT_UNWIND_CFI_SECTION_H

#include "unwind/cfi_cursor.h"
#include "obj/elf_file.h"

#define CFI_SECTION_MAX (128u << 20)

/* Where an encoded pointer counts from, and what it is (DW_EH_PE_…). */
enum {
	CFI_PTR_ABS = 0x00,
	CFI_PTR_ULEB = 0x01,
	CFI_PTR_U2 = 0x02,
	CFI_PTR_U4 = 0x03,
	CFI_PTR_U8 = 0x04,
	CFI_PTR_SLEB = 0x09,
	CFI_PTR_S2 = 0x0a,
	CFI_PTR_S4 = 0x0b,
	CFI_PTR_S8 = 0x0c,
	CFI_PTR_PCREL = 0x10,
	CFI_PTR_DATAREL = 0x30,
	CFI_PTR_ALIGNED = 0x50,
	CFI_PTR_INDIRECT = 0x80,
	CFI_PTR_OMIT = 0xff,
};

struct cfi_section {
	uint8_t *bytes;
	size_t n;
	uint64_t vaddr;		/* of the first byte; .debug_frame: 0 */
	uint64_t header;	/* of .eh_frame_hdr, that DATAREL counts from; 0: none */
	uint64_t fdes_at_least; /* a zero length before so many is no end */
	bool is_eh;
	bool ends_at_zero; /* n reaches to the end of the segment */
};

void cfi_section_close(struct cfi_section *section); /* {0} is fine */

/* 0, also when there is none (n = 0), or a negative errno. */
int cfi_section_eh(struct elf_file *file, struct cfi_section *ret);
int cfi_section_debug(struct elf_file *file, struct cfi_section *ret);

/* A pointer of this encoding at the cursor; marks it bad when that is one that
 * files on disk can't hold. vaddr: where the cursor's byte `start` is loaded. */
uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_cursor *in,
		     uint8_t encoding);

/* The same as a number: its size and sign, no place to count from. */
uint64_t cfi_pointer_value(struct cfi_cursor *in, uint8_t encoding);

#endif
