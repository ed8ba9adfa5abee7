// SPDX-License-Identifier: BSD-2-Clause
#include "core/names.h"

#include "base/error.h"
#include "base/name.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

#define STRINGS_MAX	 (16u << 20)
#define STRING_BYTES_MAX (256u << 20)
#define LONG_BYTES_MAX	 (16u << 20) /* of a file's long names, that stay whole */
#define ALL_LONG_MAX	 (64u << 20) /* of all files': the rest is for usual names */
#define LOCATIONS_MAX	 (16u << 20)
#define MISLED_MAX	 (16u << 20)

/* What a function's name says of its stacks; 0: nothing. */
enum role {
	ROLE_START = 1,
	ROLE_MADE_START,
	ROLE_INJECTED,
	ROLE_RETURN_BARRIER,
	ROLE_COPIED_START,
	ROLE_CALLS_COPIED_START, /* or has it in itself */
	ROLE_COPIES,
	ROLE_SWITCHES,
	ROLE_FREES,
};

static const struct {
	const char *name;
	enum role role;
} known_names[] = {
	{ "_start", ROLE_START },
	{ "_start_c", ROLE_START },
	{ "start_c", ROLE_START },
	{ "start", ROLE_START },
	{ "start_thread", ROLE_START },
	{ "thread_start", ROLE_START },
	{ "clone", ROLE_START },
	{ "__clone", ROLE_START },
	{ "clone3", ROLE_START },
	{ "__clone3", ROLE_START },
	{ "__start_context", ROLE_START },
	{ "runtime.goexit", ROLE_START },
	{ "runtime.goexit.abi0", ROLE_START },
	{ "runtime.rt0_go", ROLE_START },
	{ "runtime.rt0_go.abi0", ROLE_START },
	{ "runtime.mstart", ROLE_START },
	{ "runtime.mstart.abi0", ROLE_START },

	{ "runtime.asyncPreempt", ROLE_INJECTED },
	{ "runtime.asyncPreempt.abi0", ROLE_INJECTED },
	{ "runtime.sigpanic", ROLE_INJECTED },
	{ "runtime.sigpanic0", ROLE_INJECTED },
	{ "runtime.sigpanic0.abi0", ROLE_INJECTED },

	/* of HotSpot's perf map, since JDK 24 and before; its other stubs there make
	 * the copy, while which the same frames are missing */
	{ "StubRoutines (continuationstubs)", ROLE_RETURN_BARRIER },
	{ "StubRoutines (continuation stubs)", ROLE_RETURN_BARRIER },

	/* greenlet's: the other calls the one, unless that is inlined */
	{ "greenlet::UserGreenlet::inner_bootstrap", ROLE_COPIED_START },
	{ "greenlet::UserGreenlet::g_initialstub", ROLE_CALLS_COPIED_START },
	{ "g_initialstub", ROLE_CALLS_COPIED_START },
	/* the one has the other's sp already, and calls the other to copy; what that
	 * copied from is freed when the stack is whole again */
	{ "slp_restore_state_trampoline", ROLE_COPIES },
	{ "slp_switch", ROLE_SWITCHES },
	{ "PyMem_Free", ROLE_FREES },
	{ "PyObject_Free", ROLE_FREES },
	{ "_PyObject_Free", ROLE_FREES },
};

struct name_entry {
	uint32_t name;			 /* string id + 1, 0 = none */
	uint32_t locations, n_locations; /* in `locations` */
	uint8_t bad_return;		 /* enum bad_return */
	uint8_t origin;			 /* enum name_origin, of the name */
	uint8_t role;			 /* enum role, of the name */
	bool is_misled;			 /* of some pair it is the caller */
	bool is_copied_start;		 /* by its code */
};

struct stored_location {
	uint32_t name, file, line; /* strings */
};

struct names {
	struct intern *strings;
	VEC(struct name_entry) by_frame;
	VEC(struct stored_location) locations;
	struct intern
		*misled; /* pairs of frames: a caller and who is below; NULL: none */
	uint64_t refused, shortened;
	enum name_origin origin; /* of what is set */
	bool has_copied_start;	 /* a frame is one: so it is inlined nowhere */
	size_t long_bytes;	 /* of this file's long names */
	size_t all_long_bytes;
	struct str text; /* a shortened one */
};

void names_free(struct names *names)
{
	if (!names)
		return;
	intern_free(names->strings);
	vec_free(&names->by_frame);
	vec_free(&names->locations);
	intern_free(names->misled);
	str_free(&names->text);
	free(names);
}

int names_new(struct names **ret)
{
	AUTO(names) names = calloc(1, sizeof(*names));
	int err = names ? intern_new(&names->strings, STRINGS_MAX)
			: fail(-ENOMEM, "no memory for names");

	if (err)
		return err;
	intern_limit_bytes(names->strings, STRING_BYTES_MAX);
	names->origin = NAME_ORIGIN_TAPE;
	*ret = GIVE(names);
	return 0;
}

static int entry_of(struct names *names, uint32_t frame, struct name_entry **ret)
{
	if (frame >= FRAMES_DISTINCT_MAX)
		return fail(-EBADMSG, "a frame number of %u", frame);
	while (names->by_frame.n <= frame) {
		int err = vec_push(&names->by_frame, (struct name_entry){ 0 });

		if (err)
			return err;
	}
	*ret = &names->by_frame.items[frame];
	return 0;
}

void names_begin_file(struct names *names)
{
	names->long_bytes = 0;
}

void names_set_origin(struct names *names, enum name_origin origin)
{
	names->origin = origin;
}

enum name_origin names_origin(const struct names *names, uint32_t frame)
{
	return names_get(names, frame)
		       ? (enum name_origin)names->by_frame.items[frame].origin
		       : NAME_ORIGIN_NONE;
}

/* One that is there stays whole, so that a function has one name. */
static int add_long(struct names *names, const char *text, size_t n, uint32_t *ret)
{
	if (intern_find(names->strings, text, n, ret))
		return 0;
	if (n <= LONG_BYTES_MAX - names->long_bytes &&
	    n <= ALL_LONG_MAX - names->all_long_bytes) {
		names->long_bytes += n;
		names->all_long_bytes += n;
		return intern_id(names->strings, text, n, ret);
	}
	str_clear(&names->text);
	name_add_head(&names->text, text, n, text, n);
	if (names->text.failed)
		return str_error(&names->text);
	names->shortened++;
	return intern_id(names->strings, names->text.s, names->text.n, ret);
}

static int add_string(struct names *names, const char *text, uint32_t *ret)
{
	size_t n = strlen(text);

	if (n > NAME_HEAD_BYTES + NAME_MARK_BYTES)
		return add_long(names, text, n, ret);
	return intern_id(names->strings, text, n, ret);
}

/* A frame whose name there is no room for goes without. */
static int none_if_full(struct names *names, int err)
{
	if (err != INTERN_FULL)
		return err;
	names->refused++;
	return 0;
}

static uint8_t role_of(const char *name)
{
	/* Erlang's perf map, with a $ before each name in OTP 29: what its processes
	 * would return to. Before the address lies what the map calls its
	 * "CodeInfoPrologue". */
	static const char made[] = "erts_beamasm:normal_exit/0";
	const char *erlang = name + (*name == '$');
	size_t n = sizeof(made) - 1;

	if (!strncmp(erlang, made, n) && (!erlang[n] || erlang[n] == '-'))
		return ROLE_MADE_START;
	for (size_t i = 0; i < sizeof(known_names) / sizeof(*known_names); i++)
		if (!strcmp(name, known_names[i].name))
			return (uint8_t)known_names[i].role;
	return 0;
}

int names_set(struct names *names, uint32_t frame, const char *name)
{
	struct name_entry *entry;
	uint32_t id;
	int err = entry_of(names, frame, &entry);

	if (err || entry->name)
		return err;
	err = add_string(names, name, &id);
	if (!err) {
		entry->name = id + 1;
		entry->origin = (uint8_t)names->origin;
		entry->role = role_of(name);
		names->has_copied_start |= entry->role == ROLE_COPIED_START;
	}
	return none_if_full(names, err);
}

uint64_t names_refused(const struct names *names)
{
	return names->refused;
}

uint64_t names_shortened(const struct names *names)
{
	return names->shortened;
}

const char *names_get(const struct names *names, uint32_t frame)
{
	if (frame >= names->by_frame.n || !names->by_frame.items[frame].name)
		return NULL;
	return intern_string(names->strings, names->by_frame.items[frame].name - 1);
}

int names_set_locations(struct names *names, uint32_t frame,
			const struct names_location *locations, size_t n)
{
	uint32_t first = (uint32_t)names->locations.n;
	struct name_entry *entry;
	int err = entry_of(names, frame, &entry);

	if (err || entry->n_locations || names->locations.n > LOCATIONS_MAX)
		return err;
	for (size_t i = 0; !err && i < n; i++) {
		struct stored_location location = { .line = locations[i].line };

		err = add_string(names, locations[i].name, &location.name);
		if (!err)
			err = add_string(names, locations[i].file, &location.file);
		if (!err)
			err = vec_push(&names->locations, location);
	}
	if (err) { /* of what was added nothing is used */
		names->locations.n = first;
		return none_if_full(names, err);
	}
	entry->locations = first;
	entry->n_locations = (uint32_t)n;
	return 0;
}

size_t names_n_locations(const struct names *names, uint32_t frame)
{
	return frame < names->by_frame.n ? names->by_frame.items[frame].n_locations : 0;
}

struct names_location names_location(const struct names *names, uint32_t frame, size_t i)
{
	const struct stored_location *location =
		&names->locations.items[names->by_frame.items[frame].locations + i];

	return (struct names_location){ intern_string(names->strings, location->name),
					intern_string(names->strings, location->file),
					location->line };
}

int names_set_bad_return(struct names *names, uint32_t frame, enum bad_return bad_return)
{
	struct name_entry *entry;
	int err = entry_of(names, frame, &entry);

	if (!err)
		entry->bad_return = (uint8_t)bad_return;
	return err;
}

enum bad_return names_bad_return(const struct names *names, uint32_t frame)
{
	return frame < names->by_frame.n ? names->by_frame.items[frame].bad_return
					 : BAD_RETURN_NONE;
}

int names_set_misled(struct names *names, uint32_t caller, uint32_t below)
{
	const uint32_t pair[] = { caller, below };
	struct name_entry *entry;
	uint32_t id;
	int err = entry_of(names, caller, &entry);

	if (!err && !names->misled)
		err = intern_new(&names->misled, MISLED_MAX);
	if (!err)
		err = intern_id(names->misled, pair, sizeof(pair), &id);
	if (!err)
		entry->is_misled = true;
	return err == INTERN_FULL ? 0 : err; /* what can't be told, isn't */
}

bool names_is_misled(const struct names *names, uint32_t caller, uint32_t below)
{
	const uint32_t pair[] = { caller, below };

	return caller < names->by_frame.n && names->by_frame.items[caller].is_misled &&
	       intern_has(names->misled, pair, sizeof(pair));
}

bool names_next_misled(const struct names *names, uint32_t *i, uint32_t ret[2])
{
	size_t bytes;

	if (!names->misled || *i >= intern_count(names->misled))
		return false;
	memcpy(ret, intern_bytes(names->misled, (*i)++, &bytes), 2 * sizeof(*ret));
	return true;
}

static bool has_role(const struct names *names, uint32_t frame, enum role role)
{
	return frame < names->by_frame.n && names->by_frame.items[frame].role == role;
}

bool names_is_start(const struct names *names, uint32_t frame)
{
	return has_role(names, frame, ROLE_START);
}

bool names_is_made_start(const struct names *names, uint32_t frame)
{
	return has_role(names, frame, ROLE_MADE_START);
}

bool names_is_injected(const struct names *names, uint32_t frame)
{
	return has_role(names, frame, ROLE_INJECTED);
}

bool names_is_return_barrier(const struct names *names, uint32_t frame)
{
	return has_role(names, frame, ROLE_RETURN_BARRIER);
}

int names_set_copied_start(struct names *names, uint32_t frame)
{
	struct name_entry *entry;
	int err = entry_of(names, frame, &entry);

	if (!err)
		entry->is_copied_start = true;
	return err;
}

bool names_is_copied_start(const struct names *names, uint32_t frame)
{
	return (frame < names->by_frame.n &&
		names->by_frame.items[frame].is_copied_start) ||
	       has_role(names, frame, ROLE_COPIED_START) ||
	       (!names->has_copied_start &&
		has_role(names, frame, ROLE_CALLS_COPIED_START));
}

bool names_is_freeing(const struct names *names, uint32_t frame)
{
	return has_role(names, frame, ROLE_FREES);
}

bool names_is_copying(const struct names *names, uint32_t frame, const uint32_t *callee)
{
	if (has_role(names, frame, ROLE_COPIES))
		return !callee || !names_is_freeing(names, *callee);
	return !callee && has_role(names, frame, ROLE_SWITCHES);
}
