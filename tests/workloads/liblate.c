/* SPDX-License-Identifier: BSD-2-Clause */
/* What late.c loads: late_step 3 : late_idle 1. See there. */
#include "work.h"

#include "weft/async.h"

FN void late_step(void)
{
	spin(360);
}

FN void late_idle(void)
{
	spin(120);
}

FN void late_caller(void)
{
	spin(1);
}

FN void late_callee(void)
{
	spin(2);
}

FN void late_loop(void)
{
	struct weft_frame caller, callee;
	struct weft_entry entry;

	weft_frame_init(&caller, NULL, (char *)(void *)late_caller + 4);
	weft_frame_init(&callee, &caller, (char *)(void *)late_callee + 4);
	weft_root_enter(&entry, NULL);
	for (int i = 0; i < 10000; i++) {
		weft_frame_resume(&entry.root, &callee);
		late_step();
		weft_frame_suspend(&entry.root, &callee);
		late_idle();
	}
	weft_root_leave(&entry);
}

FN void late_run(void)
{
	late_loop();
	AFTER();
}
