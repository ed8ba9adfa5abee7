// SPDX-License-Identifier: BSD-2-Clause
/* The user half over a tape: the same pipeline, with names from the tape. */
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/name.h"
#include "record/run_info.h"
#include "pipeline/profile_builder.h"
#include "record/output.h"
#include "pipeline/pipeline.h"
#include "pipeline/window.h"
#include "record/tape_report.h"

#include <errno.h>
#include <string.h>

struct player {
	struct pipeline *pipeline;
	struct window *window;
	struct names *names;
	struct stats stats;
};

static int on_counted(void *arg, const struct sample_rec *rec,
		      const struct process *process)
{
	struct player *player = arg;

	return window_add(player->window, rec, process);
}

static int on_advance(void *arg, uint64_t horizon_ns)
{
	struct player *player = arg;

	return pipeline_advance(player->pipeline, horizon_ns);
}

static int on_code(void *arg, uint32_t tgid, uint64_t since_ns)
{
	struct player *player = arg;

	process_set_code_since(pipeline_processes(player->pipeline), tgid, since_ns);
	return 0;
}

static int on_replaced(void *arg, uint32_t tgid, const uint64_t numbers[4])
{
	const struct replaced_place place = { numbers[0], numbers[1], numbers[2],
					      numbers[3] };
	struct player *player = arg;

	return replaced_put(pipeline_replaced(player->pipeline), tgid, &place);
}

static int on_settled(void *arg, uint32_t tgid, uint64_t now_ns)
{
	struct player *player = arg;

	replaced_settle(pipeline_replaced(player->pipeline), tgid, now_ns);
	return 0;
}

static size_t n_frames(const struct player *player)
{
	return intern_count(window_aggregator(player->window)->frames);
}

static int on_name(void *arg, uint32_t frame, const char *name)
{
	struct player *player = arg;
	AUTO_STR clean = { 0 };
	int err;

	if (frame >= n_frames(player))
		return fail(-EBADMSG, "a name for frame %u, which does not exist", frame);
	name_add(&clean, name, strlen(name));
	err = str_error(&clean);
	return err ? err : names_set(player->names, frame, clean.s);
}

static int on_bad_return(void *arg, uint32_t frame, enum tape_item why)
{
	static const enum bad_return reasons[] = {
		[TAPE_UNCALLED] = BAD_RETURN_MISTAKEN,
		[TAPE_MADE] = BAD_RETURN_BOTTOM,
		[TAPE_SWITCHES] = BAD_RETURN_SWITCH,
	};
	struct player *player = arg;

	if (frame >= n_frames(player))
		return fail(-EBADMSG, "a mark for frame %u, which does not exist", frame);
	return why == TAPE_COPY
		       ? names_set_copied_start(player->names, frame)
		       : names_set_bad_return(player->names, frame, reasons[why]);
}

static int on_misled(void *arg, const uint32_t pair[2])
{
	struct player *player = arg;
	uint32_t n = n_frames(player);

	if (pair[0] >= n || pair[1] >= n)
		return fail(-EBADMSG, "a mark for frames %u and %u", pair[0], pair[1]);
	return names_set_misled(player->names, pair[0], pair[1]);
}

static int on_totals(void *arg, const uint64_t *numbers, size_t n)
{
	struct player *player = arg;

	return stats_from_tape(&player->stats, numbers, n);
}

static int play(struct player *player, const char *tape)
{
	struct tape_events events = {
		.arg = player,
		.sink = pipeline_input(player->pipeline),
		.advance = on_advance,
		.code = on_code,
		.replaced = on_replaced,
		.settled = on_settled,
		.name = on_name,
		.bad_return = on_bad_return,
		.misled = on_misled,
		.totals = on_totals,
	};
	int err = tape_play(tape, &events);

	if (err == TAPE_CUT) {
		log_warn("the tape %s was cut short: weft shows what is on it", tape);
		memset(player->stats.totals.ledgers, 0, /* unknown */
		       sizeof(player->stats.totals.ledgers));
		return pipeline_advance(player->pipeline, UINT64_MAX);
	}
	return err;
}

/* What it says of the run as a whole; when and where is not on a tape. */
static int add_run_info(struct player *player, struct profile *profile)
{
	const struct profile_run run = { .hz = player->stats.hz };
	int err = player->stats.hz ? profile_add_run(profile, &run) : 0;

	return err ? err : run_info_end(profile, &player->stats);
}

static int write_out(struct player *player, const struct report_options *options)
{
	const struct output_file file = { options->output, options->writer };
	const struct output output = { &file, 1, options->stats_json, options->view,
				       options->summary };
	const struct profile_sources sources = { .processes = pipeline_processes(
							 player->pipeline),
						 .no_labels = options->no_labels,
						 .all_modules = true };
	struct aggregator *aggregator = window_aggregator(player->window);
	AUTO(profile_builder) builder = NULL;
	int err = profile_builder_new(&builder, aggregator,
				      pipeline_modules(player->pipeline));

	if (err)
		return err;
	profile_builder_set_sources(builder, &sources);
	err = profile_builder_finish(builder, player->names);
	if (!err)
		err = name_ledger_count(
			&player->stats.names,
			&(struct name_ledger_source){
				aggregator, pipeline_modules(player->pipeline),
				player->names, profile_builder_profile(builder), NULL });
	if (err)
		return err;
	player->stats.aggregator = aggregator;
	player->stats.processes = *process_counts(pipeline_processes(player->pipeline));
	stats_count_views(&player->stats, profile_builder_profile(builder),
			  options->view);
	stats_check(&player->stats);
	err = add_run_info(player, profile_builder_profile(builder));
	if (!err)
		err = output_profile(&file, profile_builder_profile(builder),
				     options->view);
	return err ? err : output_stats(&output, &player->stats);
}

int tape_report_run(const struct report_options *options)
{
	AUTO(pipeline) pipeline = NULL;
	AUTO(window) window = NULL; /* freed before what it borrows */
	AUTO(names) names = NULL;
	struct player player = { 0 };
	const struct pipeline_sink sink = { .process.arg = &player,
					    .sample = on_counted };
	int err = pipeline_new(&pipeline, &sink);

	signals_let_go(NULL);
	if (!err)
		err = window_new(&window, pipeline_modules(pipeline));
	if (!err)
		err = names_new(&names);
	if (err)
		return err;
	player.pipeline = pipeline;
	player.window = window;
	player.names = names;
	err = play(&player, options->tape);
	return err ? err : write_out(&player, options);
}
