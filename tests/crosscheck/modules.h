/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has mapped, as libdwfl is told it: kept up to date by the
 * sideband's events, made into a list of modules when somebody asks.
 */
#ifndef CROSSCHECK_MODULES_H
#define CROSSCHECK_MODULES_H

#include "base/cleanup.h"
#include "proc/side_event.h"

#include <elfutils/libdwfl.h>

struct modules;

int modules_new(struct modules **ret);
void modules_free(struct modules *modules);
DEFINE_FREEP(modules)

/* Events in the order of their times. */
int modules_event(struct modules *modules, const struct side_event *event);

/*
 * The process's modules as of the last event; NULL with a sentence: none.
 * Borrowed until the next event.
 */
Dwfl *modules_of(struct modules *modules, uint32_t pid);

/* Does the address lie in what the process may execute, of a file or not? */
bool modules_is_code(const struct modules *modules, uint32_t pid, uint64_t addr);

/* Modules that libdwfl would not take. */
uint64_t modules_refused(const struct modules *modules);

#endif
