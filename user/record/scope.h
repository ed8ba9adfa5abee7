/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose sideband records matter: everyone's, or some processes'. The kernel
 * reports all of them; what the samples can't be about is dropped at the door,
 * and its files are never opened.
 */
#ifndef WEFT_RECORD_SCOPE_H
#define WEFT_RECORD_SCOPE_H

#include "base/hmap.h"
#include "core/event.h"

#include <stdbool.h>
#include <sys/types.h>

struct scope {
	bool everyone;
	struct hmap inside;
	struct event_sink next;
};

int scope_add(struct scope *scope, pid_t tgid);
void scope_free(struct scope *scope);

/* Hands on to scope->next what is inside. */
struct event_sink scope_input(struct scope *scope);

#endif
