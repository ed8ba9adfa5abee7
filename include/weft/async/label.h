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
extern uintptr_t weft_label_cookie_ __attribute__((__visibility__("hidden")));
#if !WEFT_DEFINES_
extern uintptr_t folly_async_stack_metadata_frame_cookie
	__attribute__((__visibility__("default")));
#else
__attribute__((__weak__, __visibility__("hidden"))) uintptr_t weft_label_cookie_ =
	WEFT_LABEL_COOKIE_;
extern uintptr_t folly_async_stack_metadata_frame_cookie __attribute__((
	__weak__, __visibility__("default"), __alias__("weft_label_cookie_")));
#endif

static inline void *weft_label_ip_(void)
{
	uintptr_t cookie = __atomic_load_n(&folly_async_stack_metadata_frame_cookie,
					   __ATOMIC_RELAXED);

	return WEFT_BITS_(void *, cookie);
}

static inline void weft_label_copy_(char *to, const char *text)
{
	size_t n = 0;

	/* of a literal, a few stores */
	if (__builtin_constant_p(__builtin_strlen(text)) &&
	    __builtin_strlen(text) < WEFT_LABEL_BYTES) {
		__builtin_memcpy(to, text, __builtin_strlen(text) + 1);
		return;
	}
	for (; n < WEFT_LABEL_BYTES - 1 && text[n]; n++)
		to[n] = text[n];
	to[n] = '\0';
}

static inline void weft_label_fill_(struct weft_label *label, const char *text)
{
	weft_label_copy_(label->copy, text);
	label->frame.ip = weft_label_ip_();
	label->frame.root = WEFT_NULL_;
	label->text = label->copy;
	label->tag = WEFT_LABEL_TAG;
}

/* Ours, or NULL: folly's metadata has no address of its own in that place. */
static inline const struct weft_label *weft_label_of_(const struct weft_frame *frame)
{
	const struct weft_label *label = WEFT_BITS_(const struct weft_label *, frame);

	return frame->ip == weft_label_ip_() && label->text == label->copy ? label
									   : WEFT_NULL_;
}

/*
 * The frame that asks for what is queued here: the one that runs, without the labels
 * that were pushed on it, or NULL. Borrowed.
 */
static inline struct weft_frame *weft_frame_asker(void)
{
	struct weft_frame *frame = weft_frame_current();

	while (frame && weft_label_of_(frame))
		frame = frame->parent;
	return frame;
}

static inline void weft_frame_mark_once_(struct weft_frame *frame, void *place)
{
	if (!frame->ip)
		weft_frame_init(frame, weft_frame_asker(), place);
}

#ifdef WEFT_CHECKS
/* Is a label in it that was popped, and so is gone? */
static int weft_chain_ended_(const struct weft_frame *chain)
{
	const struct weft_label *label;

	for (int i = 0; chain && i < WEFT_CHECK_STEPS_; chain = chain->parent, i++) {
		label = WEFT_BITS_(const struct weft_label *, chain);
		if (chain->ip == weft_label_ip_() && !label->text &&
		    label->tag == WEFT_LABEL_TAG)
			return 1;
	}
	return 0;
}
#endif

/*
 * Puts a label between a frame and its parent: the frame is then shown under
 * text, and text under the caller. Call it after the frame is filled (marked,
 * captured, initialised) and before it is run. label must live as long as the
 * frame: embed it next to it. Of text it keeps a copy of the first 35 bytes. Unlabel
 * a pushed frame before you pop it.
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
 * From here to weft_label_pop(), the work of the running frame is shown under text.
 * A label is pushed and popped like a frame, and is the running frame in between;
 * NULL root: nothing. It usually lies on the stack, and is gone when queued work
 * runs: weft_frame_mark() and weft_capture() leave it out.
 */
static inline void weft_label_push(struct weft_root *root, struct weft_label *label,
				   const char *text)
{
	weft_label_fill_(label, text);
	label->frame.parent = root ? root->top : WEFT_NULL_;
	if (root)
		WEFT_PUBLISH_(&root->top, &label->frame);
}

static inline void weft_label_pop(struct weft_root *root, struct weft_label *label)
{
	weft_frame_pop(root, &label->frame);
#ifdef WEFT_CHECKS
	label->text = WEFT_NULL_; /* what still leads to it is found */
#endif
}

/*
 * weft_frame_mark(), and the innermost pushed label comes along: its text is copied
 * into label, which must live as long as the frame. Without one, label stays as it is.
 */
#define weft_frame_mark_labelled(frame, label)                                           \
	weft_frame_mark_labelled_(frame, label, WEFT_HERE())

static inline void weft_frame_mark_labelled_(struct weft_frame *frame,
					     struct weft_label *label, void *place)
{
	const struct weft_frame *running = weft_frame_current();
	const struct weft_label *pushed = running ? weft_label_of_(running) : WEFT_NULL_;

	weft_frame_init(frame, weft_frame_asker(), place);
	if (pushed)
		weft_frame_label(frame, label, pushed->copy);
}

#endif
