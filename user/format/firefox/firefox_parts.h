/* SPDX-License-Identifier: BSD-2-Clause */
/* The two halves of the Firefox Profiler's format: firefox_write.c sorts samples by
 * thread, firefox_write_thread.c writes one thread's tables. */
#ifndef WEFT_FORMAT_FIREFOX_FIREFOX_PARTS_H
#define WEFT_FORMAT_FIREFOX_FIREFOX_PARTS_H

#include "base/json.h"
#include "core/profile.h"
#include "format/output_buffer.h"
#include "format/writer.h"

struct firefox_sample {
	uint32_t second, node, count; /* second: from the first of all */
};

/* What a function is, over all threads: a name in a module, or a mark. */
struct firefox_function {
	uint32_t name, module; /* strings; name 0: a mark, of this code */
	uint32_t code;
	uint32_t category;
};

struct firefox {
	const struct profile *r;
	enum view view;
	struct output_buffer buffer;
	struct json json;  /* onto pen's text */
	struct pairs keys; /* of functions, by number */
	VEC(struct firefox_function) functions;
	uint32_t *by_frame; /* function, by frame of the profile */
};

enum firefox_category {
	CATEGORY_OTHER,
	CATEGORY_PROGRAM,
	CATEGORY_KERNEL,
	CATEGORY_JIT,
	CATEGORY_ASYNC,
	CATEGORY_INLINED,
};

/* thread: 0 for those that are not shown alone. */
int firefox_add_thread(struct firefox *f, uint32_t thread,
		       const struct firefox_sample *samples, size_t n);

#endif
