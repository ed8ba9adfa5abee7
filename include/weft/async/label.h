/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: words of the program's own in a
 * chain. A label is a frame whose ip is a cookie in place of an address, as
 * folly's metadata frames are; whoever knows folly's layout looks through it.
 */
#ifndef WEFT_ASYNC_LABEL_H
#define WEFT_ASYNC_LABEL_H

/*
 * The cookie. It is folly's variable where folly is linked in; else this value,
 * which no code can have for an address, since page 0 holds none, and which is
 * the same in all objects, so that a walker needs no symbol to know it.
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
 * Puts a label between a frame and its parent: what is run as frame is then
 * shown under text, and text under who asked. Call it once the frame is filled
 * (marked, captured, initialised) and before it is run. label must stay as long
 * as the frame, and text as long as label: a string literal, as a rule. weft
 * shows the first 35 bytes. A frame that was pushed is unlabelled before it is
 * popped.
 */
static inline void weft_frame_label(struct weft_frame *frame, struct weft_label *label,
				    const char *text)
{
	weft_label_fill_(label, text);
	label->frame.parent = frame->parent;
	WEFT_PUBLISH_(&frame->parent, &label->frame);
}

/* Takes it out again. A label that is not right behind frame is left alone. */
static inline void weft_frame_unlabel(struct weft_frame *frame, struct weft_label *label)
{
	WEFT_CHECK_(frame->parent == &label->frame,
		    "weft_frame_unlabel: this frame has not that label");
	if (frame->parent == &label->frame)
		WEFT_PUBLISH_(&frame->parent, label->frame.parent);
}

/*
 * From here to weft_label_pop(), what the running frame does, and what it
 * queues meanwhile, is shown under text. A label is pushed and popped like a
 * frame and is in between what runs; NULL root: nothing.
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
