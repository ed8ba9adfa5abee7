// SPDX-License-Identifier: BSD-2-Clause
#include "forms.h"

#include "unwind/cfi_cursor.h"

#include <stdio.h>
#include <stdlib.h>

#define TOLD_MAX 40

/* Operations without operands; the others are in add_op(). */
static const char *const plain[0x100] = {
	[0x06] = "deref", [0x12] = "dup",   [0x13] = "drop", [0x16] = "swap",
	[0x1a] = "and",	  [0x1c] = "minus", [0x1e] = "mul",  [0x1f] = "neg",
	[0x20] = "not",	  [0x21] = "or",    [0x22] = "plus", [0x24] = "shl",
	[0x25] = "shr",	  [0x26] = "shra",  [0x27] = "xor",  [0x29] = "eq",
	[0x2a] = "ge",	  [0x2b] = "gt",    [0x2c] = "le",   [0x2d] = "lt",
	[0x2e] = "ne",	  [0x96] = "nop",   [0x9c] = "cfa",
};

static void add_op(char *text, size_t room, struct cfi_cursor *in)
{
	uint8_t op = cfi_u8(in);

	if (plain[op]) {
		snprintf(text, room, " %s", plain[op]);
	} else if (op >= 0x08 && op <= 0x0f) {
		cfi_skip(in, 1u << (op - 0x08) / 2);
		snprintf(text, room, " const");
	} else if (op == 0x10 || op == 0x11 || op == 0x23) {
		cfi_uleb(in);
		snprintf(text, room, op == 0x23 ? " plus_uconst" : " const");
	} else if (op >= 0x30 && op < 0x50) {
		snprintf(text, room, " lit%d", op - 0x30);
	} else if (op >= 0x50 && op < 0x70) {
		snprintf(text, room, " reg%d", op - 0x50);
	} else if (op >= 0x70 && op < 0x90) {
		cfi_sleb(in);
		snprintf(text, room, " breg%d", op - 0x70);
	} else {
		snprintf(text, room, " 0x%02x…", op);
		cfi_mark_bad(in);
	}
}

void forms_count(struct forms *forms, const char *why, const uint8_t *expr, size_t n)
{
	struct cfi_cursor in = { .at = expr, .end = expr + n };
	char text[sizeof(forms->items->text)];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s:", why);

	while (in.at < in.end && used + 1 < sizeof(text)) {
		add_op(text + used, sizeof(text) - used, &in);
		used += strlen(text + used);
	}
	for (size_t i = 0; i < forms->n; i++)
		if (!strcmp(forms->items[i].text, text)) {
			forms->items[i].n++;
			return;
		}
	if (forms->n == FORMS_MAX) {
		forms->others++;
		return;
	}
	forms->items[forms->n] = (struct form){ .n = 1 };
	strcpy(forms->items[forms->n++].text, text);
}

static int by_count(const void *a, const void *b)
{
	const struct form *const *x = a, *const *y = b;

	return (*x)->n > (*y)->n ? -1 : (*x)->n < (*y)->n;
}

void forms_tell(const struct forms *forms)
{
	const struct form *order[FORMS_MAX];

	for (size_t i = 0; i < forms->n; i++)
		order[i] = &forms->items[i];
	qsort(order, forms->n, sizeof(*order), by_count);
	for (size_t i = 0; i < forms->n && i < TOLD_MAX; i++)
		printf("%8lu  %s\n", order[i]->n, order[i]->text);
	if (forms->others)
		printf("%8lu  of still other forms\n", forms->others);
}
