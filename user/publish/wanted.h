/* SPDX-License-Identifier: BSD-2-Clause */
/* What has to be found out about a module once it is mapped: whether its file holds
 * keys, and by which unwind table its code is walked. */
#ifndef WEFT_PUBLISH_WANTED_H
#define WEFT_PUBLISH_WANTED_H

#include "publish/delays.h"
#include "publish/tables.h"
#include "sym/files.h"

struct wanted {
	struct files *files;
	struct tables *tables; /* NULL: none are used */
	const struct module_table *modules;
};

/* Asks for what was not asked for yet. */
int wanted_ask(const struct wanted *wanted, const struct process *process,
	       const struct mapping *map);

/* What of it is known by now. arg: a struct wanted */
enum delay_state wanted_state(void *arg, uint32_t module);

#endif
