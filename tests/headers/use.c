/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uses everything that weft/async.h has, in C and in C++, so that each warning
 * it can cause is caused. Also linked, to see what the linker makes of it.
 */
#include <weft/async.h>

struct work {
	struct weft_frame frame;
	void (*run)(struct work *);
};

void work_queue(struct work *work);
void work_run(struct work *work);
void work_step(struct work *work);
void work_wait(struct work *work);
void work_nested(struct work *work);

void work_queue(struct work *work)
{
	weft_frame_mark(&work->frame);
}

void work_run(struct work *work)
{
	WEFT_ROOT_SCOPE(&work->frame);
	work->run(work);
}

void work_step(struct work *work)
{
	struct weft_root *root = weft_root_current();
	struct weft_frame step;

	weft_frame_push(root, &step, WEFT_CALLER());
	work->run(work);
	weft_frame_suspend(root, &step);
	weft_frame_resume(weft_root_current(), &step);
	weft_frame_detach(&step);
	weft_frame_pop(root, &step);
}

void work_wait(struct work *work)
{
	struct weft_wait wait;

	weft_wait_begin(&wait);
	weft_frame_init(&work->frame, &wait.frame, WEFT_HERE());
	work_run(work);
	weft_wait_end(&wait);
}

void work_nested(struct work *work)
{
	struct weft_entry entry;

	weft_root_enter(&entry, weft_frame_current());
	work->run(work);
	weft_root_rewind(weft_root_current());
	weft_root_leave(&entry);
}

struct request {
	struct weft_op op;
	struct weft_label label;
	struct weft_context context;
	struct weft_leaf leaf;
};

void request_submit(struct request *request);
void request_run(struct request *request, void (*run)(struct request *));
void request_dump(void (*each)(void *arg, const struct weft_frame *frame));

void request_submit(struct request *request)
{
	static const unsigned char ids[16] = { 1 };
	static const void *no_record;

	weft_capture(&request->op);
	weft_frame_label(&request->op.frame, &request->label, "GET /users");
	weft_frame_carry(&request->op.frame, &request->context, no_record);
	weft_frame_carry_ids(&request->op.frame, &request->context, ids, ids);
	weft_leaf_add(&request->leaf, &request->op.frame);
}

void request_run(struct request *request, void (*run)(struct request *))
{
	struct weft_entry entry = WEFT_ENTRY_INIT;
	struct weft_frame callers[3];
	struct weft_label part;

	weft_leaf_remove(&request->leaf);
	weft_root_enter(&entry, &request->op.frame);
	weft_label_push(&entry.root, &part, "part");
	weft_frame_mark_labelled(&request->op.frame, &request->label);
	weft_frame_unlabel(&request->op.frame, &request->label);
	weft_frame_clear(&request->op.frame);
	weft_frame_mark_once(&request->op.frame);
	run(request);
	weft_label_pop(&entry.root, &part);
	weft_root_leave(&entry);
	weft_frame_unlabel(&request->op.frame, &request->label);
	weft_capture_into(&request->op.frame, callers, 3);
}

void request_dump(void (*each)(void *arg, const struct weft_frame *frame))
{
	static int arg;

	weft_leaf_each(each, &arg);
}
