// SPDX-License-Identifier: BSD-2-Clause
#include "obj/go_values.h"

void go_values_begin(const struct go_table *table, const struct go_function *function,
		     uint32_t at, struct go_values *ret)
{
	size_t from = (size_t)table->steps + at;

	*ret = (struct go_values){
		.stop = table->bytes + table->n,
		.quantum = table->quantum,
		.end = function->begin,
		.code = (uint32_t)(function->end - function->begin),
		.value = -1,
	};
	ret->at = at && from < table->n ? table->bytes + from : ret->stop;
}

/* Seven bits a byte, lowest first. */
static bool take_number(struct go_values *values, uint32_t *ret)
{
	*ret = 0;
	for (unsigned int shift = 0; shift < 32 && values->at < values->stop;
	     shift += 7) {
		uint8_t byte = *values->at++;

		*ret |= (uint32_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

bool go_values_next(struct go_values *values)
{
	uint32_t change, steps;
	uint64_t bytes;

	if (!take_number(values, &change) || (!change && values->begun) ||
	    !take_number(values, &steps))
		return false;
	bytes = (uint64_t)steps * values->quantum;
	if (!bytes || bytes > values->code)
		return false;
	/* the lowest bit is the sign */
	values->value =
		(int32_t)((uint32_t)values->value + (change >> 1 ^ (0 - (change & 1))));
	values->begun = true;
	values->end += bytes;
	values->code -= (uint32_t)bytes;
	return true;
}
