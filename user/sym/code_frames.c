// SPDX-License-Identifier: BSD-2-Clause
#include "sym/code_frames.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

#define NO_USER SIZE_MAX /* whose time is not counted */

struct frame_place {
	uint64_t offset;
	uint32_t module, id;
};

struct code_frames {
	struct code_sources sources;
	struct file_pages *pages;
	struct frame_place *places; /* by module and offset */
	size_t n;
	bool *noticed;	     /* by id */
	struct hmap by_uid;  /* 1 + index */
	VEC(uint64_t) left;  /* microseconds, by user */
	size_t user;	     /* whose file was asked for last, or NO_USER */
	uint32_t module;     /* of that file */
	struct code_file of; /* info NULL: none was asked for, or it has none */
};

static int by_module_and_offset(const void *a, const void *b)
{
	const struct frame_place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* What is not as it was mapped is asked again each time. */
static bool is_lasting(const struct code_frames *frames, uint32_t module)
{
	const struct code_sources *sources = &frames->sources;

	return sources->known &&
	       module_get(sources->modules, module)->kind == MODULE_FILE &&
	       files_fd(sources->files, module) >= 0 &&
	       files_elf_info(sources->files, module);
}

static bool is_known(const struct code_frames *frames, const struct frame *frame)
{
	const struct code_sources *sources = &frames->sources;

	return is_lasting(frames, frame->module) &&
	       known_code_has(sources->known,
			      module_serial(sources->modules, frame->module), frame);
}

static int sort_frames(struct code_frames *frames)
{
	size_t n = intern_count(frames->sources.aggregator->frames);

	frames->places = calloc(n + 1, sizeof(*frames->places));
	frames->noticed = calloc(n + 1, sizeof(*frames->noticed));
	if (!frames->places || !frames->noticed)
		return fail(-ENOMEM, "no memory for %zu frames", n);
	for (uint32_t id = 0; id < n; id++) {
		const struct frame *frame =
			aggregator_frame(frames->sources.aggregator, id);

		if (!is_known(frames, frame))
			frames->places[frames->n++] =
				(struct frame_place){ frame->offset, frame->module, id };
	}
	qsort(frames->places, frames->n, sizeof(*frames->places), by_module_and_offset);
	return 0;
}

int code_frames_new(struct code_frames **ret, const struct code_sources *sources)
{
	AUTO(code_frames) frames = calloc(1, sizeof(*frames));
	int err = frames ? file_pages_new(&frames->pages)
			 : fail(-ENOMEM, "no memory for frames");

	if (err)
		return err;
	frames->sources = *sources;
	frames->user = NO_USER;
	err = sort_frames(frames);
	if (err)
		return err;
	*ret = GIVE(frames);
	return 0;
}

void code_frames_free(struct code_frames *frames)
{
	if (!frames)
		return;
	file_pages_free(frames->pages);
	free(frames->places);
	free(frames->noticed);
	hmap_free(&frames->by_uid);
	vec_free(&frames->left);
	free(frames);
}

bool code_frames_next(const struct code_frames *frames, size_t *i, uint32_t *ret_id)
{
	if (*i == frames->n)
		return false;
	*ret_id = frames->places[(*i)++].id;
	return true;
}

const struct frame *code_frames_get(const struct code_frames *frames, uint32_t id)
{
	return aggregator_frame(frames->sources.aggregator, id);
}

void code_frames_notice(struct code_frames *frames, uint32_t id)
{
	frames->noticed[id] = true;
}

/* Who takes time from now on, and how much he may; who can't be remembered none. */
static uint64_t take_turn(struct code_frames *frames, uid_t uid)
{
	uintptr_t index = (uintptr_t)hmap_get(&frames->by_uid, uid);

	frames->user = NO_USER;
	if (!index) {
		index = frames->left.n + 1;
		if (vec_push(&frames->left, uid ? CODE_US : CODE_ROOTS_US) ||
		    hmap_put(&frames->by_uid, uid, (void *)index)) {
			error_clear();
			return 0;
		}
	}
	frames->user = index - 1;
	return frames->left.items[frames->user];
}

static void end_turn(struct code_frames *frames)
{
	if (frames->user != NO_USER)
		frames->left.items[frames->user] = file_pages_left_us(frames->pages);
	frames->user = NO_USER;
}

static void begin_turn(struct code_frames *frames, uint32_t module)
{
	int fd = files_fd(frames->sources.files, module);

	frames->module = module;
	frames->of = (struct code_file){ { frames->pages, fd }, NULL };
	if (fd < 0)
		return;
	frames->of.info = files_elf_info(frames->sources.files, module);
	file_pages_allow(frames->pages,
			 take_turn(frames, files_payer(frames->sources.files, module)));
}

bool code_frames_file(struct code_frames *frames, const struct frame *frame,
		      struct code_file *ret)
{
	if (!frames->of.info || frames->module != frame->module) {
		end_turn(frames);
		begin_turn(frames, frame->module);
	}
	*ret = frames->of;
	return ret->info;
}

bool code_frames_is_spent(const struct code_frames *frames)
{
	return !file_pages_left_us(frames->pages);
}

/* Was all read that was to be, of the files of this one's user? */
static bool is_all_read(const struct code_frames *frames, uint32_t module)
{
	uid_t uid = files_payer(frames->sources.files, module);
	uintptr_t index = (uintptr_t)hmap_get(&frames->by_uid, uid);

	return index && frames->left.items[index - 1];
}

void code_frames_remember(struct code_frames *frames)
{
	const struct code_sources *sources = &frames->sources;

	end_turn(frames);
	frames->of.info = NULL;
	for (size_t i = 0; i < frames->n; i++) {
		const struct frame_place *place = &frames->places[i];

		if (!frames->noticed[place->id] && is_lasting(frames, place->module) &&
		    is_all_read(frames, place->module))
			known_code_add(sources->known,
				       module_serial(sources->modules, place->module),
				       code_frames_get(frames, place->id));
	}
}
