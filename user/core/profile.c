// SPDX-License-Identifier: BSD-2-Clause
#include "core/profile.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	intern_free(profile->frames);
	intern_free(profile->stacks);
	intern_free(profile->comms);
	intern_free(profile->processes);
	intern_free(profile->threads);
	timeline_free(&profile->timeline);
	intern_free(profile->labels);
	free(profile);
}

/* Number 0 of each, for whoever comes beyond a limit. */
static int add_nobody(struct profile *profile)
{
	const struct profile_process process = { 0 };
	const struct profile_thread thread = { 0 };
	uint32_t id;
	int err = intern_id(profile->processes, &process, sizeof(process), &id);

	if (!err)
		err = intern_id(profile->comms, COMM_OTHER, strlen(COMM_OTHER), &id);
	return err ? err : intern_id(profile->threads, &thread, sizeof(thread), &id);
}

int profile_new(struct profile **ret)
{
	AUTO(profile) profile = calloc(1, sizeof(*profile));
	int err;

	if (!profile)
		return fail(-ENOMEM, "no memory for the profile");
	err = intern_new(&profile->frames, FRAMES_DISTINCT_MAX);
	if (!err)
		err = intern_new(&profile->stacks, STACKS_MAX);
	if (!err)
		err = intern_new(&profile->comms, COMMS_MAX);
	if (!err)
		err = intern_new(&profile->labels, LABELS_MAX);
	if (!err)
		err = intern_new(&profile->processes, OWNERS_MAX);
	if (!err)
		err = intern_new(&profile->threads, OWNERS_MAX);
	if (!err)
		err = add_nobody(profile);
	if (err)
		return err;
	intern_limit_bytes(profile->frames, FRAME_BYTES_MAX);
	intern_limit_bytes(profile->stacks, STACK_BYTES_MAX);
	intern_limit_bytes(profile->labels, LABEL_BYTES_MAX);
	*ret = GIVE(profile);
	return 0;
}

static int full_is_nobody(int err, uint32_t *ret)
{
	if (err == INTERN_FULL)
		*ret = 0;
	return err < 0 ? err : 0;
}

static int thread_id(struct profile *profile, uint32_t comm,
		     const struct profile_owner *owner, uint32_t *ret)
{
	const struct profile_process process = { owner->tgid, owner->life };
	struct profile_thread thread = { 0, owner->tid, comm };
	int err = full_is_nobody(
		intern_id(profile->processes, &process, sizeof(process), &thread.process),
		&thread.process);

	return err ? err
		   : full_is_nobody(
			     intern_id(profile->threads, &thread, sizeof(thread), ret),
			     ret);
}

/* The first sample's weight is the usual one. */
static struct timeline_amount amount_of(struct profile *profile,
					const struct profile_owner *owner)
{
	struct timeline_amount one = { 1, owner->weight_ns };

	if (!profile->period_ns)
		profile->period_ns = owner->weight_ns;
	if (owner->weight_ns == profile->period_ns)
		one.weight_ns = 0;
	return one;
}

int profile_add(struct profile *profile, const uint32_t *codes, size_t n,
		const struct profile_owner *owner)
{
	uint64_t second = (owner->time_ns + profile->unix_offset_ns) / 1000000000;
	uint32_t stack, thread, use;
	int err = intern_id(profile->stacks, codes, n * sizeof(*codes), &stack);

	if (err == INTERN_FULL) {
		profile->samples.refused++;
		return 0;
	}
	if (!err)
		err = thread_id(profile, codes[STACK_COMM], owner, &thread);
	if (!err)
		err = timeline_use(&profile->timeline, (struct pair){ stack, thread },
				   &use);
	if (err == PAIRS_FULL) {
		profile->timeline.refused++;
		return 0;
	}
	return err ? err
		   : timeline_add_use(&profile->timeline, (uint32_t)second, use,
				      amount_of(profile, owner));
}

int profile_frame_id(struct profile *profile, const struct frame *frame, uint32_t *ret)
{
	return intern_id(profile->frames, frame, sizeof(*frame), ret);
}

const struct frame *profile_frame(const struct profile *profile, uint32_t id)
{
	size_t bytes;

	return intern_bytes(profile->frames, id, &bytes);
}
