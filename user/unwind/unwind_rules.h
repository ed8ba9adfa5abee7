/* SPDX-License-Identifier: BSD-2-Clause */
/* A file's distinct rules, numbered in the order in which they were met. */
#ifndef WEFT_UNWIND_UNWIND_RULES_H
#define WEFT_UNWIND_UNWIND_RULES_H

#include "shared/unwind.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_RULES_MAX  65535
#define UNWIND_RULE_SLOTS (128u << 10)

struct unwind_rules {
	struct unwind_rule *items;
	size_t n;
	uint16_t *slots; /* 1 + number; half empty, so a probe run ends soon */
	uint16_t last;	 /* the one asked for before */
};

/* NONE is number 0, UNSUPPORTED 1. 0 or -ENOMEM. */
int unwind_rules_init(struct unwind_rules *rules);
void unwind_rules_close(struct unwind_rules *rules); /* {0} is fine */

/* Its number; that of UNSUPPORTED where there is no room. */
uint16_t unwind_rules_number(struct unwind_rules *rules, const struct unwind_rule *rule);

#endif
