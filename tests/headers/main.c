/* SPDX-License-Identifier: BSD-2-Clause */
/* Links with use.c: 0 when the innermost root is seen, also behind longjmp(); else 1. */
#include <weft/async.h>

#include <setjmp.h>

struct work {
	struct weft_frame frame;
	void (*run)(struct work *);
};

void work_queue(struct work *work);
void work_run(struct work *work);

static int seen;
static jmp_buf env;

static void look(struct work *work)
{
	seen = weft_frame_current() == &work->frame;
}

/* A dispatcher in the place of the one that was left by longjmp(). */
static void jump(struct work *work)
{
	work->run = look;
	work_run(work);
	longjmp(env, 1);
}

static void recovers(struct work *work)
{
	struct weft_root *volatile root = weft_root_current();

	if (setjmp(env))
		weft_root_rewind(root);
	else
		work->run(work);
}

static void run_and_jump(struct work *work)
{
	work->run = jump;
	work_run(work);
}

int main(void)
{
	struct work work = { { NULL, NULL, NULL }, look };

	work_queue(&work);
	work_run(&work);
	if (!seen)
		return 1;
	WEFT_ROOT_SCOPE(NULL);
	for (int i = 0; i < 2; i++) {
		struct weft_root *root = weft_root_current();

		seen = 0;
		work.run = run_and_jump;
		recovers(&work);
		if (!seen || weft_root_current() != root)
			return 1;
	}
	return 0;
}
