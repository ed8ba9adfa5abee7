// SPDX-License-Identifier: BSD-2-Clause
#include "sym/files.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct file {
	enum file_state state;
	int fd;
	bool was_missed;    /* it could not be opened when it was first mapped */
	struct stat opened; /* as it was then */
	struct elf_info *info;
	struct owner owner; /* of generated code */
	uint64_t owner_ns;  /* when that was read; 0: never */
};

/* A JIT maps again and again; whose it is changes rarely. */
#define OWNER_PACE_NS 1000000000ULL

struct files {
	struct worker *worker;
	const struct module_table *modules;
	file_sink sink;
	void *arg;
	VEC(struct file) files; /* by module id */
	unsigned long open_now, open_most;
	struct file_counts counts;
};

/* Half of what we may have open at all; the rest is rings and /proc. */
static unsigned long descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 256;
	limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur / 2;
}

int files_new(struct files **ret, struct worker *worker,
	      const struct module_table *modules, file_sink sink, void *arg)
{
	AUTO(files) files = calloc(1, sizeof(*files));

	if (!files)
		return fail(-ENOMEM, "no memory for the files");
	files->worker = worker;
	files->modules = modules;
	files->sink = sink;
	files->arg = arg;
	files->open_most = descriptor_limit();
	*ret = GIVE(files);
	return 0;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files.n; i++) {
		if (files->files.items[i].fd >= 0)
			close(files->files.items[i].fd);
		free(files->files.items[i].info);
	}
	vec_free(&files->files);
	free(files);
}

static int file_at(struct files *files, uint32_t module, struct file **ret)
{
	while (files->files.n <= module) {
		int err = vec_push(&files->files, (struct file){ .fd = -1 });

		if (err)
			return err;
	}
	*ret = &files->files.items[module];
	return 0;
}

/* Once it has ended nobody can tell any more, and its perf map may be anybody's. */
static int note_owner(struct files *files, const struct process *process, uint32_t module)
{
	uint64_t now = clock_now_ns();
	struct owner owner;
	struct file *file;
	int err = file_at(files, module, &file);

	if (err || (file->owner_ns && now - file->owner_ns < OWNER_PACE_NS))
		return err;
	owner = open_owner((pid_t)process->tgid);
	file->owner_ns = now;
	if (owner.known)
		file->owner = owner;
	return 0;
}

/* Counted; its frames keep module and offset. Who mapped it may have ended, and with
 * it the way to the file; whoever maps it next is another try. */
static void note_missed(struct files *files, struct file *file)
{
	if (file->fd >= 0)
		close(GIVE_FD(file->fd));
	files->counts.unreadable += !file->was_missed;
	file->was_missed = true;
	file->state = FILE_NEW;
	error_clear();
}

int files_request(struct files *files, const struct process *process,
		  const struct mapping *map)
{
	const struct module *module = module_get(files->modules, map->module);
	struct file *file;
	int copy, err;

	if (module->kind == MODULE_JIT)
		return note_owner(files, process, map->module);
	if (module->kind != MODULE_FILE)
		return 0;
	err = file_at(files, map->module, &file);
	if (err || file->state != FILE_NEW)
		return err;
	file->state = FILE_UNREADABLE;
	if (files->open_now >= files->open_most) {
		files->counts.over_limit++;
		return 0;
	}
	if (open_mapped((pid_t)process->tgid, map, module, &file->fd) ||
	    fstat(file->fd, &file->opened)) {
		note_missed(files, file);
		return 0;
	}
	files->counts.unreadable -= file->was_missed;
	files->open_now++;
	files->counts.opened++;
	copy = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0 || worker_submit_scan(files->worker, copy, map->module)) {
		files->counts.over_limit++;
		error_clear(); /* one file without keys is no reason to stop */
		return 0;
	}
	file->state = FILE_SCANNING;
	return 0;
}

static void drop(struct files *files, struct file *file)
{
	if (file->fd < 0)
		return;
	close(GIVE_FD(file->fd));
	files->open_now--;
}

static struct elf_info *copy_elf_info(const struct elf_info *info)
{
	struct elf_info *copy = malloc(sizeof(*copy));

	if (copy)
		*copy = *info;
	return copy;
}

static void on_scanned(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	struct files *files = arg;
	struct file *file = &files->files.items[cookie];

	file->info = err ? NULL : copy_elf_info(info);
	file->state = file->info ? FILE_KNOWN : FILE_UNREADABLE;
	files->counts.unparsable += err != 0;
	if (err == -ETIMEDOUT) /* nor would its names be found in time */
		drop(files, file);
	if (files->sink)
		files->sink(files->arg, (uint32_t)cookie, file->info);
}

int files_collect(struct files *files, int wait_ms)
{
	return worker_collect(files->worker, wait_ms, on_scanned, files);
}

/* Not by ctime: a file that a newer one took the place of is changed in that only. */
static bool was_overwritten(const struct file *file)
{
	const struct stat *then = &file->opened;
	struct stat now;

	return fstat(file->fd, &now) || now.st_size != then->st_size ||
	       now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != then->st_mtim.tv_nsec;
}

void files_drop_overwritten(struct files *files)
{
	for (size_t i = 0; i < files->files.n; i++) {
		struct file *file = &files->files.items[i];

		if (file->fd < 0 || !was_overwritten(file))
			continue;
		drop(files, file);
		files->counts.overwritten++;
	}
}

enum file_state files_state(const struct files *files, uint32_t module)
{
	return module < files->files.n ? files->files.items[module].state : FILE_NEW;
}

const struct elf_info *files_elf_info(const struct files *files, uint32_t module)
{
	return module < files->files.n ? files->files.items[module].info : NULL;
}

int files_fd(const struct files *files, uint32_t module)
{
	return module < files->files.n ? files->files.items[module].fd : -1;
}

struct owner files_owner(const struct files *files, uint32_t module)
{
	return module < files->files.n ? files->files.items[module].owner
				       : (struct owner){ 0 };
}

const struct file_counts *files_counts(const struct files *files)
{
	return &files->counts;
}
