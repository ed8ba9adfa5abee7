/* SPDX-License-Identifier: BSD-2-Clause */
/* Links with use.c: 0 when the innermost root is seen, 1 when it is not. */
#include <weft/async.h>

struct work {
	struct weft_frame frame;
	void (*run)(struct work *);
};

void work_queue(struct work *work);
void work_run(struct work *work);

static int seen;

static void look(struct work *work)
{
	seen = weft_frame_current() == &work->frame;
}

int main(void)
{
	struct work work = { { NULL, NULL, NULL }, look };

	work_queue(&work);
	work_run(&work);
	return !seen;
}
