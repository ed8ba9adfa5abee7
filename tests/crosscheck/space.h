/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has mapped, as libdwfl is told it: kept up to date by the
 * sideband's events, made into a list of modules when somebody asks.
 */
#ifndef CROSSCHECK_SPACE_H
#define CROSSCHECK_SPACE_H

#include "base/cleanup.h"
#include "proc/side_event.h"

#include <elfutils/libdwfl.h>

struct spaces;

int spaces_new(struct spaces **ret);
void spaces_free(struct spaces *spaces);
DEFINE_FREEP(spaces)

/* Events in the order of their times. */
int spaces_event(struct spaces *spaces, const struct side_event *event);

/*
 * The process's modules as of the last event; NULL with a sentence: none.
 * Borrowed until the next event.
 */
Dwfl *spaces_modules(struct spaces *spaces, uint32_t pid);

/* Modules that libdwfl would not take. */
uint64_t spaces_refused(const struct spaces *spaces);

#endif
