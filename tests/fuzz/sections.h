/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of call frame information out of real files, and files around them. */
#ifndef WEFT_TESTS_FUZZ_SECTIONS_H
#define WEFT_TESTS_FUZZ_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECTION_BYTES_MAX 8192 /* longer ones are cut */
#define SECTIONS_MAX	  256

struct section {
	uint8_t *bytes;
	size_t n;
	uint64_t vaddr;
	bool arm64, debug;
};

struct sections {
	struct section items[SECTIONS_MAX];
	size_t n;
};

/* Adds the .eh_frame and .debug_frame of a file, as far as it has them. */
void sections_add(struct sections *sections, const char *path);
void sections_free(struct sections *sections);

/* What a file looks like around a section. */
struct section_shape {
	bool arm64, debug, packed;
	bool headers; /* else .eh_frame is found by PT_GNU_EH_FRAME */
	bool bolt;    /* has BOLT's note, if it has headers */
	uint64_t vaddr;
};

/* The descriptor of a file that is only memory: the linker leads fstat(2) and
 * pread(2) to us, since system calls cost more than what is tried here. */
#define SECTION_FD 1000000

struct section_file {
	uint8_t *section; /* SECTION_BYTES_MAX, for the next write */
	uint8_t *packed;
};

int section_file_open(struct section_file *file);
void section_file_close(struct section_file *file);

/* Makes SECTION_FD a file with the first n bytes of the section. */
void section_file_write(struct section_file *file, const struct section_shape *shape,
			size_t n);

#endif
