// SPDX-License-Identifier: BSD-2-Clause
#include "record/scope.h"

#include "proc/side_event.h"

int scope_add(struct scope *scope, pid_t tgid)
{
	return hmap_put(&scope->inside, (uint64_t)tgid, scope);
}

void scope_free(struct scope *scope)
{
	hmap_free(&scope->inside);
}

static int on_sample(void *arg, const void *record, size_t bytes)
{
	struct scope *scope = arg;

	return scope->next.sample(scope->next.arg, record, bytes);
}

static int on_sideband(void *arg, const void *record, size_t bytes)
{
	struct scope *scope = arg;
	struct side_event event;
	int err;

	if (scope->everyone)
		return scope->next.sideband(scope->next.arg, record, bytes);
	err = side_event_read(&event, record, bytes);
	if (err)
		return err;
	if (event.kind != SIDE_LOST && !hmap_get(&scope->inside, event.pid))
		return 0;
	return scope->next.sideband(scope->next.arg, record, bytes);
}

struct event_sink scope_input(struct scope *scope)
{
	return (struct event_sink){ scope, on_sample, on_sideband };
}
