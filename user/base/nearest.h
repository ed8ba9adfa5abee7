/* SPDX-License-Identifier: BSD-2-Clause */
/* What was probably meant: the word that is nearest to one that is unknown. */
#ifndef WEFT_BASE_NEAREST_H
#define WEFT_BASE_NEAREST_H

#include <stddef.h>

/* Gives the words, NULL at the end. */
typedef const char *(*word_source)(const void *arg, size_t i);

/* NULL: none is near. */
const char *nearest_word(const char *word, word_source next, const void *arg);

#endif
