// SPDX-License-Identifier: BSD-2-Clause
#include "record/sideband_filter.h"

#include "proc/side_event.h"

int sideband_filter_add(struct sideband_filter *filter, pid_t tgid)
{
	return hmap_put(&filter->tgids, (uint64_t)tgid, filter);
}

void sideband_filter_free(struct sideband_filter *filter)
{
	hmap_free(&filter->tgids);
}

static int on_sample(void *arg, const void *record, size_t bytes)
{
	struct sideband_filter *filter = arg;

	return filter->next.sample(filter->next.arg, record, bytes);
}

static int on_sideband(void *arg, const void *record, size_t bytes)
{
	struct sideband_filter *filter = arg;
	struct side_event event;
	int err;

	if (filter->everyone)
		return filter->next.sideband(filter->next.arg, record, bytes);
	err = side_event_read(&event, record, bytes);
	if (err)
		return err;
	if (event.kind != SIDE_LOST && !hmap_get(&filter->tgids, event.pid))
		return 0;
	return filter->next.sideband(filter->next.arg, record, bytes);
}

struct event_sink sideband_filter_input(struct sideband_filter *filter)
{
	return (struct event_sink){ filter, on_sample, on_sideband };
}
