/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that compilers write, as people read them. */
#include "parsers.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/name.h"
#include "core/short_names.h"
#include "obj/demangle.h"

#include <errno.h>
#include <string.h>

#define COMPARED_MAX 128 /* names, each with each */

void fuzz_demangle(const uint8_t *data, size_t n)
{
	AUTO_STR out = { 0 };

	demangle(&out, (const char *)data, n);
	REQUIRE(!out.failed);
	if (out.n)
		require_clean(out.s);
}

static void fuzz_add_frame(struct profile *r, const char *name, size_t n)
{
	struct profile_frame frame = { .type = FRAME_TYPE_NATIVE };
	uint32_t id;

	REQUIRE(!profile_add_string(r, name, n, &frame.name));
	REQUIRE(!profile_add_frame(r, &frame, &id));
}

/* Is it the same function, by what is left without a compiler's additions? */
static bool is_one_function(const char *a, const char *b)
{
	AUTO_STR x = { 0 };
	AUTO_STR y = { 0 };

	short_name_add(&x, a, SHORT_WHOLE, false);
	short_name_add(&y, b, SHORT_WHOLE, false);
	return !strcmp(x.s, y.s);
}

/* A name a line: two that are shortened to one were one. */
void fuzz_short_names(const uint8_t *data, size_t n)
{
	AUTO(short_names) names = NULL;
	AUTO(profile) r = NULL;
	const char *at = (const char *)data, *end = at + n;

	REQUIRE(!profile_new(&r));
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		if (stop > at)
			fuzz_add_frame(r, at, (size_t)(stop - at));
		at = stop + 1;
	}
	REQUIRE(!short_names_new(&names, r));
	for (size_t i = 0; i < r->frames.n && i < COMPARED_MAX; i++)
		for (size_t j = 0; j < i; j++) {
			uint32_t a = r->frames.items[i].name, b = r->frames.items[j].name;

			if (!strcmp(short_names_get(names, a), short_names_get(names, b)))
				REQUIRE(is_one_function(profile_string(r, a),
							profile_string(r, b)));
		}
}
