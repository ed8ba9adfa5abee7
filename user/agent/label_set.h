/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels that rules change: names are distinct, and what is set to "" is gone. */
#ifndef WEFT_AGENT_LABEL_SET_H
#define WEFT_AGENT_LABEL_SET_H

#include "base/str.h"
#include "core/series.h"

#define LABEL_VALUE_BYTES_MAX 1024 /* of what comes from others; the rest is cut off */

struct label_set { /* {0} */
	struct str text;
	struct {
		size_t name, value; /* in text */
	} at[SERIES_LABELS_MAX];
	size_t n;
	bool is_full; /* there was no room for one */
};

void label_set_free(struct label_set *set); /* what it holds, not itself */
#define AUTO_LABEL_SET __attribute__((cleanup(label_set_free))) struct label_set

/* Both may point into the set. Values are made clean (base/str.h). */
void label_set_put(struct label_set *set, const char *name, const char *value);
void label_set_remove(struct label_set *set, size_t i);

/* "": there is none of that name. Good until the set is changed. */
const char *label_set_get(const struct label_set *set, const char *name);

static inline struct label label_set_at(const struct label_set *set, size_t i)
{
	return (struct label){ set->text.s + set->at[i].name,
			       set->text.s + set->at[i].value };
}

/* As series.h takes them: by name, borrowed. */
size_t label_set_list(const struct label_set *set, struct label ret[SERIES_LABELS_MAX]);

#endif
