/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names as people write them: `Parser::next` for
 * `acme::text::detail::Parser<char, std::allocator<char> >::next`. A function's parts
 * (.cold, .part, .isra, .constprop) and the bodies of a coroutine (.resume, .actor,
 * .destroy) go by its own name.
 *
 * Two functions never become one: names that would be the same keep what tells them
 * apart, at worst all of it. So what a name is shortened to depends on the others.
 */
#ifndef WEFT_CORE_SHORT_NAMES_H
#define WEFT_CORE_SHORT_NAMES_H

#include "core/profile.h"

struct short_names;

/* Of the names of all frames. 0 or -ENOMEM. */
int short_names_new(struct short_names **ret, const struct profile *profile);
void short_names_free(struct short_names *names);
DEFINE_FREEP(short_names)

/* What a frame's name, a string of the profile, is shortened to. */
const char *short_names_get(const struct short_names *names, uint32_t name);

/* Gives the frames of a profile their short names. 0 or -ENOMEM. */
int profile_shorten_names(struct profile *profile);

/* How much is left out, less and less. */
enum short_level {
	SHORT_TAIL, /* the first parts, and what stands in brackets: Parser<…>::next */
	SHORT_ARGUMENTS, /* the first parts: Parser<char>::next */
	SHORT_PATH,	 /* what stands in brackets: acme::text::Parser<…>::next */
	SHORT_WHOLE,	 /* only what a compiler appended */
};

/* One name by itself, for the table above and for tests. is_go: a Go program has it, so
 * os.cold is not os. */
void short_name_add(struct str *out, const char *name, enum short_level level,
		    bool is_go);

#endif
