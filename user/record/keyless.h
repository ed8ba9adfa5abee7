/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that show no async callers although they have them: in a program that was
 * stripped and linked without -rdynamic nothing tells where folly keeps its key.
 */
#ifndef WEFT_RECORD_KEYLESS_H
#define WEFT_RECORD_KEYLESS_H

#include "base/json.h"
#include "core/aggregator.h"
#include "core/module.h"
#include "shared/async_abi.h"
#include "sym/files.h"

#define KEYLESS_PATH_BYTES 256 /* longer paths are cut */

#define KEYLESS_OPTION "-Wl,--export-dynamic-symbol=" ASYNC_KEY_SYMBOL

struct keyless {
	uint64_t processes; /* with a sample in such a file, each incarnation once */
	char path[KEYLESS_PATH_BYTES]; /* of the first such file; clean; "": none */
};

/* 0 or -ENOMEM. Before the aggregator's timeline goes to the profile. */
int keyless_count(struct keyless *ret, const struct aggregator *aggregator,
		  const struct module_table *modules, const struct files *files);

void keyless_summary(struct str *out, const struct keyless *keyless);
void keyless_json(struct json *json, const struct keyless *keyless);

#endif
