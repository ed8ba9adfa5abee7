// SPDX-License-Identifier: BSD-2-Clause
#include "report/late_names.h"

#include "base/error.h"
#include "base/log.h"
#include "obj/elf_links.h"
#include "proc/opener.h"
#include "report/late_inlines.h"
#include "sym/alternate_link.h"
#include "sym/debug_servers.h"
#include "sym/split_files.h"
#include "worker/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DEADLINE_MS 5000 /* of each look into a file */

struct late_frame {
	uint32_t module, frame;
	uint64_t at; /* in the file; of a return address, the byte before */
};

struct late_search {
	struct profile *r;
	const struct late_names_options *options;
	struct worker *worker;
	struct debug_servers *servers; /* NULL: nobody is asked */
	VEC(struct late_frame) frames; /* by module and address */
	/* of the module at hand: */
	const struct late_frame *first;
	size_t n;
	struct build_id id;
	const char *path;
	bool found;
	struct late_inlines inlines;
	unsigned long named, located, others; /* frames, those with lines; files of
					       * other builds */
};

/* As frames without a symbol are called: libx.so!0x5a20 or libx.so+0x5a20. */
static bool is_nameless(const struct profile *r, const struct profile_frame *frame)
{
	const char *module = profile_module_name(r, frame->module);
	const char *name = profile_string(r, frame->name);
	size_t n = strlen(module);

	return frame->type == FRAME_TYPE_NATIVE && n && !strncmp(name, module, n) &&
	       (name[n] == '!' || name[n] == '+') && !strncmp(name + n + 1, "0x", 2);
}

/* Were inlined functions found there when it was recorded? */
static void mark_inlined(const struct profile *r, bool *ret)
{
	for (uint32_t i = 1; i < r->nodes.n; i++) {
		const struct profile_frame *frame = profile_node_frame(r, i);
		uint32_t parent = profile_parent(r, i);

		if (frame && frame->type == FRAME_TYPE_INLINED &&
		    profile_node_frame(r, parent))
			ret[profile_code(r, parent)] = true;
	}
}

static bool wants_lines(const struct late_search *s, const struct profile_frame *frame)
{
	return s->options->inlines && frame->type == FRAME_TYPE_NATIVE && frame->module &&
	       !frame->line;
}

static int by_place(const void *a, const void *b)
{
	const struct late_frame *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int collect(struct late_search *s)
{
	AUTO_FREE bool *has_inlined = calloc(s->r->frames.n + 1, sizeof(*has_inlined));
	int err = has_inlined ? 0 : fail(-ENOMEM, "no memory for names");

	if (!err)
		mark_inlined(s->r, has_inlined);
	for (uint32_t id = 0; !err && id < s->r->frames.n; id++) {
		const struct profile_frame *frame = &s->r->frames.items[id];

		if (is_nameless(s->r, frame) ||
		    (wants_lines(s, frame) && !has_inlined[id]))
			err = vec_push(&s->frames,
				       (struct late_frame){
					       frame->module, id,
					       frame->offset - (frame->returned == 1) });
	}
	vec_sort(&s->frames, by_place);
	return err;
}

static int on_same(void *arg, size_t index, const char *name, uint64_t start)
{
	*(bool *)arg = true;
	return 0;
}

static bool is_same(struct late_search *s, const struct build_id *id, int fd)
{
	struct elf_identity identity = { .build_id_bytes = id->bytes };
	uint64_t words[ELF_IDENTITY_WORDS];
	bool same = false;

	memcpy(identity.build_id, id->id, id->bytes);
	memcpy(words, &identity, sizeof(words));
	if (worker_names(s->worker,
			 &(struct name_request){ NAMES_SAME, fd, words,
						 ELF_IDENTITY_WORDS, DEADLINE_MS },
			 on_same, &same))
		error_clear();
	s->others += !same;
	return same;
}

/* A place that several frames have is asked for once. */
struct places {
	struct late_search *search;
	uint64_t *addrs;
	size_t *first; /* of each: its first frame; one more at the end */
	size_t n;
};

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	const struct places *places = arg;
	struct late_search *s = places->search;
	uint32_t string;
	int err = profile_add_string(s->r, name, strlen(name), &string);

	for (size_t i = places->first[index];
	     !err && string && i < places->first[index + 1]; i++) {
		struct profile_frame *frame = &s->r->frames.items[s->first[i].frame];

		if (!is_nameless(s->r, frame))
			continue;
		frame->name = string;
		s->named++;
	}
	return err;
}

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	const struct places *places = arg;
	struct late_search *s = places->search;
	int err = 0;

	for (size_t i = places->first[index]; !err && n && i < places->first[index + 1];
	     i++) {
		uint32_t frame = s->first[i].frame;

		if (!wants_lines(s, &s->r->frames.items[frame]))
			continue;
		err = late_inlines_note(&s->inlines, s->r, frame, locations, n);
		s->located++;
	}
	return err;
}

static void list_places(struct places *places, uint64_t bias)
{
	const struct late_search *s = places->search;

	for (size_t i = 0; i < s->n; i++) {
		if (i && s->first[i].at == s->first[i - 1].at)
			continue;
		places->first[places->n] = i;
		places->addrs[places->n++] = s->first[i].at + bias;
	}
	places->first[places->n] = s->n;
}

static struct debug_query begin_query(const struct late_search *s)
{
	struct debug_query query = { .pid = getpid(), .build_id_bytes = s->id.bytes };

	memcpy(query.build_id, s->id.id, s->id.bytes);
	if (s->options->symfs && strlen(s->options->symfs) < sizeof(query.symfs))
		strcpy(query.symfs, s->options->symfs);
	return query;
}

/* Of servers, or -1. */
static int fetch(struct late_search *s, const struct build_id *id)
{
	AUTO_CLOSE int fd = s->servers ? debug_servers_get(s->servers, id, s->path) : -1;
	bool is_right;

	if (fd < 0)
		return -1;
	is_right = is_same(s, id, fd);
	debug_servers_judge(s->servers, id, fd, is_right);
	return is_right ? GIVE_FD(fd) : -1;
}

/* What dwz moved out of a debug file, or -1. */
static int open_alternate(struct late_search *s, int of)
{
	struct debug_query query = begin_query(s);
	struct build_id id;

	if (!alternate_link_read(s->worker, of, DEADLINE_MS, &query))
		return -1;
	id = alternate_link_id(&query);
	for (;;) {
		AUTO_CLOSE int fd = -1;

		if (opener_debug(NULL, &query, s->path, &query.first, &fd))
			break;
		query.first++;
		if (is_same(s, &id, fd))
			return GIVE_FD(fd);
	}
	error_clear();
	return fetch(s, &id);
}

static int read_locations(struct places *places, int fd)
{
	struct late_search *s = places->search;
	AUTO_CLOSE int alternate = open_alternate(s, fd);
	struct name_request request = { .source = NAMES_SPLITS,
					.fd = fd,
					.addrs = places->addrs,
					.n = places->n,
					.deadline_ms = DEADLINE_MS };
	struct split_files splits;
	int err;

	split_files_find(&splits, &(struct split_search){ s->worker, NULL, begin_query(s),
							  s->path, request });
	request.source = NAMES_LOCATIONS;
	err = worker_locations(
		s->worker, &request,
		&(struct inline_files){ alternate, splits.files, splits.n }, on_locations,
		places);
	split_files_close(&splits);
	return err;
}

/* By addresses as linked where the recording tells them, since a debug file holds no
 * bytes and so knows no offsets; a whole file knows both. */
static int read_names(struct late_search *s, int fd)
{
	uint64_t bias = s->r->modules.items[s->first->module].bias;
	AUTO_FREE uint64_t *addrs = calloc(s->n, sizeof(*addrs));
	AUTO_FREE size_t *first = calloc(s->n + 1, sizeof(*first));
	struct places places = { s, addrs, first, 0 };
	int err;

	if (!addrs || !first)
		return fail(-ENOMEM, "no memory for %zu frames", s->n);
	list_places(&places, bias ? bias - 1 : 0);
	err = worker_names(s->worker,
			   &(struct name_request){ bias ? NAMES_ELF_LINKED : NAMES_ELF,
						   fd, addrs, places.n, DEADLINE_MS },
			   on_name, &places);
	if (!err && s->options->inlines && bias)
		err = read_locations(&places, fd);
	if (err == -ENOMEM)
		return err;
	if (err)
		log_warn("symbols of %s: %s", s->path, error_sentence());
	error_clear();
	s->found = true;
	return 0;
}

static int try_folder(struct late_search *s)
{
	struct debug_query query = begin_query(s);
	int err = 0;

	while (!err && !s->found) {
		AUTO_CLOSE int fd = -1;

		if (opener_debug(NULL, &query, s->path, &query.first, &fd))
			break;
		query.first++;
		if (is_same(s, &s->id, fd))
			err = read_names(s, fd);
	}
	error_clear();
	return err;
}

static int try_servers(struct late_search *s)
{
	AUTO_CLOSE int fd = fetch(s, &s->id);

	return fd >= 0 ? read_names(s, fd) : 0;
}

static int name_module(struct late_search *s)
{
	const struct profile_module *module = &s->r->modules.items[s->first->module];
	int err = 0;

	s->id = build_id_parse(profile_string(s->r, module->build_id));
	s->path = profile_string(s->r, module->path);
	s->found = false;
	if (!build_id_is_there(&s->id) || *s->path != '/')
		return 0;
	if (s->options->symfs)
		err = try_folder(s);
	if (!err && !s->found && s->servers)
		err = try_servers(s);
	return err;
}

static int name_modules(struct late_search *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->frames.n; i += s->n) {
		s->first = &s->frames.items[i];
		for (s->n = 1; i + s->n < s->frames.n; s->n++)
			if (s->first[s->n].module != s->first->module)
				break;
		err = name_module(s);
	}
	return err;
}

static void tell(const struct late_search *s)
{
	if (s->others)
		log_warn("%lu files with symbols are of other builds, and not used",
			 s->others);
	if (s->frames.n && !s->named && !s->located)
		log_warn(s->options->inlines ? "neither symbols nor lines were found"
					     : "no symbols were found of what has no "
					       "name");
}

int late_names_find(struct profile *r, const struct late_names_options *options)
{
	const struct debug_servers_config servers = { .urls = options->debuginfod,
						      .progress = options->progress };
	struct late_search s = { .r = r, .options = options };
	int err = 0;

	if (!options->symfs && !options->debuginfod)
		return 0;
	err = collect(&s);
	if (!err && s.frames.n)
		err = worker_new(&s.worker);
	if (!err && s.frames.n && options->debuginfod)
		err = debug_servers_new(&s.servers, &servers);
	if (!err)
		err = name_modules(&s);
	if (!err)
		err = late_inlines_apply(&s.inlines, r);
	if (!err)
		tell(&s);
	debug_servers_free(s.servers);
	worker_free(s.worker);
	vec_free(&s.frames);
	late_inlines_free(&s.inlines);
	return err;
}
