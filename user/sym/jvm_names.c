// SPDX-License-Identifier: BSD-2-Clause
#include "sym/jvm_names.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "proc/open_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Who runs for long has fewer news, and does not end soon. */
#define ASK_AGAIN_NS	 SECOND_NS
#define ASK_OLD_AGAIN_NS (4 * SECOND_NS)
#define OLD_NS		 (20 * SECOND_NS)

/* A process with a JVM whose code was sampled. */
struct jvm {
	uint32_t tgid, incarnation;
	bool is_hopeless; /* it has none, or it can't be read */
	bool is_viewed;
	struct hotspot_view view;
	uint64_t seen_ns, looked_ns; /* first, and last */
	VEC(uint64_t) wanted;	     /* addresses */
	struct str now, before;	     /* what this window has, and the one before */
};

struct jvm_names {
	struct jvm_names_sources from;
	VEC(struct jvm) all;
	uint32_t n_seen; /* frames of the window at hand */
};

int jvm_names_new(struct jvm_names **ret, const struct jvm_names_sources *sources)
{
	struct jvm_names *names = calloc(1, sizeof(*names));

	if (!names)
		return fail(-ENOMEM, "no memory for Java's names");
	names->from = *sources;
	*ret = names;
	return 0;
}

static void jvm_free(struct jvm *jvm)
{
	vec_free(&jvm->wanted);
	str_free(&jvm->now);
	str_free(&jvm->before);
}

void jvm_names_free(struct jvm_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->all.n; i++)
		jvm_free(&names->all.items[i]);
	vec_free(&names->all);
	free(names);
}

static struct jvm *find(const struct jvm_names *names, uint32_t tgid,
			uint32_t incarnation)
{
	for (size_t i = 0; i < names->all.n; i++)
		if (names->all.items[i].tgid == tgid &&
		    names->all.items[i].incarnation == incarnation)
			return &names->all.items[i];
	return NULL;
}

/* Where libjvm.so has what leads to names, in a process that maps it. */
static bool find_symbols(const struct files *files, const struct process *process,
			 struct hotspot_symbols *ret)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++) {
		const struct elf_info *info = files_elf_info(files, maps[i].module);

		if (!info || !info->hotspot_vaddr)
			continue;
		*ret = (struct hotspot_symbols){
			elf_address(info, maps[i].start, maps[i].pgoff,
				    info->hotspot_vaddr),
			elf_address(info, maps[i].start, maps[i].pgoff,
				    info->hotspot_types_vaddr),
		};
		return ret->structs && ret->types;
	}
	return false;
}

static struct jvm *note_process(struct jvm_names *names, const struct module *module)
{
	struct jvm *jvm = find(names, module->pid, module->incarnation);
	const struct jvm new = { .tgid = module->pid,
				 .incarnation = module->incarnation,
				 .seen_ns = clock_now_ns() };

	if (jvm || names->all.n >= JVM_NAMES_MAX)
		return jvm;
	if (!vec_push(&names->all, new))
		return &names->all.items[names->all.n - 1];
	error_clear(); /* its code has no names */
	return NULL;
}

static void note_sampled(struct jvm_names *names, const struct aggregator *aggregator)
{
	uint32_t n = (uint32_t)intern_count(aggregator->frames), of = UINT32_MAX;
	struct jvm *jvm = NULL;

	for (; names->n_seen < n; names->n_seen++) {
		const struct frame *frame = aggregator_frame(aggregator, names->n_seen);
		const struct module *module =
			frame->returned == FRAME_IS_LABEL
				? NULL
				: module_get(names->from.modules, frame->module);

		if (!module || module->kind != MODULE_JIT)
			continue;
		if (frame->module != of)
			jvm = note_process(names, module);
		of = frame->module;
		if (jvm && !jvm->is_hopeless &&
		    vec_push(&jvm->wanted, frame->offset - (frame->returned == 1)))
			error_clear();
	}
}

/* Of so many addresses; a negative errno: no more of this process. */
static int ask(struct jvm_names *names, struct jvm *jvm, const uint64_t *addrs, size_t n)
{
	const struct hotspot_wanted wanted = { &jvm->view, addrs, n };
	char piece[4096];
	AUTO_CLOSE int fd = -1;
	int err =
		opener_hotspot_names(names->from.opener, (pid_t)jvm->tgid, &wanted, &fd);
	off_t at = 0;

	for (ssize_t got = 1; !err && got > 0; at += got) {
		got = pread(fd, piece, sizeof(piece), at);
		if (got > 0)
			str_add_bytes(&jvm->now, piece, (size_t)got);
	}
	return err ? err : str_error(&jvm->now);
}

/* What leads to its names, once. -EAGAIN: it starts. */
static int view(struct jvm_names *names, struct jvm *jvm, const struct process *process)
{
	struct hotspot_symbols symbols;
	int err;

	if (jvm->is_viewed)
		return 0;
	if (!find_symbols(names->from.files, process, &symbols))
		return -ENOENT;
	err = opener_hotspot_view(names->from.opener, (pid_t)jvm->tgid, &symbols,
				  &jvm->view);
	jvm->is_viewed = !err;
	return err;
}

/* Of what is no code, the address is that of a method that was interpreted. */
static void mark_methods(struct jvm *jvm, const struct process *process)
{
	for (size_t i = 0; i < jvm->wanted.n; i++)
		if (!process_mapping(process, jvm->wanted.items[i]))
			jvm->wanted.items[i] |= HOTSPOT_METHOD;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of all that is wanted, in order, which costs less. */
static int ask_in_order(struct jvm_names *names, struct jvm *jvm,
			const struct process *process)
{
	int err = 0;

	mark_methods(jvm, process);
	vec_sort(&jvm->wanted, by_address);
	for (size_t i = 0, n; !err && i < jvm->wanted.n; i += n) {
		n = jvm->wanted.n - i;
		n = n < HOTSPOT_NAMES_MAX ? n : HOTSPOT_NAMES_MAX;
		if (jvm->now.n < JVM_NAMES_BYTES_MAX)
			err = ask(names, jvm, jvm->wanted.items + i, n);
	}
	return err;
}

static void ask_all(struct jvm_names *names, struct jvm *jvm,
		    const struct process *process)
{
	int err = view(names, jvm, process);

	if (!err)
		err = ask_in_order(names, jvm, process);
	if (err && err != -EAGAIN && err != -ENOENT) {
		log_verbose("names of Java code of process %u: %s", jvm->tgid,
			    error_sentence());
		jvm->is_hopeless = true;
	}
	error_clear();
	if (err != -EAGAIN)
		jvm->wanted.n = 0;
}

static bool is_too_soon(const struct jvm *jvm, uint64_t now_ns)
{
	uint64_t pause = now_ns - jvm->seen_ns < OLD_NS ? ASK_AGAIN_NS : ASK_OLD_AGAIN_NS;

	return now_ns - jvm->looked_ns < pause;
}

void jvm_names_look(struct jvm_names *names, const struct aggregator *aggregator,
		    const struct process_table *processes, bool now)
{
	uint64_t now_ns = clock_now_ns();

	note_sampled(names, aggregator);
	for (size_t i = 0; i < names->all.n; i++) {
		struct jvm *jvm = &names->all.items[i];
		const struct process *process =
			process_running(processes, jvm->tgid, jvm->incarnation);

		if (!jvm->wanted.n || !process || (!now && is_too_soon(jvm, now_ns)))
			continue;
		jvm->looked_ns = now_ns;
		ask_all(names, jvm, process);
	}
}

void jvm_names_next_window(struct jvm_names *names, const struct process_table *processes)
{
	size_t kept = 0;

	names->n_seen = 0;
	for (size_t i = 0; i < names->all.n; i++) {
		struct jvm *jvm = &names->all.items[i];
		struct str before = jvm->before;

		jvm->before = jvm->now;
		jvm->now = before;
		str_clear_to(&jvm->now, JVM_NAMES_BYTES_MAX / 64);
		jvm->wanted.n = 0;
		if (jvm->before.n ||
		    process_running(processes, jvm->tgid, jvm->incarnation))
			names->all.items[kept++] = *jvm;
		else
			jvm_free(jvm);
	}
	names->all.n = kept;
}

int jvm_names_fd(const struct jvm_names *names, uint32_t tgid, uint32_t incarnation,
		 int *ret_fd)
{
	const struct jvm *jvm = names ? find(names, tgid, incarnation) : NULL;
	AUTO_STR text = { 0 };

	if (!jvm || !(jvm->before.n || jvm->now.n))
		return -ENOENT;
	/* of two lines the later one is taken */
	str_add_bytes(&text, jvm->now.s, jvm->now.n);
	str_add_bytes(&text, jvm->before.s, jvm->before.n);
	return str_error(&text) ? str_error(&text)
				: open_copy_bytes(text.s, text.n, ret_fd);
}
