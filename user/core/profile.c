// SPDX-License-Identifier: BSD-2-Clause
#include "core/profile.h"

#include "base/error.h"
#include "base/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROFILE_STRINGS_MAX  (16u << 20)
#define NODES_MAX	     (24u << 20)
#define RUNS_MAX	     (64u << 10)
#define LEDGER_MAX	     256
#define STRING_BYTES_SUM_MAX (512u << 20)

/* What is told apart by its bytes: an id is its index in the profile's array. */
enum { IDS_MODULE, IDS_FRAME, IDS_PROCESS, IDS_THREAD, IDS_STACK, IDS_ATTRIBUTE };

void profile_free(struct profile *r)
{
	if (!r)
		return;
	intern_free(r->strings);
	str_free(&r->clean);
	for (size_t i = 0; i < sizeof(r->ids) / sizeof(*r->ids); i++)
		intern_free(r->ids[i]);
	vec_free(&r->modules);
	vec_free(&r->frames);
	vec_free(&r->stacks);
	vec_free(&r->attributes);
	vec_free(&r->processes);
	vec_free(&r->threads);
	vec_free(&r->runs);
	vec_free(&r->ledger);
	pairs_free(&r->nodes);
	timeline_free(&r->timeline);
	free(r);
}

static int add_zeros(struct profile *r)
{
	uint32_t id;
	int err = profile_add_string(r, "", 0, &id);

	if (!err)
		err = profile_add_module(r, &(struct profile_module){ 0 }, &id);
	if (!err)
		err = profile_add_process(r, &(struct profile_process){ 0 }, &id);
	if (!err)
		err = profile_add_thread(r, &(struct profile_thread){ 0 }, &id);
	if (!err)
		err = profile_add_attribute(r, &(struct profile_attribute){ 0 }, &id);
	if (!err) /* the root: no other node is its own parent */
		err = pairs_id(&r->nodes, (struct pair){ 0, UINT32_MAX }, 1, &id);
	if (!err)
		err = profile_add_string(r, "samples", 7, &r->value_type);
	if (!err)
		err = profile_add_string(r, "count", 5, &r->value_unit);
	return err;
}

int profile_new(struct profile **ret)
{
	static const size_t most[] = {
		[IDS_MODULE] = MODULES_MAX,
		[IDS_FRAME] = FRAMES_DISTINCT_MAX,
		[IDS_PROCESS] = PROFILE_THREADS_MAX,
		[IDS_THREAD] = PROFILE_THREADS_MAX,
		[IDS_STACK] = STACKS_MAX,
		[IDS_ATTRIBUTE] = TRACES_MAX,
	};
	AUTO(profile) r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return fail(-ENOMEM, "no memory for a profile");
	err = intern_new(&r->strings, PROFILE_STRINGS_MAX);
	for (size_t i = 0; !err && i < sizeof(most) / sizeof(*most); i++)
		err = intern_new(&r->ids[i], most[i]);
	if (!err)
		err = add_zeros(r);
	if (err)
		return err;
	*ret = GIVE(r);
	return 0;
}

/* Full: 0, which means "not known" in each of them. */
static int full_is_zero(struct profile *r, int err, uint32_t *ret)
{
	if (err <= 0)
		return err;
	r->left_out++;
	*ret = 0;
	return 0;
}

int profile_add_string(struct profile *r, const char *s, size_t n, uint32_t *ret)
{
	size_t before = intern_count(r->strings);
	int err;

	str_clear(&r->clean);
	name_add(&r->clean, s, n);
	err = str_error(&r->clean);
	if (!err && r->string_bytes > STRING_BYTES_SUM_MAX)
		err = INTERN_FULL;
	if (!err)
		err = intern_id(r->strings, r->clean.s, r->clean.n, ret);
	if (!err && *ret == before)
		r->string_bytes += r->clean.n;
	return full_is_zero(r, err, ret);
}

/* Is it new? Then its number is the array's next. */
#define ADD(r, which, array, item, ret)                                                  \
	({                                                                               \
		int add_ = intern_id((r)->ids[which], item, sizeof(*(item)), ret);       \
		if (!add_ && *(ret) == (r)->array.n)                                     \
			add_ = vec_push(&(r)->array, *(item));                           \
		full_is_zero(r, add_, ret);                                              \
	})

int profile_add_module(struct profile *r, const struct profile_module *module,
		       uint32_t *ret)
{
	return ADD(r, IDS_MODULE, modules, module, ret);
}

int profile_add_frame(struct profile *r, const struct profile_frame *frame, uint32_t *ret)
{
	return ADD(r, IDS_FRAME, frames, frame, ret);
}

int profile_add_process(struct profile *r, const struct profile_process *process,
			uint32_t *ret)
{
	return ADD(r, IDS_PROCESS, processes, process, ret);
}

int profile_add_thread(struct profile *r, const struct profile_thread *thread,
		       uint32_t *ret)
{
	return ADD(r, IDS_THREAD, threads, thread, ret);
}

int profile_add_node(struct profile *r, uint32_t parent, uint32_t code, uint32_t *ret)
{
	int err = pairs_id(&r->nodes, (struct pair){ parent, code }, NODES_MAX, ret);

	if (err != PAIRS_FULL)
		return err;
	r->left_out++;
	*ret = parent;
	return 0;
}

static int add_id(struct profile *r, const unsigned char *id, size_t n, uint32_t *ret)
{
	char text[2 * TRACE_ID_BYTES + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return profile_add_string(r, text, 2 * n, ret);
}

int profile_set_trace(struct profile *r, const struct trace_ids *ids,
		      struct profile_stack *stack)
{
	static const struct trace_ids none;
	int err;

	if (!memcmp(ids, &none, sizeof(none)))
		return 0;
	err = add_id(r, ids->trace, sizeof(ids->trace), &stack->trace);
	return err ? err : add_id(r, ids->span, sizeof(ids->span), &stack->span);
}

int profile_add_attribute(struct profile *r, const struct profile_attribute *attribute,
			  uint32_t *ret)
{
	return ADD(r, IDS_ATTRIBUTE, attributes, attribute, ret);
}

int profile_add_stack(struct profile *r, const struct profile_stack *stack, uint32_t *ret)
{
	size_t before = r->left_out;
	int err = ADD(r, IDS_STACK, stacks, stack, ret);

	if (r->left_out != before) /* there is none that stands for all others */
		*ret = PROFILE_NO_STACK;
	return err;
}

int profile_add_run(struct profile *r, const struct profile_run *run)
{
	if (r->runs.n < RUNS_MAX)
		return vec_push(&r->runs, *run);
	r->left_out++;
	return 0;
}

static struct profile_count *find_count(const struct profile *r, const char *key)
{
	for (size_t i = 0; i < r->ledger.n; i++)
		if (!strcmp(profile_string(r, r->ledger.items[i].key), key))
			return &r->ledger.items[i];
	return NULL;
}

int profile_add_count(struct profile *r, const char *key, uint64_t value)
{
	struct profile_count *count = find_count(r, key);
	struct profile_count item = { .value = value };
	int err;

	if (count) {
		count->value += value;
		return 0;
	}
	if (r->ledger.n >= LEDGER_MAX) {
		r->left_out++;
		return 0;
	}
	err = profile_add_string(r, key, strlen(key), &item.key);
	return err ? err : vec_push(&r->ledger, item);
}

const char *profile_module_name(const struct profile *r, uint32_t module)
{
	const char *path = profile_string(r, r->modules.items[module].path);
	const char *base = strrchr(path, '/');

	return base && base[1] ? base + 1 : path;
}

const char *profile_code_name(const struct profile *r, uint32_t code)
{
	switch (PROFILE_MARK(code)) {
	case VIEW_BOUNDARY:
		return PROFILE_BOUNDARY_NAME;
	case VIEW_GAP:
		return PROFILE_GAP_NAME;
	case VIEW_CUT:
		return PROFILE_CUT_NAME;
	default:
		return profile_string(r, r->frames.items[code].name);
	}
}

/* The address of the kernel's frames is not told; it is 0 already. */
static int name_frame(struct profile *r, struct profile_frame *frame)
{
	const char *module = profile_module_name(r, frame->module);
	AUTO_STR name = { 0 };
	int err;

	if (frame->type == FRAME_TYPE_KERNEL)
		str_add(&name, "[kernel]");
	else
		str_addf(&name, "%s+0x%" PRIx64, *module ? module : "[unmapped]",
			 frame->offset);
	err = str_error(&name);
	return err ? err : profile_add_string(r, name.s, name.n, &frame->name);
}

int profile_finish(struct profile *r)
{
	int err = timeline_flush(&r->timeline);

	for (size_t i = 0; !err && i < r->frames.n; i++)
		if (!r->frames.items[i].name)
			err = name_frame(r, &r->frames.items[i]);
	return err;
}
