// SPDX-License-Identifier: BSD-2-Clause
#include "record/recording_look.h"

#include "base/clock.h"
#include "base/log.h"
#include "proc/reap.h"

#include <string.h>

#define LOOK_PACE_NS   SECOND_NS
#define UNREAD_LOOK_NS 50000000ULL  /* at once */
#define OTHERS_LOOK_NS 400000000ULL /* at processes that are not root's, at the start */

/* How long the worker may take for the files of all who run already, so that the
 * first tick finds their tables: those of root's processes, or of whom was asked for; and
 * those of anybody, less what it took to read who runs. */
#define FIRST_SCAN_MS  4000
#define OTHERS_SCAN_MS 900
#define OTHERS_MIN_MS  100

/* How long a command may take to find its program, on a disk or a server. */
#define MAPPED_MS 1000

/* Since then a process's generated code is as it is. */
static void on_code(void *arg, uint32_t tgid, uint64_t since_ns)
{
	struct recording *r = arg;
	const uint64_t numbers[] = { tgid, since_ns };

	if (r->tape)
		tape_write(r->tape, TAPE_CODE, numbers, sizeof(numbers));
	process_set_code_since(pipeline_processes(r->pipeline), tgid, since_ns);
}

int recording_advance(struct recording *r, uint64_t horizon_ns)
{
	jitdumps_look(r->jitdumps, pipeline_processes(r->pipeline), on_code, r);
	if (r->tape)
		tape_write(r->tape, TAPE_ADVANCE, &horizon_ns, sizeof(horizon_ns));
	return pipeline_advance(r->pipeline, horizon_ns);
}

/*
 * Who is there already. The sideband runs since before, so nothing falls
 * between; a command begins with nothing but what it will map.
 */
static int look_around(struct recording *r, bool everyone, uint64_t others_ns)
{
	struct event_sink input = sideband_filter_input(&r->filter);
	const struct pid_list *tgids = &r->options->tgids;
	int err = 0;

	r->unread.n = 0; /* who runs where nothing is known says so again */
	if (!r->filter.everyone)
		for (unsigned int i = 0; !err && i < tgids->n; i++)
			err = scan_process(r->opener, tgids->pids[i], clock_now_ns(),
					   &input);
	else if (everyone)
		err = scan_all(r->opener, pipeline_processes(r->pipeline), &input,
			       others_ns, &r->unread);
	if (!err)
		err = recording_advance(r, clock_now_ns());
	r->looked_ns = clock_now_ns();
	return err;
}

/* A command is not there yet, but has mapped its program. Our own C library and dynamic
 * linker, which it has until then, are most likely its, too, and the kernel's page for
 * all. */
static int look_at_command(struct recording *r)
{
	struct event_sink input = sideband_filter_input(&r->filter);

	command_wait_mapped(&r->command, MAPPED_MS);
	return scan_process(r->opener, r->command.pid, clock_now_ns(), &input);
}

static struct wait_limits first_limits(const struct recording *r, uint64_t begun_ns)
{
	struct wait_limits ret = { .all_ms = FIRST_SCAN_MS, .roots_ms = FIRST_SCAN_MS };
	uint64_t passed_ms = (clock_now_ns() - begun_ns) / 1000000;

	if (recording_is_of_some(r))
		return ret;
	ret.all_ms = OTHERS_MIN_MS;
	if (passed_ms < OTHERS_SCAN_MS - OTHERS_MIN_MS)
		ret.all_ms = OTHERS_SCAN_MS - (int)passed_ms;
	return ret;
}

int recording_look_first(struct recording *r)
{
	uint64_t begun_ns = clock_now_ns();
	struct wait_limits limits;
	int err = look_around(r, !r->options->command, OTHERS_LOOK_NS);

	if (!err && r->options->command)
		err = look_at_command(r);
	limits = first_limits(r, begun_ns);
	if (!err)
		err = publisher_flush(r->publisher, &limits);
	return err < 0 ? err : 0;
}

/* Ends those of whose end nothing was heard. The publisher hears of processes sooner,
 * and may know some that the pipeline does not. */
static int reap(struct recording *r)
{
	struct event_sink input = sideband_filter_input(&r->filter);
	const struct process_table *ours = pipeline_processes(r->pipeline);
	int err = reap_lost_exits(r->opener, ours, NULL, &input);

	return err ? err
		   : reap_lost_exits(r->opener, publisher_processes(r->publisher), ours,
				     &input);
}

/* What was not told is read again; in a storm of losses now and then, or that
 * reading would be all we do and lose more. */
int recording_look_again(struct recording *r, bool lost)
{
	int err;

	if (lost || sampler_was_unwatched(r->sampler))
		r->must_look = true;
	if (!r->must_look || clock_now_ns() - r->looked_ns < LOOK_PACE_NS)
		return 0;
	r->must_look = false;
	err = reap(r);
	if (!err) /* who has ended is not taken for who goes on */
		err = recording_advance(r, clock_now_ns());
	return err ? err : look_around(r, true, UNREAD_LOOK_NS);
}

/* Code that was moved by mremap(2), of which the sideband does not tell; or that of a
 * program whose exec was lost, or that maps too much to be read before; or of one of many
 * processes that were there. Many wait: the rings must be read meanwhile. */
int recording_look_at_unread(struct recording *r)
{
	struct event_sink input = sideband_filter_input(&r->filter);
	const struct process_table *known = pipeline_processes(r->pipeline);
	uint64_t until = clock_now_ns() + UNREAD_LOOK_NS;
	size_t n = 0;
	int err = 0;

	while (!err && n < r->unread.n && (!n || clock_now_ns() < until))
		err = scan_again(r->opener, known, (pid_t)r->unread.items[n++], &input);
	r->unread.n -= n;
	if (n)
		memmove(r->unread.items, r->unread.items + n,
			r->unread.n * sizeof(*r->unread.items));
	return err;
}
