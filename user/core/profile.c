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
	free(profile->counts);
	free(profile);
}

int profile_new(struct profile **ret)
{
	AUTO(profile) profile = calloc(1, sizeof(*profile));
	int err;

	if (!profile)
		return fail(-ENOMEM, "no memory for the profile");
	err = intern_new(&profile->frames, FRAMES_DISTINCT_MOST);
	if (!err)
		err = intern_new(&profile->stacks, STACKS_MOST);
	if (!err)
		err = intern_new(&profile->comms, COMMS_MOST);
	if (err)
		return err;
	*ret = GIVE(profile);
	return 0;
}

static int make_room(struct profile *profile, uint32_t id)
{
	size_t room = profile->room ? profile->room * 2 : 1024;
	uint64_t *counts;

	if (id < profile->room)
		return 0;
	counts = reallocarray(profile->counts, room, sizeof(*counts));
	if (!counts)
		return fail(-ENOMEM, "no memory for %zu stacks", room);
	memset(counts + profile->room, 0, (room - profile->room) * sizeof(*counts));
	profile->counts = counts;
	profile->room = room;
	return 0;
}

int profile_add(struct profile *profile, const uint32_t *codes, size_t n)
{
	uint32_t id;
	int err = intern_id(profile->stacks, codes, n * sizeof(*codes), &id);

	if (err == INTERN_FULL) {
		profile->samples.refused++;
		return 0;
	}
	if (!err)
		err = make_room(profile, id);
	if (!err)
		profile->counts[id]++;
	return err;
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
