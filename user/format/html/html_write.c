// SPDX-License-Identifier: BSD-2-Clause
#include "format/html/html_write.h"

#include "base/error.h"
#include "format/html/html_write_ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TEXTS_MAX      (8u << 20)
#define FUNCTIONS_MAX  (8u << 20)
#define CONTAINERS_MAX (1u << 20)

/* The page around the data, from tools/page/assemble. */
static const unsigned char page_head[] = {
#include "page/page_head.inc"
};
static const unsigned char page_tail[] = {
#include "page/page_tail.inc"
};

/* Line separators are good JSON; scripts of old take them for an end of line. */
static bool is_separator(const char *s)
{
	return !memcmp(s, "\xe2\x80\xa8", 3) || !memcmp(s, "\xe2\x80\xa9", 3);
}

/* A text as JSON that may stand inside a script element. */
static void html_add_text(struct html *h, const char *text)
{
	struct str *out = &h->buffer.text;
	const char *s, *end;

	str_clear(&h->scratch);
	str_add_json(&h->scratch, text);
	if (str_error(&h->scratch)) {
		out->failed = true;
		return;
	}
	json_next(&h->json);
	end = h->scratch.s + h->scratch.n;
	for (s = h->scratch.s; s < end; s++) {
		if (*s == '<') {
			str_add(out, "\\u003c");
		} else if (end - s >= 3 && is_separator(s)) {
			str_add(out, s[2] == '\xa8' ? "\\u2028" : "\\u2029");
			s += 2;
		} else {
			str_add_char(out, *s);
		}
	}
}

static void add_member(struct html *h, const char *key, const char *text)
{
	json_key(&h->json, key);
	html_add_text(h, text);
}

static void add_title(struct html *h, const char *title)
{
	const struct profile *r = h->profile;
	const struct profile_process *process;
	char text[64];

	if (!title && h->processes.n == 1) {
		process = &r->processes.items[h->processes.items[0]];
		title = profile_string(r, process->name);
	}
	if (!title || !*title) {
		snprintf(text, sizeof(text), "%zu processes", h->processes.n);
		title = h->processes.n > 1 ? text : "profile";
	}
	add_member(h, "title", title);
}

/* Of several recordings only what they have in common is said. */
static void add_run(struct html *h)
{
	static const struct profile_run none;
	const struct profile *r = h->profile;
	const struct profile_run *run = r->runs.n ? &r->runs.items[0] : &none;
	uint64_t longest = 0;
	char hosts[48];

	for (size_t i = 0; i < r->runs.n; i++)
		if (r->runs.items[i].duration_ns > longest)
			longest = r->runs.items[i].duration_ns;
	snprintf(hosts, sizeof(hosts), "%zu recordings", r->runs.n);
	add_member(h, "host", r->runs.n > 1 ? hosts : profile_string(r, run->host));
	if (r->runs.n > 1)
		run = &none;
	add_member(h, "kernel", profile_string(r, run->kernel));
	add_member(h, "command", profile_string(r, run->command));
	add_member(h, "event", profile_string(r, run->event));
	json_uint(&h->json, "start_s", run->started_unix_ns / 1000000000);
	json_addf(&h->json, "seconds", "%.1f", (double)longest / 1e9);
	json_uint(&h->json, "rate_hz", run->hz);
}

static void write_meta(struct html *h, const struct writer_options *options)
{
	const struct profile *r = h->profile;

	json_open(&h->json, NULL, '{');
	json_uint(&h->json, "format", 1);
	json_line(&h->json);
	json_open(&h->json, "meta", '{');
	add_title(h, options->title);
	add_run(h);
	add_member(h, "version", WEFT_VERSION);
	add_member(h, "value", profile_string(r, r->value_type));
	add_member(h, "unit", profile_string(r, r->value_unit));
	json_uint(&h->json, "period_ns", profile_period_ns(r));
	json_text(&h->json, "view", options->view == VIEW_THREAD ? "thread" : "async");
	json_bool(&h->json, "one_view", r->one_view);
	json_bool(&h->json, "was_cut", r->was_cut);
	json_uint(&h->json, "left_out", r->left_out + h->left_out);
	json_close(&h->json, '}');
	json_line(&h->json);
}

static void write_ledger(struct html *h)
{
	const struct profile *r = h->profile;

	json_open(&h->json, "ledger", '[');
	for (size_t i = 0; i < r->ledger.n; i++) {
		const struct profile_count *count = &r->ledger.items[i];
		struct html_line line = html_ledger_line(profile_string(r, count->key));

		json_open(&h->json, NULL, '[');
		json_text(&h->json, NULL, line.group);
		html_add_text(h, line.text);
		json_uint(&h->json, NULL, count->value);
		json_close(&h->json, ']');
	}
	json_close(&h->json, ']');
	json_line(&h->json);
}

static int write_nodes(struct html *h)
{
	int err = 0;

	json_open(&h->json, "nodes", '[');
	for (size_t i = 1; !err && i < h->nodes.n; i++) {
		json_uint(&h->json, NULL, i - h->nodes.items[i].a);
		json_uint(&h->json, NULL, h->nodes.items[i].b);
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	json_open(&h->json, "stacks", '[');
	for (size_t i = 0; !err && i < h->stacks.n; i++) {
		json_uint(&h->json, NULL, h->stacks.items[i].a);
		json_uint(&h->json, NULL, h->stacks.items[i].b);
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

static void write_whole_names(struct html *h)
{
	json_open(&h->json, "whole", '[');
	for (size_t i = 0; i < h->whole.n; i++)
		json_uint(&h->json, NULL, h->whole.items[i]);
	json_close(&h->json, ']');
	json_line(&h->json);
}

static int write_functions(struct html *h)
{
	const struct profile *r = h->profile;
	uint32_t path, build_id;
	int err = 0;
	size_t n;

	json_open(&h->json, "frames", '[');
	for (uint32_t i = 0; !err && i < h->files.n; i++) {
		const struct html_function *f = intern_bytes(h->functions, i, &n);

		json_uint(&h->json, NULL, f->name);
		json_uint(&h->json, NULL, f->module);
		json_uint(&h->json, NULL, f->type);
		json_uint(&h->json, NULL, h->files.items[i]);
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	if (h->shorts)
		write_whole_names(h);
	json_open(&h->json, "modules", '[');
	for (size_t i = 0; !err && i < h->modules.n; i++) {
		const struct profile_module *module =
			&r->modules.items[h->modules.items[i]];

		err = html_text(h, profile_string(r, module->path), &path);
		if (!err)
			err = html_text(h, profile_string(r, module->build_id),
					&build_id);
		json_uint(&h->json, NULL, path);
		json_uint(&h->json, NULL, build_id);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

/* 0: in none; else counted from 1. */
static int container_of(struct html *h, uint32_t cgroup, uint32_t *ret)
{
	char name[256];
	int err;

	*ret = 0;
	profile_container(name, sizeof(name), profile_string(h->profile, cgroup));
	if (!*name)
		return 0;
	err = intern_id(h->containers, name, strlen(name), ret);
	*ret = err ? 0 : *ret + 1;
	return err < 0 ? err : 0;
}

static int write_processes(struct html *h)
{
	const struct profile *r = h->profile;
	uint32_t name, host = 0, container;
	int err = 0;

	json_open(&h->json, "processes", '[');
	for (size_t i = 0; !err && i < h->processes.n; i++) {
		const struct profile_process *process =
			&r->processes.items[h->processes.items[i]];

		err = html_text(h, profile_string(r, process->name), &name);
		if (!err && r->runs.n > 1)
			err = html_text(h, profile_string(r, process->host), &host);
		if (!err)
			err = container_of(h, process->cgroup, &container);
		if (err)
			return err;
		json_uint(&h->json, NULL, process->pid);
		json_uint(&h->json, NULL, name);
		json_uint(&h->json, NULL, container);
		json_uint(&h->json, NULL, host);
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	json_open(&h->json, "containers", '[');
	for (uint32_t i = 0; !err && i < intern_count(h->containers); i++) {
		err = html_text(h, intern_string(h->containers, i), &name);
		json_uint(&h->json, NULL, name);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

static int write_threads(struct html *h)
{
	const struct profile *r = h->profile;
	uint32_t name;
	int err = 0;

	json_open(&h->json, "threads", '[');
	for (size_t i = 0; !err && i < h->threads.n; i++) {
		const struct profile_thread *thread =
			&r->threads.items[h->threads.items[i]];

		err = html_text(h, profile_string(r, thread->name), &name);
		json_uint(&h->json, NULL, thread->tid);
		json_uint(&h->json, NULL, name);
		json_uint(&h->json, NULL, h->process_of[thread->process]);
		if (!err)
			err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_line(&h->json);
	return err;
}

/* Last, when all that they are needed for is written. */
static int write_texts(struct html *h)
{
	int err = 0;

	json_open(&h->json, "strings", '[');
	for (uint32_t i = 0; !err && i < intern_count(h->texts); i++) {
		if (i)
			json_line(&h->json);
		html_add_text(h, intern_string(h->texts, i));
		err = output_buffer_drain(&h->buffer);
	}
	json_close(&h->json, ']');
	json_close(&h->json, '}');
	return err;
}

static int write_page(struct html *h, const struct writer_options *options)
{
	int err;

	str_add_bytes(&h->buffer.text, page_head, sizeof(page_head));
	write_meta(h, options);
	write_ledger(h);
	err = write_nodes(h);
	if (!err)
		err = write_functions(h);
	if (!err)
		err = write_processes(h);
	if (!err)
		err = write_threads(h);
	if (!err)
		err = html_write_samples(h);
	if (!err)
		err = write_texts(h);
	str_add_bytes(&h->buffer.text, page_tail, sizeof(page_tail));
	return err ? err : output_buffer_close(&h->buffer);
}

static void free_all(struct html *h)
{
	intern_free(h->texts);
	intern_free(h->functions);
	intern_free(h->containers);
	pairs_free(&h->nodes);
	pairs_free(&h->stacks);
	pairs_free(&h->sample_keys);
	vec_free(&h->files);
	vec_free(&h->whole);
	short_names_free(h->shorts);
	vec_free(&h->modules);
	vec_free(&h->sums);
	vec_free(&h->threads);
	vec_free(&h->processes);
	vec_free(&h->cell_sample_keys);
	free(h->in_cell);
	free(h->function_of);
	free(h->module_of);
	free(h->node_of);
	free(h->sample_key_of);
	free(h->thread_of);
	free(h->process_of);
	str_free(&h->scratch);
	output_buffer_free(&h->buffer);
}

static int html_write(struct outfile *out, const struct profile *profile,
		      const struct writer_options *options)
{
	struct html h = { .profile = profile, .buffer.out = out };
	uint32_t empty;
	int err = intern_new(&h.texts, TEXTS_MAX);

	h.json.out = &h.buffer.text;
	if (!err)
		err = intern_new(&h.functions, FUNCTIONS_MAX);
	if (!err)
		err = intern_new(&h.containers, CONTAINERS_MAX);
	if (!err)
		err = html_text(&h, "", &empty);
	if (!err && options->short_names)
		err = short_names_new(&h.shorts, profile);
	if (!err)
		err = html_number(&h);
	if (!err)
		err = write_page(&h, options);
	free_all(&h);
	return err;
}

const struct writer html_writer = {
	.name = "html",
	.endings = { ".html", ".htm" },
	.text = "A page for any browser: both views, time, processes, threads,\n"
		"containers and losses.\n"
		"It is one file and uses no network; press ? in it to see its keys.\n"
		"Holds no addresses, lines or build ids of single frames.",
	.write = html_write,
};
