// SPDX-License-Identifier: BSD-2-Clause
#include "sym/known_code.h"

#include "base/error.h"
#include "base/hmap.h"

#include <errno.h>
#include <stdlib.h>

/* A frame is let go that no window had for one to two times so many. */
#define KEPT_WINDOWS	 6
#define KNOWN_FRAMES_MAX (1u << 16) /* of that time */
#define KEY_BITS	 3	    /* what tells frames of one place apart */

struct generation {
	struct hmap modules; /* a struct hmap by serial, of frames; values say nothing */
	size_t n;	     /* frames */
};

struct known_code {
	struct generation now, before;
	unsigned int turns;
};

int known_code_new(struct known_code **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for code that is known");
}

static void free_generation(struct generation *generation)
{
	struct hmap *frames;

	for (size_t i = 0; (frames = hmap_next(&generation->modules, &i));) {
		hmap_free(frames);
		free(frames);
	}
	hmap_free(&generation->modules);
	*generation = (struct generation){ 0 };
}

void known_code_free(struct known_code *known)
{
	if (!known)
		return;
	known_code_clear(known);
	free(known);
}

static uint64_t bytes_of(const struct generation *generation)
{
	uint64_t bytes = 0;
	struct hmap *frames;

	for (size_t i = 0; (frames = hmap_next(&generation->modules, &i));)
		bytes += sizeof(*frames) + (frames->mask + 1) * sizeof(*frames->slots);
	return bytes;
}

uint64_t known_code_clear(struct known_code *known)
{
	uint64_t bytes = bytes_of(&known->now) + bytes_of(&known->before);

	free_generation(&known->now);
	free_generation(&known->before);
	return bytes;
}

/* What a frame's check goes by, beside its module. */
static bool make_key(const struct frame *frame, uint64_t *ret)
{
	*ret = frame->offset << KEY_BITS | (frame->returned == 1) << 2 |
	       (frame->unproven != 0) << 1 | (frame->uncallable != 0);
	return frame->offset >> (64 - KEY_BITS) == 0 && frame->returned <= 1;
}

static bool has(const struct generation *generation, uint64_t serial, uint64_t key)
{
	const struct hmap *frames = hmap_get(&generation->modules, serial);

	return frames && hmap_get(frames, key);
}

static struct hmap *frames_of(struct generation *generation, uint64_t serial)
{
	struct hmap *frames = hmap_get(&generation->modules, serial);

	if (frames)
		return frames;
	frames = calloc(1, sizeof(*frames));
	if (frames && hmap_put(&generation->modules, serial, frames)) {
		free(frames);
		return NULL;
	}
	return frames;
}

static void add(struct known_code *known, uint64_t serial, uint64_t key)
{
	struct hmap *frames;

	if (known->now.n >= KNOWN_FRAMES_MAX)
		return;
	frames = frames_of(&known->now, serial);
	if (frames && !hmap_put(frames, key, known))
		known->now.n++;
	else
		error_clear();
}

bool known_code_has(struct known_code *known, uint64_t serial, const struct frame *frame)
{
	uint64_t key;

	if (!make_key(frame, &key))
		return false;
	if (has(&known->now, serial, key))
		return true;
	if (!has(&known->before, serial, key))
		return false;
	add(known, serial, key);
	return true;
}

void known_code_add(struct known_code *known, uint64_t serial, const struct frame *frame)
{
	uint64_t key;

	if (make_key(frame, &key) && !has(&known->now, serial, key))
		add(known, serial, key);
}

void known_code_turn(struct known_code *known)
{
	if (++known->turns % KEPT_WINDOWS)
		return;
	free_generation(&known->before);
	known->before = known->now;
	known->now = (struct generation){ 0 };
}
