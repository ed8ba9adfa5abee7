/* SPDX-License-Identifier: BSD-2-Clause */
/* What the targets of tests/fuzz/parsers.c share. */
#ifndef WEFT_TESTS_FUZZ_PARSERS_H
#define WEFT_TESTS_FUZZ_PARSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(holds)                                                                   \
	do {                                                                             \
		if (!(holds)) {                                                          \
			fprintf(stderr, "not so: %s\n", #holds);                         \
			abort();                                                         \
		}                                                                        \
	} while (0)

/* The descriptor of a file that is only memory: the linker leads fstat(2) and
 * pread(2) to us, since system calls cost more than what is tried here. */
#define MEMORY_FD 1000000

/* 0, or a negative errno */
void require_error(int err);

/* Is it what base/name.h calls a clean name? */
void require_clean(const char *name);

/* The parse worker's answers; the first byte says to which question. */
void fuzz_replies(const uint8_t *data, size_t n);

/* Of the senders' processes. */
void fuzz_otlp(const uint8_t *data, size_t n);
void fuzz_pprof_part(const uint8_t *data, size_t n);
void fuzz_split(const uint8_t *data, size_t n);

/* What processes say of themselves. */
void fuzz_resource(const uint8_t *data, size_t n);
void fuzz_process_context(const uint8_t *data, size_t n);
void fuzz_attributes(const uint8_t *data, size_t n);

/* Names that compilers write. */
void fuzz_demangle(const uint8_t *data, size_t n);
void fuzz_short_names(const uint8_t *data, size_t n);

/* What a recording was made of. */
void fuzz_tape(const uint8_t *data, size_t n);

/* Packed sections. */
void fuzz_inflater(const uint8_t *data, size_t n);

/* Rules by code. */
void fuzz_fde_cfa(const uint8_t *data, size_t n);
void fuzz_flow(const uint8_t *data, size_t n);
void fuzz_go_rules(const uint8_t *data, size_t n);
void fuzz_leaf(const uint8_t *data, size_t n);

/* Answers as a true parser gives them, one file each, into a folder. */
void write_replies(const char *folder);

#endif
