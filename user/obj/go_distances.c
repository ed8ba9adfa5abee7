// SPDX-License-Identifier: BSD-2-Clause
#include "obj/go_distances.h"

void go_distances_begin(const struct go_table *table, const struct go_function *function,
			struct go_distances *ret)
{
	size_t at = (size_t)table->steps + function->sp;

	*ret = (struct go_distances){
		.stop = table->bytes + table->n,
		.quantum = table->quantum,
		.end = function->begin,
		.code = (uint32_t)(function->end - function->begin),
		.distance = -1,
	};
	ret->at = function->sp && at < table->n ? table->bytes + at : ret->stop;
}

/* Seven bits a byte, lowest first. */
static bool take_number(struct go_distances *distances, uint32_t *ret)
{
	*ret = 0;
	for (unsigned int shift = 0; shift < 32 && distances->at < distances->stop;
	     shift += 7) {
		uint8_t byte = *distances->at++;

		*ret |= (uint32_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

bool go_distances_next(struct go_distances *distances)
{
	uint32_t change, steps;
	uint64_t bytes;

	if (!take_number(distances, &change) || (!change && distances->begun) ||
	    !take_number(distances, &steps))
		return false;
	bytes = (uint64_t)steps * distances->quantum;
	if (!bytes || bytes > distances->code)
		return false;
	/* the lowest bit is the sign */
	distances->distance = (int32_t)((uint32_t)distances->distance +
					(change >> 1 ^ (0 - (change & 1))));
	distances->begun = true;
	distances->end += bytes;
	distances->code -= (uint32_t)bytes;
	return true;
}
