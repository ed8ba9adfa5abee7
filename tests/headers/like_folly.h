/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_TESTS_LIKE_FOLLY_H
#define WEFT_TESTS_LIKE_FOLLY_H

#include <pthread.h>

/* As weft/async.h has it, which the imitation must not use. */
struct weft_root {
	struct weft_frame *top;
	struct weft_root *next;
	void *fp, *ra;
};

void folly_enter(struct weft_root *root);
void folly_leave(struct weft_root *root);

#endif
