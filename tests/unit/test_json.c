/* SPDX-License-Identifier: BSD-2-Clause */
/* The writer of JSON puts the commas, and only these. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void commas_stand_between_items(void **state)
{
	AUTO_STR out = { 0 };
	struct json json = { .out = &out };

	json_open(&json, NULL, '{');
	json_open(&json, "none", '[');
	json_close(&json, ']');
	json_open(&json, "one", '[');
	json_uint(&json, NULL, 0);
	json_close(&json, ']');
	json_open(&json, "more", '[');
	json_uint(&json, NULL, UINT64_MAX);
	json_bool(&json, NULL, false);
	json_text(&json, NULL, "a\"b\n");
	json_addf(&json, NULL, "%.2f", -1.5);
	json_next(&json);
	str_add(&out, "null");
	json_close(&json, ']');
	json_key(&json, "from \"elsewhere\"");
	json_open(&json, NULL, '{');
	json_close(&json, '}');
	json_bool(&json, "last", true);
	json_close(&json, '}');
	assert_string_equal(out.s,
			    "{\"none\":[],\"one\":[0],"
			    "\"more\":[18446744073709551615,false,\"a\\\"b\\u000a\","
			    "-1.50,null],"
			    "\"from \\\"elsewhere\\\"\":{},\"last\":true}");
}

/* Also where what was written has gone to the file in between. */
static void lines_break_behind_commas(void **state)
{
	AUTO_STR out = { 0 };
	struct json json = { .out = &out };

	json_open(&json, NULL, '[');
	json_line(&json);
	json_uint(&json, NULL, 1);
	str_clear(&out);
	json_line(&json);
	json_uint(&json, NULL, 2);
	json_close(&json, ']');
	assert_string_equal(out.s, ",\n2]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_items),
		cmocka_unit_test(lines_break_behind_commas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
