/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts expressions by their form: the names of their operations, with registers
 * and without numbers. */
#ifndef WEFT_TOOLS_CENSUS_FORMS_H
#define WEFT_TOOLS_CENSUS_FORMS_H

#include <stddef.h>
#include <stdint.h>

#define FORMS_MAX 4096

struct forms {
	struct form {
		char text[160];
		unsigned long n;
	} items[FORMS_MAX];
	size_t n;
	unsigned long others; /* beyond FORMS_MAX */
};

void forms_count(struct forms *forms, const char *why, const uint8_t *expr, size_t n);
void forms_tell(const struct forms *forms); /* the most frequent ones, on stdout */

#endif
