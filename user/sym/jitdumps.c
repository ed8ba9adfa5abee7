// SPDX-License-Identifier: BSD-2-Clause
#include "sym/jitdumps.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct dump {
	uint32_t tgid, incarnation;
	uint32_t module; /* the mapped file */
	uid_t uid;
	int fd; /* -1: it is not open yet */
	off_t bytes;
	uint64_t since_ns; /* when it was first seen to have so many; 0: not yet */
	uint64_t gone_ns;  /* when its process was first seen to be gone; 0: not yet */
};

struct jitdumps {
	const struct module_table *modules;
	const struct files *files;
	VEC(struct dump) dumps;
	struct jitdump_counts counts;
};

int jitdumps_new(struct jitdumps **ret, const struct module_table *modules,
		 const struct files *files)
{
	struct jitdumps *dumps = calloc(1, sizeof(*dumps));

	if (!dumps)
		return fail(-ENOMEM, "no memory for the dumps of JITs");
	dumps->modules = modules;
	dumps->files = files;
	*ret = dumps;
	return 0;
}

void jitdumps_free(struct jitdumps *dumps)
{
	if (!dumps)
		return;
	for (size_t i = 0; i < dumps->dumps.n; i++)
		if (dumps->dumps.items[i].fd >= 0)
			close(dumps->dumps.items[i].fd);
	vec_free(&dumps->dumps);
	free(dumps);
}

static struct dump *find(const struct jitdumps *dumps, uint32_t tgid,
			 uint32_t incarnation)
{
	for (size_t i = 0; i < dumps->dumps.n; i++)
		if (dumps->dumps.items[i].tgid == tgid &&
		    dumps->dumps.items[i].incarnation == incarnation)
			return &dumps->dumps.items[i];
	return NULL;
}

static bool has_room(const struct jitdumps *dumps, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < dumps->dumps.n; i++)
		n += dumps->dumps.items[i].fd >= 0 && dumps->dumps.items[i].uid == uid;
	return n < JITDUMPS_A_USER_MAX;
}

/* A child has its parent's mapping, and another number than the name says. What a user
 * may map he may read; but what he writes into another's file is not that one's word. */
static bool is_its_own(const struct process *process, uint32_t named, uid_t uid)
{
	struct owner owner = open_user((pid_t)process->tgid);

	if (!owner.known)
		return named == process->tgid;
	return named == (uint32_t)owner.inner_pid && (uid == owner.uid || !uid);
}

int jitdumps_mapped(struct jitdumps *dumps, const struct process *process,
		    const struct mapping *map)
{
	const struct dump dump = { .tgid = process->tgid,
				   .incarnation = process->incarnation,
				   .module = map->module,
				   .fd = -1 };

	if (!module_jitdump_pid(module_get(dumps->modules, map->module)) ||
	    find(dumps, dump.tgid, dump.incarnation))
		return 0;
	if (dumps->dumps.n >= JITDUMPS_MAX) {
		dumps->counts.over_limit++;
		return 0;
	}
	return vec_push(&dumps->dumps, dump);
}

static unsigned long *take(struct jitdumps *dumps, struct dump *dump, int fd,
			   const struct process *process)
{
	const struct module *module = module_get(dumps->modules, dump->module);
	struct stat st;

	if (fstat(fd, &st) || st.st_ino != module->ino) /* a copy does not grow */
		return &dumps->counts.unreadable;
	if (!is_its_own(process, module_jitdump_pid(module), st.st_uid))
		return &dumps->counts.foreign;
	if (!has_room(dumps, st.st_uid))
		return &dumps->counts.over_limit;
	dump->uid = st.st_uid;
	dump->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return dump->fd < 0 ? &dumps->counts.over_limit : &dumps->counts.found;
}

/* Takes the file as soon as it is open; false: there is nothing to wait for any more. */
static bool open_dump(struct jitdumps *dumps, struct dump *dump,
		      const struct process *process)
{
	bool is_there = process && process->incarnation == dump->incarnation;
	int fd = is_there ? files_fd(dumps->files, dump->module) : -1;

	if (fd < 0 && is_there && !process->ended_ns)
		return true;
	++*(fd < 0 ? &dumps->counts.unreadable : take(dumps, dump, fd, process));
	return dump->fd >= 0;
}

/* Has it grown since it was looked at last? */
static bool has_grown(struct dump *dump)
{
	struct stat st;

	if (dump->fd < 0 || fstat(dump->fd, &st) ||
	    (dump->since_ns && dump->bytes == st.st_size))
		return false;
	dump->bytes = st.st_size;
	dump->since_ns = clock_now_ns();
	return true;
}

void jitdumps_look(struct jitdumps *dumps, const struct process_table *processes,
		   jitdump_sink sink, void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < dumps->dumps.n; i++) {
		struct dump dump = dumps->dumps.items[i];
		const struct process *process = process_get(processes, dump.tgid);
		bool is_there = process && process->incarnation == dump.incarnation;

		if (dump.fd < 0 && !open_dump(dumps, &dump, process))
			continue;
		if (is_there && has_grown(&dump))
			sink(arg, dump.tgid, dump.since_ns);
		if (!is_there && !dump.gone_ns)
			dump.gone_ns = clock_now_ns();
		dumps->dumps.items[n++] = dump;
	}
	dumps->dumps.n = n;
}

void jitdumps_forget(struct jitdumps *dumps, uint64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < dumps->dumps.n; i++) {
		struct dump dump = dumps->dumps.items[i];

		if (!dump.gone_ns || dump.gone_ns >= before_ns)
			dumps->dumps.items[n++] = dump;
		else if (dump.fd >= 0)
			close(dump.fd);
	}
	dumps->dumps.n = n;
}

int jitdumps_fd(const struct jitdumps *dumps, uint32_t tgid, uint32_t incarnation)
{
	const struct dump *dump = dumps ? find(dumps, tgid, incarnation) : NULL;

	return dump ? dump->fd : -1;
}

struct dump_asking {
	const uint32_t *frames; /* of each question */
	struct names *names;
};

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	const struct dump_asking *ask = arg;

	return names_set(ask->names, ask->frames[index / JITDUMP_QUESTION_WORDS], name);
}

/* A question for each frame that has a code_ns, and of which frame it is. */
static size_t make_questions(const struct symbol_batch *batch, uint64_t *words,
			     uint32_t *frames)
{
	const struct aggregator *aggregator = batch->aggregator;
	size_t n = 0;

	for (size_t i = 0; i < batch->n; i++) {
		uint32_t frame = batch->wants[i].frame;
		const struct frame_times *times;

		if (!aggregator_frame(aggregator, frame)->code_ns ||
		    frame >= aggregator->frame_times.n)
			continue;
		times = &aggregator->frame_times.items[frame];
		frames[n] = frame;
		words[JITDUMP_QUESTION_WORDS * n] = batch->wants[i].at;
		words[JITDUMP_QUESTION_WORDS * n + 1] = times->first_ns;
		words[JITDUMP_QUESTION_WORDS * n + 2] = times->last_ns;
		n++;
	}
	return n;
}

int jitdumps_name(struct symbol_batch *batch, int fd)
{
	AUTO_FREE uint64_t *words =
		calloc(batch->n + 1, JITDUMP_QUESTION_WORDS * sizeof(*words));
	AUTO_FREE uint32_t *frames = calloc(batch->n + 1, sizeof(*frames));
	struct dump_asking ask = { frames, batch->names };
	size_t n;
	int err;

	if (!words || !frames)
		return fail(-ENOMEM, "no memory for %zu addresses", batch->n);
	names_set_origin(batch->names, NAME_ORIGIN_JIT);
	n = make_questions(batch, words, frames);
	err = n ? worker_names(batch->worker,
			       &(struct name_request){ NAMES_JITDUMP, fd, words,
						       n * JITDUMP_QUESTION_WORDS,
						       symbol_batch_left_ms(batch) },
			       on_name, &ask)
		: 0;
	batch->dump_failed = err;
	return err;
}

struct jitdump_counts jitdumps_counts(const struct jitdumps *dumps)
{
	return dumps->counts;
}
