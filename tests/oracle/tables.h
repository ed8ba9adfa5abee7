/* SPDX-License-Identifier: BSD-2-Clause */
/* The stepped program's unwind table, made of its own file as for any; or none. */
#ifndef WEFT_TESTS_ORACLE_TABLES_H
#define WEFT_TESTS_ORACLE_TABLES_H

#include "shadow.h"

#include "shared/knobs.h"

#include <stdbool.h>

/* Lends a mapping table and the unwind table to the walker. False: there is none. */
bool tables_publish(const char *path, const struct shadow *shadow,
		    struct process_info *ret);

/* A mapping table that knows of no table: as of generated code. */
void tables_publish_none(const struct shadow *shadow, struct process_info *ret);

#endif
