// SPDX-License-Identifier: BSD-2-Clause
/* Text that other tools write: what perf script prints, and folded stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <stdio.h>
#include <string.h>

#include "read_back.h"

static void perf_script_is_read(void **state)
{
	char text[] = "a server 12/13 [001]  100.250000:     250000 cycles:u: \n"
		      "\t    55aa11 leaf+0x11 (/usr/bin/x)\n"
		      "\t    55aa12 small (inlined)\n"
		      "\t    55aa12 main+0x2 (/usr/bin/x)\n"
		      "\n"
		      "other    7   101.5:  1 cycles: \n"
		      "\tffffffff81 do_it+0x1 ([kernel.kallsyms])\n"
		      "\t         0 [unknown] (/lib/y.so)\n"
		      "\n";
	struct bytes bytes = { text, sizeof(text) - 1 };
	AUTO(reading) r = read_back(&bytes);

	assert_non_null(r);
	is_folded(r, VIEW_ASYNC,
		  "a server;main;small_[i];leaf 1\nother;y.so+0x0;do_it_[k] 1\n");
	assert_int_equal(r->timeline.first, 100);
	assert_int_equal(r->timeline.last, 101);
	assert_int_equal(r->processes.items[1].pid, 12);
	assert_int_equal(r->threads.items[1].tid, 13);
}

/* perf's header is longer than 4 KiB. */
static void comments_may_come_first(void **state)
{
	static const char *const texts[] = {
		"# made by hand\n\n#\n# of 3\n#x\nmain;work 3\n# of 4; or so\n\n#x;y 4\n",
		"\r\n# of 3\r\nmain;work 3\r\n#x;y 4\r\n",
		"# ========\n#\n\nmain 1 2.5: cycles:\n\t1 work (/x)\n\n",
	};
	static const char *const want[] = {
		"#x;y 4\nmain;work 3\n",
		"#x;y 4\nmain;work 3\n",
		"main;work 1\n",
	};

	for (size_t i = 0; i < 6; i++) {
		static char text[20000];
		struct bytes bytes = { .s = text };
		size_t n = i % 2 ? 10000 : 0;
		AUTO(reading) r = NULL;

		for (size_t at = 0; at < n; at++)
			text[at] = at % 100 == 99 ? '\n' : '#';
		bytes.n = n + (size_t)snprintf(text + n, sizeof(text) - n, "%s",
					       texts[i / 2]);
		r = read_back(&bytes);
		assert_non_null(r);
		is_folded(r, VIEW_ASYNC, want[i / 2]);
		assert_int_equal(r->left_out, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_script_is_read),
		cmocka_unit_test(comments_may_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
