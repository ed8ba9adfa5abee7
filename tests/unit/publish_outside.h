/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The world as the publisher sees it (publish/outside.h), and workers that answer when
 * they are told to: a clock that stands still, the kernel's maps as arrays, processes
 * and files that are there because a test says so. One world a test program.
 *
 * Each file's table carries its inode where a table has its first address, so that
 * world_check() (publish_world.h) can tell whether ticks would walk by another file's.
 */
#ifndef WEFT_TESTS_PUBLISH_OUTSIDE_H
#define WEFT_TESTS_PUBLISH_OUTSIDE_H

#include "proc/side_event.h"
#include "publish/publisher.h"
#include "shared/async_abi.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <errno.h>
#include <linux/perf_event.h>

#define WORLD_PAGES	256 /* unless a test says otherwise */
#define WORLD_PAGES_MAX 8192
#define WORLD_PIDS	40  /* 1 to 39 */
#define WORLD_FILES	120 /* by inode */
#define WORLD_WORDS	64

#define TEXT_VADDR 0x401000ULL
#define TEXT_PGOFF 0x1000ULL
#define TEXT_BYTES 0x1000ULL
#define KEY_VADDR  0x403000ULL
#define MS	   1000000ULL

struct world_process {
	uint64_t start_ticks, start_stack;
	uint64_t after_ns, until_ns; /* its life, as the kernel's half knows it */
	int err;		     /* of asking who it is */
	bool is_elsewhere;	     /* its files are not where they were */
	uid_t uid;
};

struct world_file {
	int fd;
	int open_err;
	uint32_t n_keys;
	bool is_libc, is_jvm;
	uint32_t n_pages, flags; /* of its table */
	struct unwind_rule hosted;
	unsigned int n_asked[2]; /* enum piece */
	unsigned int n_opened;
};

static struct world {
	uint64_t now_ns, open_ns; /* what each opening takes */

	union unwind_page *pages; /* WORLD_PAGES_MAX */
	uint32_t page_max;	  /* that was written */
	struct process_info processes[WORLD_PIDS];
	bool is_published[WORLD_PIDS];
	struct unwind_file told[WORLD_FILES]; /* table 0: not told of */
	int tell_err;
	unsigned int n_puts, n_removed, n_written;
	unsigned int n_identities; /* read */
	int put_err, write_err;

	struct world_process procs[WORLD_PIDS];
	struct world_file files[WORLD_FILES];
	uint64_t set_keys[WORLD_WORDS]; /* addresses of keys that are set */
	unsigned int n_peeks;
	bool is_hidden;			     /* memory can't be read */
	struct hotspot hotspots[WORLD_PIDS]; /* as they were put */
	unsigned int n_hotspots_read;
	struct hotspot_heap code_cache; /* that of each JVM */
	int hotspot_err;

	struct module_table *modules;
	struct publisher *publisher;
} world;

/* ---- a worker that answers when it is told to ---- */

enum piece { METADATA, TABLE };

struct world_job {
	enum piece piece;
	uint64_t cookie;
	bool is_answered;
	int err;
	uint64_t cpu_ns;
};

struct worker {
	VEC(struct world_job) jobs;
	struct table_sink sink;
	unsigned int most;     /* jobs at one time */
	unsigned int n_behind; /* that others went before */
};

static struct worker world_worker;

static inline uint64_t world_ino(uint64_t cookie)
{
	return module_get(world.modules, (uint32_t)cookie)->ino;
}

static inline int world_ask(struct worker *worker, enum piece piece, int fd,
			    uint64_t cookie)
{
	const struct world_job job = { .piece = piece, .cookie = cookie };

	close(fd);
	world.files[world_ino(cookie)].n_asked[piece]++;
	worker->n_behind += worker->sink.is_behind &&
			    worker->sink.is_behind(worker->sink.arg, cookie);
	for (size_t i = 0; i < worker->jobs.n; i++)
		assert_false(worker->jobs.items[i].piece == piece &&
			     worker->jobs.items[i].cookie == cookie);
	assert_int_equal(vec_push(&worker->jobs, job), 0);
	if (worker->jobs.n > worker->most)
		worker->most = (unsigned int)worker->jobs.n;
	return 0;
}

int worker_submit_scan(struct worker *worker, int fd, uint64_t cookie)
{
	return world_ask(worker, METADATA, fd, cookie);
}

int worker_submit_table(struct worker *worker, int fd, uint64_t cookie)
{
	return world_ask(worker, TABLE, fd, cookie);
}

int worker_submit_recorded_table(struct worker *worker, int fd, uint64_t cookie)
{
	return world_ask(worker, TABLE, fd, cookie);
}

int worker_submit_hash(struct worker *worker, int fd, uint64_t cookie,
		       const struct byte_ranges *list)
{
	fail_msg("there is no cache");
	return -1;
}

void worker_set_table_sink(struct worker *worker, const struct table_sink *sink)
{
	worker->sink = *sink;
}

int worker_fd(const struct worker *worker)
{
	return -1;
}

static inline void answer_scan(const struct world_job *job, scan_sink sink, void *arg)
{
	const struct world_file *file = &world.files[world_ino(job->cookie)];
	struct elf_info info = {
		.n_segments = 1,
		.segments = { { .offset = TEXT_PGOFF,
				.vaddr = TEXT_VADDR,
				.file_bytes = TEXT_BYTES,
				.memory_bytes = TEXT_BYTES,
				.flags = 5 } },
		.n_keys = file->n_keys,
		.hotspot_vaddr = file->is_jvm ? KEY_VADDR : 0,
	};

	for (uint32_t i = 0; i < file->n_keys; i++)
		info.key_vaddrs[i] = KEY_VADDR + 4 * i;
	sink(arg, job->cookie, job->err, job->err ? NULL : &info);
}

static inline void answer_table(struct worker *worker, const struct world_job *job)
{
	const struct table_sink *sink = &worker->sink;
	uint64_t ino = world_ino(job->cookie);
	const struct world_file *file = &world.files[ino];
	const union unwind_page head = { .head = { .text = ino,
						   .n_pages = file->n_pages,
						   .flags = file->flags,
						   .hosted = file->hosted } };
	const union unwind_page other = { .head = { .text = ino } };
	const struct table_answer answer = { .head = head.head };
	const struct table_answer nothing = { 0 };

	for (uint32_t i = 0; !job->err && i < file->n_pages; i++)
		sink->pages(sink->arg, job->cookie, i, i ? &other : &head, 1);
	sink->done(sink->arg, job->cookie, job->err, job->err ? &nothing : &answer);
}

int worker_collect(struct worker *worker, int wait_ms, scan_sink sink, void *arg)
{
	for (size_t i = 0; i < worker->jobs.n;) {
		const struct world_job job = worker->jobs.items[i];

		if (!job.is_answered) {
			i++;
			continue;
		}
		memmove(&worker->jobs.items[i], &worker->jobs.items[i + 1],
			(--worker->jobs.n - i) * sizeof(job));
		if (worker->sink.took)
			worker->sink.took(worker->sink.arg, job.cookie, job.cpu_ns);
		if (job.piece == METADATA)
			answer_scan(&job, sink, arg);
		else
			answer_table(worker, &job);
		i = 0; /* it may have submitted more */
	}
	return (int)worker->jobs.n;
}

/* Of the file with this inode; false: that was not asked. */
static inline bool world_answer(enum piece piece, uint64_t ino, int err)
{
	for (size_t i = 0; i < world_worker.jobs.n; i++) {
		struct world_job *job = &world_worker.jobs.items[i];

		if (job->piece != piece || world_ino(job->cookie) != ino)
			continue;
		job->is_answered = true;
		job->err = err;
		return true;
	}
	return false;
}

/* ---- the outside ---- */

static inline uint64_t world_now(void)
{
	return world.now_ns;
}

static inline int world_put(const struct publish_maps *maps, pid_t tgid,
			    const struct process_info *what)
{
	assert_in_range(tgid, 1, WORLD_PIDS - 1);
	world.n_puts++;
	if (world.put_err)
		return (fail)(world.put_err, "no room");
	world.processes[tgid] = *what;
	world.is_published[tgid] = true;
	return 0;
}

static inline void world_remove(const struct publish_maps *maps, pid_t tgid)
{
	assert_in_range(tgid, 1, WORLD_PIDS - 1);
	world.n_removed++;
	world.is_published[tgid] = false;
}

static inline uint32_t world_reach(const struct publish_maps *maps, uint32_t from,
				   uint32_t to)
{
	return maps->n_pages;
}

static inline int world_write(const struct publish_maps *maps, uint32_t first,
			      const union unwind_page *pages, uint32_t n)
{
	assert_in_range(first, 1, WORLD_PAGES_MAX - n);
	if (world.write_err)
		return (fail)(world.write_err, "no write");
	world.n_written += n;
	if (first + n > world.page_max)
		world.page_max = first + n;
	memcpy(&world.pages[first], pages, n * sizeof(*pages));
	return 0;
}

static inline int world_tell_file(const struct publish_maps *maps,
				  const struct unwind_file_key *key,
				  const struct unwind_file *file)
{
	assert_in_range(key->ino, 1, WORLD_FILES - 1);
	if (file && world.tell_err)
		return (fail)(world.tell_err, "no room");
	world.told[key->ino] = file ? *file : (struct unwind_file){ 0 };
	return 0;
}

static inline int world_open(struct opener *opener, pid_t pid, const struct mapping *map,
			     const struct module *module, int *ret_fd)
{
	struct world_file *file = &world.files[module->ino];

	if (file->open_err)
		return (fail)(file->open_err, "not there");
	file->n_opened++;
	world.now_ns += world.open_ns;
	*ret_fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	assert_true(*ret_fd >= 0);
	return 0;
}

static inline struct owner world_owner(struct opener *opener, pid_t pid)
{
	return (struct owner){ .known = true,
			       .inner_pid = pid,
			       .payer = world.procs[pid].uid };
}

static inline int world_identity(struct opener *opener, pid_t tgid,
				 const struct map_place *places, unsigned int n,
				 struct identity ret[2])
{
	const struct world_process *process = &world.procs[tgid];

	world.n_identities++;
	if (process->err)
		return (fail)(process->err, "hidden, or gone");
	if (n && process->is_elsewhere)
		return (fail)(-ESTALE, "elsewhere");
	ret[0] = ret[1] = (struct identity){ process->start_ticks, process->start_stack };
	return 0;
}

static inline int world_words(struct opener *opener, pid_t pid, const uint64_t *addrs,
			      unsigned int n, uint32_t *ret)
{
	world.n_peeks++;
	for (unsigned int i = 0; !world.is_hidden && i < n; i++)
		for (unsigned int k = 0; k < WORLD_WORDS; k++)
			if (addrs[i] == world.set_keys[k])
				ret[i] = k;
	return world.is_hidden ? (fail)(-ETIMEDOUT, "held up") : 0;
}

static inline int world_hotspot(struct opener *opener, pid_t pid, uint64_t vm_structs,
				struct hotspot *ret)
{
	world.n_hotspots_read++;
	*ret = (struct hotspot){ .interpreter = vm_structs,
				 .heaps[1] = world.code_cache };
	return world.hotspot_err ? (fail)(world.hotspot_err, "not yet, or never") : 0;
}

static inline int world_put_hotspot(const struct publish_maps *maps, pid_t tgid,
				    const struct hotspot *vm)
{
	world.hotspots[tgid] = vm ? *vm : (struct hotspot){ 0 };
	return 0;
}

static const struct outside world_outside = {
	.now_ns = world_now,
	.put = world_put,
	.remove = world_remove,
	.reach = world_reach,
	.write = world_write,
	.tell_file = world_tell_file,
	.files = { world_now, world_open, world_owner },
	.identity = world_identity,
	.words = world_words,
	.put_hotspot = world_put_hotspot,
	.hotspot = world_hotspot,
};

/* The files stay the same, from one world to the next. */
static inline int world_fd(int ino)
{
	static int fds[WORLD_FILES];

	if (!fds[ino])
		fds[ino] = memfd_create("world", MFD_CLOEXEC);
	assert_true(fds[ino] > 0);
	return fds[ino];
}

/* Nothing has happened yet. */
static inline void world_reset(void)
{
	static union unwind_page pages[WORLD_PAGES_MAX];

	memset(pages, 0, world.page_max * sizeof(*pages));
	world = (struct world){ .now_ns = 1000 * MS, .pages = pages };
	world_worker = (struct worker){ 0 };
	for (int i = 0; i < WORLD_PIDS; i++)
		world.procs[i] = (struct world_process){ .start_ticks = 100 + (uint64_t)i,
							 .start_stack = 0x7ff000000000 };
	for (int i = 0; i < WORLD_FILES; i++)
		world.files[i] = (struct world_file){ .fd = world_fd(i), .n_pages = 2 };
	assert_int_equal(module_table_new(&world.modules), 0);
}

static inline void world_close(void)
{
	module_table_free(world.modules);
	vec_free(&world_worker.jobs);
}

#endif
