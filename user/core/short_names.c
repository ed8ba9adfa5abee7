// SPDX-License-Identifier: BSD-2-Clause
#include "core/short_names.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define NO_FUNCTION UINT32_MAX
#define PASSES_MAX  8 /* real names take 3; then all that are left stay whole */

struct short_names {
	const struct profile *profile;
	struct intern *functions; /* names without what compilers append */
	VEC(uint8_t) levels;	  /* of each function: enum short_level */
	VEC(uint32_t) shortened;  /* of each function: in texts */
	struct intern *texts;
	/* By string of the profile: its function; NO_FUNCTION: it is no frame's name. */
	uint32_t *by_name;
	struct str text;
};

void short_names_free(struct short_names *names)
{
	if (!names)
		return;
	intern_free(names->functions);
	intern_free(names->texts);
	vec_free(&names->levels);
	vec_free(&names->shortened);
	free(names->by_name);
	str_free(&names->text);
	free(names);
}

/* What each stack of a Go program has, if it is whole: a goroutine, or the scheduler. */
static bool is_of_go(const char *name)
{
	static const char *const roots[] = { "runtime.goexit", "runtime.mcall",
					     "runtime.mstart" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		size_t n = strlen(roots[i]);

		if (!strncmp(name, roots[i], n) &&
		    (!name[n] || !strcmp(name + n, ".abi0")))
			return true;
	}
	return false;
}

/* Of each string: is it a name in a Go program? go: one of each module. */
static void find_go(const struct profile *r, bool *go, bool *is_go)
{
	for (size_t i = 0; i < r->frames.n; i++) {
		const struct profile_frame *frame = &r->frames.items[i];

		if (is_of_go(profile_string(r, frame->name)))
			go[frame->module] = true;
	}
	for (size_t i = 0; i < r->frames.n; i++)
		if (go[r->frames.items[i].module])
			is_go[r->frames.items[i].name] = true;
}

static int add_name(struct short_names *names, uint32_t name, bool is_go)
{
	uint32_t *function = &names->by_name[name];
	int err;

	if (*function != NO_FUNCTION)
		return 0;
	str_clear(&names->text);
	short_name_add(&names->text, profile_string(names->profile, name), SHORT_WHOLE,
		       is_go);
	err = str_error(&names->text);
	if (!err)
		err = intern_id(names->functions, names->text.s, names->text.n, function);
	if (!err && *function == names->levels.n)
		err = vec_push(&names->levels, SHORT_TAIL);
	if (!err && *function == names->shortened.n)
		err = vec_push(&names->shortened, 0);
	return err;
}

static int collect(struct short_names *names)
{
	const struct profile *r = names->profile;
	size_t n = intern_count(r->strings);
	AUTO_FREE bool *go = calloc(r->modules.n + 1, sizeof(*go));
	AUTO_FREE bool *is_go = calloc(n + 1, sizeof(*is_go));
	int err = 0;

	names->by_name = malloc(n * sizeof(*names->by_name));
	if (!names->by_name || !go || !is_go)
		return fail(-ENOMEM, "no memory for %zu names", n);
	find_go(r, go, is_go);
	for (size_t i = 0; i < n; i++)
		names->by_name[i] = NO_FUNCTION;
	for (size_t i = 0; !err && i < r->frames.n; i++)
		err = add_name(names, r->frames.items[i].name,
			       is_go[r->frames.items[i].name]);
	return err;
}

/* Shortens all by their levels. owners: of each text, the first function that has it. */
static int shorten(struct short_names *names, uint32_t *owners)
{
	uint32_t n = (uint32_t)names->levels.n;
	int err;

	intern_free(names->texts);
	names->texts = NULL;
	err = intern_new(&names->texts, n + 1);
	for (uint32_t i = 0; !err && i < n; i++) {
		size_t before = intern_count(names->texts);

		str_clear(&names->text);
		short_name_add(&names->text, intern_string(names->functions, i),
			       (enum short_level)names->levels.items[i], true);
		err = str_error(&names->text);
		if (!err)
			err = intern_id(names->texts, names->text.s, names->text.n,
					&names->shortened.items[i]);
		if (!err && intern_count(names->texts) > before)
			owners[names->shortened.items[i]] = i;
	}
	return err;
}

/* Those that have a text in common say more of themselves. Were there any? */
static bool tell_apart(struct short_names *names, const uint32_t *owners, bool *is_shared)
{
	uint32_t n = (uint32_t)names->levels.n;
	bool any = false;

	memset(is_shared, 0, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t owner = owners[names->shortened.items[i]];

		if (owner != i)
			is_shared[i] = is_shared[owner] = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		bool can_rise = is_shared[i] && names->levels.items[i] < SHORT_WHOLE;

		names->levels.items[i] += can_rise;
		any |= can_rise;
	}
	return any;
}

static int find_short(struct short_names *names)
{
	AUTO_FREE uint32_t *owners = calloc(names->levels.n + 1, sizeof(*owners));
	AUTO_FREE bool *is_shared = calloc(names->levels.n + 1, sizeof(*is_shared));
	int err;

	if (!owners || !is_shared)
		return fail(-ENOMEM, "no memory for %zu names", (size_t)names->levels.n);
	for (int pass = 1;; pass++) {
		err = shorten(names, owners);
		if (err)
			return err;
		if (pass == PASSES_MAX)
			for (uint32_t i = 0; i < names->levels.n; i++)
				names->levels.items[i] = SHORT_WHOLE;
		else if (!tell_apart(names, owners, is_shared))
			return 0;
	}
}

int short_names_new(struct short_names **ret, const struct profile *profile)
{
	AUTO(short_names) names = calloc(1, sizeof(*names));
	int err;

	if (!names)
		return fail(-ENOMEM, "no memory for names");
	names->profile = profile;
	err = intern_new(&names->functions, intern_count(profile->strings) + 1);
	if (!err)
		err = collect(names);
	if (!err)
		err = find_short(names);
	if (err)
		return err;
	*ret = GIVE(names);
	return 0;
}

const char *short_names_get(const struct short_names *names, uint32_t name)
{
	return intern_string(names->texts, names->shortened.items[names->by_name[name]]);
}

int profile_shorten_names(struct profile *r)
{
	AUTO(short_names) names = NULL;
	int err = short_names_new(&names, r);

	for (size_t i = 0; !err && i < r->frames.n; i++) {
		struct profile_frame *frame = &r->frames.items[i];
		const char *text = short_names_get(names, frame->name);

		err = profile_add_string(r, text, strlen(text), &frame->name);
	}
	return err;
}
