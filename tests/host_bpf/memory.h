/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up address space: pages that are there, and the rest. */
#ifndef WEFT_TESTS_MEMORY_H
#define WEFT_TESTS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_PAGE 4096

void memory_clear(void);

/* Maps the page if it is not there. */
void memory_put(uint64_t addr, uint64_t value);

/* False: unmapped, and *ret is 0. */
bool memory_get(uint64_t addr, uint64_t *ret);

void memory_unmap(uint64_t addr);

/* Reads by the walker since memory_clear(), and what happens before one. */
unsigned int memory_reads(void);
void memory_before_read(unsigned int nth, void (*act)(void));

#endif
