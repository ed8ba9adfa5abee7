/* SPDX-License-Identifier: BSD-2-Clause */
/* What to say where nothing is called what somebody asked for. */
#ifndef WEFT_CORE_FILTER_HINT_H
#define WEFT_CORE_FILTER_HINT_H

#include "base/str.h"
#include "core/filter.h"

/* What a thread is called by one of the keys of threads. */
void filter_text(struct str *out, const struct profile *profile, enum filter_key key,
		 uint32_t thread);

/* A condition that nothing meets: which name is near, or which there are. */
void filter_tell_none(struct str *hint, const struct profile *profile,
		      const struct condition *condition);

/* The nearest name to what no frame is called. NULL: none is near. */
const char *profile_nearest_function(const struct profile *profile, const char *name);

#endif
