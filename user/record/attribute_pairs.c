// SPDX-License-Identifier: BSD-2-Clause
#include "record/attribute_pairs.h"

#include "shared/thread_context.h"

bool attribute_pairs_pick(const unsigned char *bytes, size_t n,
			  const struct attribute_keys *keys,
			  struct attribute_value values[ATTRIBUTE_NAMES_MAX])
{
	bool has_unnamed = false;

	for (size_t at = 0; n - at >= ATTRIBUTE_HEAD_BYTES;) {
		unsigned int index = bytes[at];
		size_t length = bytes[at + 1];

		at += ATTRIBUTE_HEAD_BYTES;
		if (length > n - at)
			break;
		if (!keys || index >= keys->n)
			has_unnamed = true;
		else if (keys->allowed[index])
			values[keys->allowed[index] - 1] =
				(struct attribute_value){ bytes + at, length };
		at += length;
	}
	return has_unnamed;
}
