// SPDX-License-Identifier: BSD-2-Clause
#include "sym/code_verdicts.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

#define GENERATION_MAX	 32768 /* frames; some 100 bytes each */
#define GENERATION_TURNS 30

/* All of a frame that a verdict goes by. */
struct verdict_key {
	uint64_t serial, offset;
	uint32_t returned;
	uint16_t is_unproven, is_uncallable;
};

/* Verdicts by the id of their key. */
struct generation {
	struct intern *keys; /* NULL: none */
	VEC(struct code_verdict) verdicts;
};

/* What is met moves from the old ones to the young ones, that get old together. */
struct code_verdicts {
	struct generation young, old;
	unsigned int turns; /* of the young ones */
};

static void end_generation(struct generation *generation)
{
	intern_free(generation->keys);
	vec_free(&generation->verdicts);
	*generation = (struct generation){ 0 };
}

int code_verdicts_new(struct code_verdicts **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for what code says");
}

void code_verdicts_free(struct code_verdicts *verdicts)
{
	if (!verdicts)
		return;
	end_generation(&verdicts->young);
	end_generation(&verdicts->old);
	free(verdicts);
}

static struct verdict_key key_of(uint64_t serial, const struct frame *frame)
{
	return (struct verdict_key){ serial, frame->offset, frame->returned,
				     frame->unproven, frame->uncallable };
}

static bool find(const struct generation *generation, const struct verdict_key *key,
		 struct code_verdict *ret)
{
	uint32_t id;

	if (!generation->keys || !intern_find(generation->keys, key, sizeof(*key), &id))
		return false;
	*ret = generation->verdicts.items[id];
	return true;
}

static void get_old(struct code_verdicts *verdicts)
{
	end_generation(&verdicts->old);
	verdicts->old = verdicts->young;
	verdicts->young = (struct generation){ 0 };
	verdicts->turns = 0;
}

static int add(struct generation *generation, const struct verdict_key *key,
	       const struct code_verdict *verdict)
{
	uint32_t id;
	int err = generation->keys ? 0 : intern_new(&generation->keys, GENERATION_MAX);

	if (!err)
		err = intern_id(generation->keys, key, sizeof(*key), &id);
	if (!err && id == generation->verdicts.n)
		err = vec_push(&generation->verdicts, *verdict);
	if (err) /* rather none than a key without a verdict */
		end_generation(generation);
	return err;
}

static int keep(struct code_verdicts *verdicts, const struct verdict_key *key,
		const struct code_verdict *verdict)
{
	if (verdicts->young.verdicts.n == GENERATION_MAX)
		get_old(verdicts);
	return add(&verdicts->young, key, verdict);
}

bool code_verdicts_recall(struct code_verdicts *verdicts, uint64_t serial,
			  const struct frame *frame, struct code_verdict *ret)
{
	const struct verdict_key key = key_of(serial, frame);

	if (find(&verdicts->young, &key, ret))
		return true;
	if (!find(&verdicts->old, &key, ret))
		return false;
	if (keep(verdicts, &key, ret))
		error_clear(); /* it is looked for again */
	return true;
}

int code_verdicts_keep(struct code_verdicts *verdicts, uint64_t serial,
		       const struct frame *frame, const struct code_verdict *verdict)
{
	const struct verdict_key key = key_of(serial, frame);

	return keep(verdicts, &key, verdict);
}

void code_verdicts_turn(struct code_verdicts *verdicts)
{
	if (++verdicts->turns >= GENERATION_TURNS)
		get_old(verdicts);
}

static uint64_t bytes_of(const struct generation *generation)
{
	return generation->verdicts.n *
	       (sizeof(struct verdict_key) + sizeof(struct code_verdict));
}

uint64_t code_verdicts_clear(struct code_verdicts *verdicts)
{
	uint64_t bytes = bytes_of(&verdicts->young) + bytes_of(&verdicts->old);

	end_generation(&verdicts->young);
	end_generation(&verdicts->old);
	verdicts->turns = 0;
	return bytes;
}
