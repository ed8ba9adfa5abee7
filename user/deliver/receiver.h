/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The servers that profiles are sent to, as a list. A receiver is one file
 * deliver/NAME.c and a word in RECEIVERS(): how it wants to be asked, and what its
 * answers mean. All of it runs in the sender's process (sender.h), without privileges.
 */
#ifndef WEFT_DELIVER_RECEIVER_H
#define WEFT_DELIVER_RECEIVER_H

#include "base/label.h"
#include "base/str.h"
#include "deliver/pprof_part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of the series of a profile. */
struct delivered_series {
	const struct label *labels; /* also service_name */
	size_t n_labels;
	struct str pprof; /* a file of its samples, unless the receiver is_whole */
	char id[160];	  /* the same each time that it is tried */
	struct pprof_pick pick;
};

/* One profile on its way. */
struct delivery {
	const struct str *plain; /* a file that pprof can read, unpacked */
	const struct delivered_series *series;
	size_t n_series;
	const char *name; /* of a metric, which these receivers demand */
	bool is_second;	  /* of two views of a window */
};

enum receiver_says {
	RECEIVER_TAKES,
	RECEIVER_REFUSES,
	RECEIVER_IS_ANOTHER, /* no server of this kind speaks so */
};

struct receiver {
	const char *name;	  /* in a configuration: "kind = pyroscope" */
	const char *path;	  /* behind a URL that has none of its own */
	const char *content_type; /* of what make() makes */
	int (*make)(struct str *out, const struct delivery *delivery);
	bool is_packed;		/* what make() makes goes out in gzip */
	bool is_whole;		/* make() reads the whole, and each series' pick */
	bool labels_are_series; /* each value of a sample's label makes one */
	/* What does a 200 say? Some answer so to whatever they don't know. NULL: yes. */
	enum receiver_says (*read_answer)(const char *answer, size_t n);
};

#define RECEIVERS(X)                                                                     \
	X(pyroscope)                                                                     \
	X(otlp)                                                                          \
	X(parca)

#define X(name) extern const struct receiver name##_receiver;
RECEIVERS(X)
#undef X

/* NULL: there is none of that name. */
const struct receiver *receiver_named(const char *name);

/* The names, as a word_source. */
const char *receiver_name(const void *none, size_t i);

#endif
