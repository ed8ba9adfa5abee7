/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives each distinct sequence of bytes a small dense number, so that what
 * follows compares and counts numbers. Strings, frames and stacks are all
 * interned here. The table owns its copies; ids and pointers live until
 * _free(). Nothing is removed. One thread.
 */
#ifndef WEFT_BASE_INTERN_H
#define WEFT_BASE_INTERN_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern;

enum { INTERN_FULL = 1 };

int intern_new(struct intern **ret, size_t max_items);
void intern_free(struct intern *table); /* NULL is fine */
DEFINE_FREEP(intern)

/* Also full when its copies come to so many bytes: what comes from others is as
 * long as they want. Without this only items are limited. */
void intern_limit_bytes(struct intern *table, size_t max_bytes);

/*
 * Begins somebody's turn: while half of those bytes are left he may have all of them,
 * then a 65,536th of what is left, or 96 bytes, until the next turn begins. Beyond that
 * the table is full for him. So nobody who always brings something new leaves nothing for
 * the others, who bring little.
 */
void intern_begin_turn(struct intern *table);
void intern_end_turn(struct intern *table); /* nothing more until the next one */

/*
 * The id of these n bytes, from 0 in order of first sight. 0, -ENOMEM, or
 * INTERN_FULL when there is no room for them and they are not there yet.
 */
int intern_id(struct intern *table, const void *bytes, size_t n, uint32_t *ret_id);

bool intern_has(const struct intern *table, const void *bytes, size_t n);

/* The id of these n bytes, if they are there. */
bool intern_find(const struct intern *table, const void *bytes, size_t n,
		 uint32_t *ret_id);

/* The bytes of an id that was given out, 8-byte aligned, NUL after them. */
const void *intern_bytes(const struct intern *table, uint32_t id, size_t *ret_n);
const char *intern_string(const struct intern *table, uint32_t id);

size_t intern_count(const struct intern *table);

/* A 64-bit hash of n bytes; not for untrusted keys beyond what a table's own
 * limit bounds. */
uint64_t hash_bytes(const void *bytes, size_t n);

#endif
