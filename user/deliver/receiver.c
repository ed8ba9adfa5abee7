// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/receiver.h"

#include <string.h>

#define X(name) &name##_receiver,
static const struct receiver *const receivers[] = { RECEIVERS(X) };
#undef X

enum { N_RECEIVERS = sizeof(receivers) / sizeof(*receivers) };

const struct receiver *receiver_named(const char *name)
{
	for (size_t i = 0; i < N_RECEIVERS; i++)
		if (!strcmp(receivers[i]->name, name))
			return receivers[i];
	return NULL;
}

const char *receiver_name(const void *none, size_t i)
{
	return i < N_RECEIVERS ? receivers[i]->name : NULL;
}
