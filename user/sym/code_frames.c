// SPDX-License-Identifier: BSD-2-Clause
#include "sym/code_frames.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#ifdef __aarch64__
#define HOST_MACHINE EM_AARCH64
#else
#define HOST_MACHINE EM_X86_64
#endif

#define NO_USER SIZE_MAX /* whose time is not counted */

/* Of what is no ELF file (Wine's programs, .NET's libraries): it lies in memory as in the
 * file, and is for this machine. */
static const struct elf_info no_elf = { .machine = HOST_MACHINE, .type = ET_NONE };

struct frame_place {
	uint64_t offset;
	uint32_t module, id;
};

struct code_frames {
	const struct aggregator *aggregator;
	const struct files *files;
	struct file_pages *pages;
	struct frame_place *places; /* by module and offset */
	size_t n;
	struct hmap by_uid;  /* 1 + index */
	VEC(uint64_t) left;  /* microseconds, by user */
	size_t user;	     /* whose file was asked for last, or NO_USER */
	uint32_t module;     /* of that file */
	struct code_file of; /* info NULL: none was asked for, or it has none */
	struct fde last;
};

bool code_file_fde(const struct code_file *in, uint64_t vaddr, struct fde *ret)
{
	struct fde *last = in->last;

	if (vaddr < last->begin || vaddr >= last->next) {
		last->next = 0;
		if (!fde_index_find(&in->file, in->info, vaddr, ret))
			return false;
		*last = *ret;
	}
	*ret = *last;
	return true;
}

bool code_file_function(const struct code_file *in, const struct frame *frame,
			struct fde *ret, uint64_t *ret_at)
{
	uint64_t vaddr;

	if (!elf_vaddr_of_offset(in->info, frame->offset, &vaddr) ||
	    !code_file_fde(in, vaddr - frame->returned, ret))
		return false;
	*ret_at = vaddr - ret->begin;
	return true;
}

bool code_file_said(const struct code_file *in, const struct fde *fde,
		    uint8_t bytes[CODE_SAID_MAX], struct cfi_cursor *ret)
{
	size_t n = fde->said_bytes;

	if (n > CODE_SAID_MAX || paged_read(&in->file, fde->said_offset, bytes, n) != n)
		return false;
	*ret = (struct cfi_cursor){ .at = bytes, .end = bytes + n };
	cfi_skip(ret, cfi_uleb(ret));
	return !ret->bad;
}

#define BYTES_A_US 512 /* that are gone through; rather fewer */

size_t code_file_read(const struct code_file *in, uint64_t vaddr, void *buf, size_t n)
{
	if (!file_pages_left_us(in->file.pages))
		return 0;
	file_pages_spend(in->file.pages, n / BYTES_A_US);
	for (uint32_t i = 0; i < in->info->n_segments; i++) {
		const struct elf_segment *segment = &in->info->segments[i];
		uint64_t into = vaddr - segment->vaddr;

		if (into < segment->file_bytes)
			return paged_read(&in->file, segment->offset + into, buf, n);
	}
	return 0;
}

static int by_module_and_offset(const void *a, const void *b)
{
	const struct frame_place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int sort_frames(struct code_frames *frames)
{
	size_t n = intern_count(frames->aggregator->frames);

	frames->places = calloc(n + 1, sizeof(*frames->places));
	if (!frames->places)
		return fail(-ENOMEM, "no memory for %zu frames", n);
	for (uint32_t id = 0; id < n; id++) {
		const struct frame *frame = aggregator_frame(frames->aggregator, id);

		frames->places[id] =
			(struct frame_place){ frame->offset, frame->module, id };
	}
	frames->n = n;
	qsort(frames->places, n, sizeof(*frames->places), by_module_and_offset);
	return 0;
}

int code_frames_new(struct code_frames **ret, const struct aggregator *aggregator,
		    const struct files *files)
{
	AUTO(code_frames) frames = calloc(1, sizeof(*frames));
	int err = frames ? file_pages_new(&frames->pages)
			 : fail(-ENOMEM, "no memory for frames");

	if (err)
		return err;
	frames->aggregator = aggregator;
	frames->files = files;
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
	return aggregator_frame(frames->aggregator, id);
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

static const struct elf_info *info_of(const struct files *files, uint32_t module)
{
	const struct elf_info *info = files_elf_info(files, module);

	return !info && files_state(files, module) == FILE_UNREADABLE ? &no_elf : info;
}

static void begin_turn(struct code_frames *frames, uint32_t module)
{
	int fd = files_fd(frames->files, module);

	frames->module = module;
	frames->last.next = 0;
	frames->of = (struct code_file){ { frames->pages, fd }, &frames->last, NULL };
	if (fd < 0)
		return;
	frames->of.info = info_of(frames->files, module);
	file_pages_allow(frames->pages,
			 take_turn(frames, files_payer(frames->files, module)));
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
