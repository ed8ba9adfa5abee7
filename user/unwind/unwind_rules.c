// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_rules.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_NONE, NUMBER_UNSUPPORTED };

int unwind_rules_init(struct unwind_rules *rules)
{
	const struct unwind_rule none = { 0 };
	const struct unwind_rule unsupported = { .cfa = UNWIND_CFA_UNSUPPORTED };

	rules->items = malloc(UNWIND_RULES_MAX * sizeof(*rules->items));
	rules->slots = calloc(UNWIND_RULE_SLOTS, sizeof(*rules->slots));
	if (!rules->items || !rules->slots)
		return fail(-ENOMEM, "no memory for unwind rules");
	rules->items[0] = (struct unwind_rule){ .cfa = N_UNWIND_CFAS }; /* no match */
	unwind_rules_number(rules, &none);
	unwind_rules_number(rules, &unsupported);
	return 0;
}

void unwind_rules_close(struct unwind_rules *rules)
{
	free(rules->items);
	free(rules->slots);
	*rules = (struct unwind_rules){ 0 };
}

static size_t slot_of(const struct unwind_rule *rule)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	words[0] = (words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	return (words[0] ^ words[0] >> 32) % UNWIND_RULE_SLOTS;
}

uint16_t unwind_rules_number(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	size_t at;

	if (!memcmp(&rules->items[rules->last], rule, sizeof(*rule)))
		return rules->last;
	for (at = slot_of(rule); rules->slots[at]; at = (at + 1) % UNWIND_RULE_SLOTS) {
		rules->last = (uint16_t)(rules->slots[at] - 1);
		if (!memcmp(&rules->items[rules->last], rule, sizeof(*rule)))
			return rules->last;
	}
	if (rules->n == UNWIND_RULES_MAX)
		return rules->last = NUMBER_UNSUPPORTED;
	rules->items[rules->n++] = *rule;
	rules->slots[at] = (uint16_t)rules->n;
	return rules->last = (uint16_t)(rules->n - 1);
}
