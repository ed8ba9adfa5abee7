// SPDX-License-Identifier: BSD-2-Clause
#include "core/aggregator.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

void aggregator_free(struct aggregator *aggregator)
{
	if (!aggregator)
		return;
	intern_free(aggregator->frames);
	vec_free(&aggregator->frame_times);
	intern_free(aggregator->stacks);
	stack_shares_free(&aggregator->shares);
	intern_free(aggregator->comms);
	intern_free(aggregator->processes);
	intern_free(aggregator->threads);
	timeline_free(&aggregator->timeline);
	intern_free(aggregator->labels);
	intern_free(aggregator->traces);
	free(aggregator);
}

/* Number 0 of each, for whoever comes beyond a limit. */
static int add_nobody(struct aggregator *aggregator)
{
	const struct aggregator_process process = { 0 };
	const struct aggregator_thread thread = { 0 };
	const struct trace_ids none = { 0 };
	uint32_t id;
	int err = intern_id(aggregator->processes, &process, sizeof(process), &id);

	if (!err)
		err = intern_id(aggregator->traces, &none, sizeof(none), &id);
	if (!err)
		err = intern_id(aggregator->comms, COMM_OTHER, strlen(COMM_OTHER), &id);
	return err ? err : intern_id(aggregator->threads, &thread, sizeof(thread), &id);
}

int aggregator_new(struct aggregator **ret)
{
	AUTO(aggregator) aggregator = calloc(1, sizeof(*aggregator));
	int err;

	if (!aggregator)
		return fail(-ENOMEM, "no memory for the profile");
	err = intern_new(&aggregator->frames, FRAMES_DISTINCT_MAX);
	if (!err)
		err = intern_new(&aggregator->stacks, STACKS_MAX);
	if (!err)
		err = intern_new(&aggregator->comms, COMMS_MAX);
	if (!err)
		err = intern_new(&aggregator->labels, LABELS_MAX);
	if (!err)
		err = intern_new(&aggregator->traces, TRACES_MAX);
	if (!err)
		err = intern_new(&aggregator->processes, OWNERS_MAX);
	if (!err)
		err = intern_new(&aggregator->threads, OWNERS_MAX);
	if (!err)
		err = add_nobody(aggregator);
	if (err)
		return err;
	intern_limit_bytes(aggregator->frames, FRAME_BYTES_MAX);
	intern_limit_bytes(aggregator->stacks, STACK_BYTES_MAX);
	intern_limit_bytes(aggregator->labels, LABEL_BYTES_MAX);
	intern_limit_bytes(aggregator->traces, TRACE_BYTES_MAX);
	*ret = GIVE(aggregator);
	return 0;
}

int aggregator_begin_sample(struct aggregator *aggregator, uint32_t user)
{
	int err = stack_shares_begin(&aggregator->shares, user, &aggregator->share);

	if (err)
		return err;
	intern_begin_turn(aggregator->frames);
	intern_begin_turn(aggregator->stacks);
	if (stack_share_is_used_up(aggregator->share))
		intern_end_turn(aggregator->frames);
	return 0;
}

static int full_is_nobody(int err, uint32_t *ret)
{
	if (err == INTERN_FULL)
		*ret = 0;
	return err < 0 ? err : 0;
}

static int thread_id(struct aggregator *aggregator, uint32_t comm,
		     const struct sample_owner *owner, uint32_t *ret)
{
	const struct aggregator_process process = { owner->tgid, owner->incarnation };
	struct aggregator_thread thread = { 0, owner->tid, comm };
	int err = full_is_nobody(intern_id(aggregator->processes, &process,
					   sizeof(process), &thread.process),
				 &thread.process);

	return err ? err
		   : full_is_nobody(
			     intern_id(aggregator->threads, &thread, sizeof(thread), ret),
			     ret);
}

/* The first sample's weight is the usual one. */
static struct timeline_amount amount_of(struct aggregator *aggregator,
					const struct sample_owner *owner)
{
	struct timeline_amount one = { 1, owner->weight_ns };

	if (!aggregator->period_ns)
		aggregator->period_ns = owner->weight_ns;
	if (owner->weight_ns == aggregator->period_ns)
		one.weight_ns = 0;
	return one;
}

/* The same sample, as if its walk had seen nothing. */
static int cut_stack_id(struct aggregator *aggregator, const uint32_t *codes,
			uint32_t *ret)
{
	uint32_t cut[STACK_HEAD];

	memcpy(cut, codes, sizeof(cut));
	cut[STACK_ENDING] = END_BUDGET;
	cut[STACK_KERNEL] = cut[STACK_THREAD] = 0;
	aggregator->samples.over_share++;
	return intern_id(aggregator->stacks, cut, sizeof(cut), ret);
}

/* That of the codes, if it is there or its user may bring it. */
static int stack_id(struct aggregator *aggregator, const uint32_t *codes, size_t n,
		    uint32_t *ret)
{
	struct intern *stacks = aggregator->stacks;
	size_t bytes = n * sizeof(*codes), known = intern_count(stacks);
	int err;

	if (stack_share_is_used_up(aggregator->share))
		return intern_find(stacks, codes, bytes, ret)
			       ? 0
			       : cut_stack_id(aggregator, codes, ret);
	err = intern_id(stacks, codes, bytes, ret);
	if (!err && *ret == known)
		stack_share_take(aggregator->share, stacks, *ret);
	return err;
}

int aggregator_add(struct aggregator *aggregator, const uint32_t *codes, size_t n,
		   const struct sample_owner *owner)
{
	uint64_t second = (owner->time_ns + aggregator->unix_offset_ns) / 1000000000;
	uint32_t stack, thread, sample_key;
	int err = stack_id(aggregator, codes, n, &stack);

	if (err == INTERN_FULL) {
		aggregator->samples.refused++;
		return 0;
	}
	if (!err)
		err = thread_id(aggregator, codes[STACK_COMM], owner, &thread);
	if (!err)
		err = timeline_sample_key(&aggregator->timeline,
					  (struct pair){ stack, thread }, &sample_key);
	if (err == PAIRS_FULL) {
		aggregator->timeline.refused++;
		return 0;
	}
	return err ? err
		   : timeline_add_by_key(&aggregator->timeline, (uint32_t)second,
					 sample_key, amount_of(aggregator, owner));
}

int aggregator_frame_id(struct aggregator *aggregator, const struct frame *frame,
			uint32_t *ret)
{
	return intern_id(aggregator->frames, frame, sizeof(*frame), ret);
}

const struct frame *aggregator_frame(const struct aggregator *aggregator, uint32_t id)
{
	size_t bytes;

	return intern_bytes(aggregator->frames, id, &bytes);
}

int aggregator_frame_seen(struct aggregator *aggregator, uint32_t id, uint64_t time_ns)
{
	struct frame_times *times;
	int err = 0;

	while (!err && aggregator->frame_times.n <= id)
		err = vec_push(&aggregator->frame_times, (struct frame_times){ 0 });
	if (err)
		return err;
	times = &aggregator->frame_times.items[id];
	if (!times->first_ns || time_ns < times->first_ns)
		times->first_ns = time_ns;
	if (time_ns > times->last_ns)
		times->last_ns = time_ns;
	return 0;
}
