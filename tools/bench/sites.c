/* SPDX-License-Identifier: BSD-2-Clause */
/* One call site a function, for their sizes; see headers.sh. */
#include <weft/fiber.h>

void work(void *what);
void site_none(struct weft_op *op);
void site_mark(struct weft_op *op);
void site_capture(struct weft_op *op);
void site_root(struct weft_op *op);
void site_push_pop(struct weft_op *op);
void site_switch(struct weft_op *op);

void site_none(struct weft_op *op)
{
	work(op);
	work(op);
}

void site_mark(struct weft_op *op)
{
	work(op);
	weft_frame_mark(&op->frame);
	work(op);
}

void site_capture(struct weft_op *op)
{
	work(op);
	weft_capture(op);
	work(op);
}

void site_root(struct weft_op *op)
{
	work(op);
	{
		WEFT_ROOT_SCOPE(&op->frame);
		work(op);
	}
}

void site_push_pop(struct weft_op *op)
{
	struct weft_root *root = op->frame.root;

	weft_frame_push(root, &op->frame, WEFT_HERE());
	work(op);
	weft_frame_pop(root, &op->frame);
	work(op);
}

void site_switch(struct weft_op *op)
{
	work(op);
	weft_fiber_resume((struct weft_fiber *)op, NULL);
	work(op);
}
