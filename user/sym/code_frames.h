/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of a profile, by where they lie, and what their files say there. Who makes a
 * file decides how many of its frames there are and what a look at each costs, and at the
 * end of a recording somebody waits. So reads go by pages (obj/file_pages.h), frames come
 * in the order of their files' pages, and the files of each user have a time: what runs
 * is in memory, but what ran an hour ago may come from a disk.
 */
#ifndef WEFT_SYM_CODE_FRAMES_H
#define WEFT_SYM_CODE_FRAMES_H

#include "base/cleanup.h"
#include "core/aggregator.h"
#include "obj/fde_index.h"
#include "obj/file_pages.h"
#include "sym/files.h"
#include "unwind/cfi_cursor.h"

#define CODE_US	      50000   /* of each user's files; some 50,000 pages in memory */
#define CODE_ROOTS_US 1000000 /* of root's */

struct code_frames;

/* Both are borrowed and outlive it. */
int code_frames_new(struct code_frames **ret, const struct aggregator *aggregator,
		    const struct files *files);
void code_frames_free(struct code_frames *frames);
DEFINE_FREEP(code_frames)

/* for (size_t i = 0; code_frames_next(frames, &i, &id);): all of them, by module and
 * offset */
bool code_frames_next(const struct code_frames *frames, size_t *i, uint32_t *ret_id);

const struct frame *code_frames_get(const struct code_frames *frames, uint32_t id);

struct code_file {
	struct paged_file file; /* until the next one is asked for */
	struct fde *last;	/* that was found in it; next is 0: none was */
	/* of what is no ELF file: a type of ET_NONE, no segments */
	const struct elf_info *info;
};

/* As fde_index_find(). Who asks is often in the function that was asked for last. */
bool code_file_fde(const struct code_file *in, uint64_t vaddr, struct fde *ret);

/* The function that a frame is in: a return address is of its call's. *ret_at: how many
 * bytes behind its first one the frame is. */
bool code_file_function(const struct code_file *in, const struct frame *frame,
			struct fde *ret, uint64_t *ret_at);

#define CODE_SAID_MAX 512 /* bytes */

/* What the entry of a function says, behind its augmentation, into bytes; false: it can't
 * be read, or is longer. */
bool code_file_said(const struct code_file *in, const struct fde *fde,
		    uint8_t bytes[CODE_SAID_MAX], struct cfi_cursor *ret);

/* Code to be gone through: how many of n bytes there are at an address as linked; 0 also
 * if it lies in none, or there is no time left. */
size_t code_file_read(const struct code_file *in, uint64_t vaddr, void *buf, size_t n);

/* The file of a frame's module; false: there is none, or nothing is known of it yet. */
bool code_frames_file(struct code_frames *frames, const struct frame *frame,
		      struct code_file *ret);

/* May no more be read of the file that was asked for last? */
bool code_frames_is_spent(const struct code_frames *frames);

#endif
