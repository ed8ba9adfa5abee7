/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: the program's own texts in a chain.
 * A label is a frame whose ip is a cookie instead of an address, like folly's
 * metadata frames; readers that know folly's layout skip it.
 */
#ifndef WEFT_ASYNC_LABEL_H
#define WEFT_ASYNC_LABEL_H

/*
 * The cookie. If folly is linked in, it is folly's variable. Otherwise it is this
 * value, which is no code's address, since page 0 holds no code. It is the same in
 * all objects, so a walker needs no symbol to recognize it.
 */
#define WEFT_LABEL_COOKIE_ 0x7e1
extern uintptr_t weft_label_cookie_ __attribute__((visibility("hidden")));
extern uintptr_t folly_async_stack_metadata_frame_cookie
	__attribute__((visibility("default")));
#if WEFT_DEFINES_
__attribute__((weak, visibility("hidden"))) uintptr_t weft_label_cookie_ =
	WEFT_LABEL_COOKIE_;
extern uintptr_t folly_async_stack_metadata_frame_cookie
	__attribute__((weak, visibility("default"), alias("weft_label_cookie_")));
#endif

static inline void weft_label_fill_(struct weft_label *label, const char *text)
{
	const uintptr_t *cookie = &folly_async_stack_metadata_frame_cookie;

	label->frame.ip = __extension__(void *) __atomic_load_n(cookie, __ATOMIC_RELAXED);
	label->frame.root = NULL;
	label->text = text;
	label->tag = WEFT_LABEL_TAG;
}

/*
 * Puts a label between a frame and its parent: the frame is then shown under
 * text, and text under the caller. Call it after the frame is filled (marked,
 * captured, initialised) and before it is run. label must live as long as the
 * frame, and text as long as label; text is usually a string literal. weft shows
 * the first 35 bytes. Unlabel a pushed frame before you pop it.
 */
static inline void weft_frame_label(struct weft_frame *frame, struct weft_label *label,
				    const char *text)
{
	weft_label_fill_(label, text);
	label->frame.parent = frame->parent;
	WEFT_PUBLISH_(&frame->parent, &label->frame);
}

/* Removes it. A label that is not directly after frame is ignored. */
static inline void weft_frame_unlabel(struct weft_frame *frame, struct weft_label *label)
{
	WEFT_CHECK_(frame->parent == &label->frame,
		    "weft_frame_unlabel: this frame has not that label");
	if (frame->parent == &label->frame)
		WEFT_PUBLISH_(&frame->parent, label->frame.parent);
}

/*
 * From here to weft_label_pop(), the work of the running frame, and the work that
 * it queues, is shown under text. A label is pushed and popped like a frame, and
 * is the running frame in between; NULL root: nothing.
 */
static inline void weft_label_push(struct weft_root *root, struct weft_label *label,
				   const char *text)
{
	weft_label_fill_(label, text);
	label->frame.parent = root ? root->top : NULL;
	if (root)
		WEFT_PUBLISH_(&root->top, &label->frame);
}

static inline void weft_label_pop(struct weft_root *root, struct weft_label *label)
{
	weft_frame_pop(root, &label->frame);
}

#endif
