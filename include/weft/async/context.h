/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: the trace that an operation works for, along
 * its chain. A context is a frame whose ip is a label's cookie, so readers that know
 * folly's layout skip it; what it holds is a record of OpenTelemetry's OTEP 4947, "Thread
 * Context".
 */
#ifndef WEFT_ASYNC_CONTEXT_H
#define WEFT_ASYNC_CONTEXT_H

/* Of the record: trace id, span id, valid, flags, bytes of attributes, attributes. */
#define WEFT_RECORD_HEAD_  28
#define WEFT_RECORD_VALID_ 24
#define WEFT_RECORD_SIZE_  26

static inline void weft_context_put_(struct weft_frame *frame,
				     struct weft_context *context)
{
	context->frame.ip = weft_label_ip_();
	context->frame.root = WEFT_NULL_;
	context->record = context->copy;
	context->tag = WEFT_CONTEXT_TAG;
	context->frame.parent = frame->parent;
	WEFT_PUBLISH_(&frame->parent, &context->frame);
}

/*
 * Puts a context between a frame and its parent, as weft_frame_label() puts a label:
 * from now on the frame works for it, and so does all that it asks for, on whichever
 * thread that runs. A context further up the chain counts no more, but what a thread
 * publishes itself goes before. context must live as long as the frame.
 *
 * record: what an SDK publishes for this thread, or would; OTEP 4947 says how it looks.
 * It is copied, so it may change afterwards; of attributes beyond WEFT_CONTEXT_BYTES only
 * those that fit. NULL, or one that is not valid: nothing.
 */
static inline void weft_frame_carry(struct weft_frame *frame,
				    struct weft_context *context, const void *record)
{
	const unsigned char *from = WEFT_CAST_(const unsigned char *, record);
	uint16_t n;

	if (!from || from[WEFT_RECORD_VALID_] != 1)
		return;
	__builtin_memcpy(&n, from + WEFT_RECORD_SIZE_, sizeof(n));
	if (n > WEFT_CONTEXT_BYTES - WEFT_RECORD_HEAD_)
		n = WEFT_CONTEXT_BYTES - WEFT_RECORD_HEAD_;
	__builtin_memcpy(context->copy, from, WEFT_RECORD_SIZE_);
	__builtin_memcpy(context->copy + WEFT_RECORD_SIZE_, &n, sizeof(n));
	__builtin_memcpy(context->copy + WEFT_RECORD_HEAD_, from + WEFT_RECORD_HEAD_, n);
	weft_context_put_(frame, context);
}

/* The same of ids alone: 16 bytes and 8, as W3C Trace Context has them. */
static inline void weft_frame_carry_ids(struct weft_frame *frame,
					struct weft_context *context,
					const unsigned char *trace_id,
					const unsigned char *span_id)
{
	__builtin_memset(context->copy, 0, WEFT_RECORD_HEAD_);
	__builtin_memcpy(context->copy, trace_id, 16);
	__builtin_memcpy(context->copy + 16, span_id, 8);
	context->copy[WEFT_RECORD_VALID_] = 1;
	weft_context_put_(frame, context);
}

/* Removes it. A context that is not directly after frame is ignored. */
static inline void weft_frame_uncarry(struct weft_frame *frame,
				      struct weft_context *context)
{
	if (frame->parent == &context->frame)
		WEFT_PUBLISH_(&frame->parent, context->frame.parent);
}

#endif
