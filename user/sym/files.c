// SPDX-License-Identifier: BSD-2-Clause
#include "sym/files.h"

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/hmap.h"
#include "base/vec.h"
#include "proc/open_copy.h"
#include "sym/file_info.h"
#include "sym/file_mapper.h"
#include "sym/file_renewals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct file {
	enum file_state state;
	uint32_t same; /* 1 + the module that this file was opened for; 0: for this one */
	int fd;
	bool is_jitdump; /* grows, and is nothing that is scanned */
	int missed;	 /* why it could not be opened, whoever mapped it; 0: it was */
	bool was_over_limit, is_lost;  /* written over, and that is not counted yet */
	struct file_renewals renewals; /* what it held was sampled, too, perhaps */
	struct stat opened;	       /* as it was then */
	struct elf_info *info;
	struct cache *cache;	 /* of its info; NULL: nobody keeps it */
	struct file_stamp stamp; /* before it was scanned */
	struct owner owner;	 /* of generated code */
	uint64_t owner_ns;	 /* when that was read; 0: never */
	uint64_t copied_bytes;	 /* that its descriptor keeps in memory */
	uid_t copied_for;
	struct file_mapper mapper;
};

#define FILE_COPIES_BYTES (256ULL << 20)

struct files {
	struct files_config config;
	struct budgets *budgets;
	VEC(struct file) files; /* by module id */
	struct hmap by_inode;	/* 1 + module, of those that are open */
	unsigned long open_now, open_most;
	uint64_t copied_bytes; /* now */
	struct file_counts counts;
};

int files_new(struct files **ret, const struct files_config *config)
{
	static const struct file_source proc = { clock_now_ns, opener_mapped,
						 opener_owner };
	AUTO(files) files = calloc(1, sizeof(*files));

	if (!files)
		return fail(-ENOMEM, "no memory for the files");
	files->config = *config;
	if (!config->source)
		files->config.source = &proc;
	if (budgets_new(&files->budgets))
		return -ENOMEM;
	files->open_most = descriptors_raise() / 2; /* the rest is rings and /proc */
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
	hmap_free(&files->by_inode);
	budgets_free(files->budgets);
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
	struct owner owner;
	struct file *file;
	int err = file_at(files, module, &file);

	if (!err &&
	    file_owner_ask(&files->config, (pid_t)process->tgid, &file->owner_ns, &owner))
		file->owner = owner;
	return err;
}

/* Of root's nobody need know. */
static void note_mapper(struct files *files, uint32_t module,
			const struct process *process)
{
	struct file *file = &files->files.items[files_same(files, module)];

	if (file->fd >= 0 && file->opened.st_uid)
		file_mapper_note(&file->mapper, &files->config, (pid_t)process->tgid);
}

/* Counted; its frames keep module and offset. Who mapped it may have ended, and with
 * it the way to the file; whoever maps it next is another try. */
static void note_missed(struct files *files, struct file *file, int err)
{
	if (file->fd >= 0)
		close(GIVE_FD(file->fd));
	files->counts.unreadable += !file->missed;
	file->missed = err;
	file->state = FILE_NEW;
	error_clear();
}

uint32_t files_same(const struct files *files, uint32_t module)
{
	return module < files->files.n && files->files.items[module].same
		       ? files->files.items[module].same - 1
		       : module;
}

static struct file *file_of(const struct files *files, uint32_t module)
{
	uint32_t same = files_same(files, module);

	return same < files->files.n ? &files->files.items[same] : NULL;
}

static uint64_t inode_key(const struct stat *st)
{
	return (uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 40;
}

/* Is this file open already, by another name, and are its bytes those? While it is, its
 * inode is no other's. */
static bool find_same(struct files *files, struct file *file)
{
	uintptr_t first = (uintptr_t)hmap_get(&files->by_inode, inode_key(&file->opened));
	const struct file *same = first ? &files->files.items[first - 1] : NULL;

	if (!same || same->fd < 0 || same->opened.st_ino != file->opened.st_ino ||
	    same->opened.st_dev != file->opened.st_dev ||
	    file_was_written(&same->opened, &file->opened))
		return false;
	file->same = (uint32_t)first;
	close(GIVE_FD(file->fd));
	return true;
}

/* Half of what others leave is anybody's: so nobody has all of it alone. Root may have
 * the rest. */
static bool has_room_for_copy(const struct files *files, const struct file *file)
{
	uint64_t others = files->copied_bytes, own = 0;

	for (size_t i = 0; i < files->files.n; i++)
		if (files->files.items[i].copied_for == file->copied_for)
			own += files->files.items[i].copied_bytes;
	others -= own;
	return own + (uint64_t)file->opened.st_size <=
	       (FILE_COPIES_BYTES - others) / (file->copied_for ? 2 : 1);
}

/* Who is gone already is one with all that are. */
static bool count_copy(struct files *files, struct file *file, pid_t pid)
{
	struct owner owner = files->config.source->owner(files->config.opener, pid);

	file->copied_for = owner.known ? owner.payer : (uid_t)-1;
	if (!has_room_for_copy(files, file))
		return false;
	file->copied_bytes = (uint64_t)file->opened.st_size;
	files->copied_bytes += file->copied_bytes;
	files->counts.copied++;
	return true;
}

static int keep_open(struct files *files, struct file *file, pid_t pid, uint32_t module)
{
	void *first = (void *)(uintptr_t)(module + 1);
	unsigned long *over_limit = NULL;

	if (files->open_now >= files->open_most)
		over_limit = &files->counts.over_limit;
	else if (open_is_copy(file->fd) && !count_copy(files, file, pid))
		over_limit = &files->counts.copies_over_limit;
	if (over_limit) {
		*over_limit += !file->was_over_limit;
		file->was_over_limit = true;
		file->state = FILE_NEW; /* when it is mapped next there may be room */
		close(GIVE_FD(file->fd));
		return 0;
	}
	files->open_now++;
	files->counts.opened++;
	file->state = FILE_OPEN;
	return hmap_put(&files->by_inode, inode_key(&file->opened), first);
}

static void drop(struct files *files, struct file *file)
{
	if (file->fd < 0)
		return;
	files->copied_bytes -= file->copied_bytes;
	file->copied_bytes = 0;
	close(GIVE_FD(file->fd));
	files->open_now--;
}

static bool was_overwritten(const struct file *file)
{
	struct stat now;

	return !file->is_jitdump &&
	       (fstat(file->fd, &now) || file_was_written(&file->opened, &now));
}

static void forget_inode(struct files *files, const struct file *file, uint32_t module)
{
	void *first = (void *)(uintptr_t)(module + 1);

	if (hmap_get(&files->by_inode, inode_key(&file->opened)) == first)
		hmap_remove(&files->by_inode, inode_key(&file->opened));
}

/* What the worker has of it is answered first. */
static bool forget_overwritten(struct files *files, uint32_t module)
{
	struct file *file = &files->files.items[module];
	struct file_renewals renewals;

	if (file->fd < 0 || file->state == FILE_SCANNING || !was_overwritten(file))
		return false;
	renewals = file_renewals_add(file->renewals, files->config.source->now_ns());
	forget_inode(files, file, module);
	drop(files, file);
	free(file->info);
	*file = (struct file){ .fd = -1, .renewals = renewals };
	return true;
}

/* It was another name of such a file: it is opened by itself now. */
static void leave_renewed(struct files *files, struct file *file)
{
	const struct file *same = file->same ? &files->files.items[file->same - 1] : file;

	if (same->renewals.n && same->state == FILE_NEW)
		*file = (struct file){ .fd = -1, .renewals = same->renewals };
}

int files_open(struct files *files, const struct process *process,
	       const struct mapping *map)
{
	const struct module *module = module_get(files->config.modules, map->module);
	struct file *file;
	bool is_renewed;
	int err;

	if (module->kind == MODULE_JIT)
		return note_owner(files, process, map->module);
	if (!module_is_opened(module))
		return 0;
	err = file_at(files, map->module, &file);
	if (err)
		return err;
	is_renewed = forget_overwritten(files, files_same(files, map->module));
	leave_renewed(files, file);
	if (file->state != FILE_NEW || file->same) {
		note_mapper(files, map->module, process);
		return 0;
	}
	if (file_renewals_are_many(&file->renewals, files->config.source->now_ns()))
		return is_renewed;
	file->state = FILE_UNREADABLE;
	err = files->config.source->open(files->config.opener, (pid_t)process->tgid, map,
					 module, &file->fd);
	if (!err && fstat(file->fd, &file->opened))
		err = -errno;
	if (err) {
		note_missed(files, file, err);
		return 0;
	}
	files->counts.unreadable -= file->missed != 0;
	file->missed = 0;
	file->is_jitdump = module_jitdump_pid(module);
	file->cache = module->kind == MODULE_COPY ? NULL : files->config.cache;
	if (find_same(files, file))
		return is_renewed;
	err = keep_open(files, file, (pid_t)process->tgid, map->module);
	note_mapper(files, map->module, process);
	return err ? err : is_renewed;
}

bool files_scan(struct files *files, uint32_t module)
{
	struct file *file = file_of(files, module);
	int copy;

	if (!file || file->state != FILE_OPEN)
		return false;
	file->state = FILE_UNREADABLE;
	if (file->is_jitdump)
		return false;
	file->info = file_info_recall(file->cache, file->fd, &file->stamp);
	if (file->info) {
		files->counts.known++;
		file->state = FILE_KNOWN;
		return false;
	}
	copy = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0 ||
	    worker_submit_scan(files->config.worker, copy, files_same(files, module))) {
		files->counts.over_limit++;
		error_clear(); /* one file without keys is no reason to stop */
		return false;
	}
	file->state = FILE_SCANNING;
	return true;
}

bool files_are_many(const struct files *files)
{
	return files->open_now > files->open_most / 2;
}

static void on_scanned(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	struct files *files = arg;
	struct file *file = &files->files.items[cookie];

	if (!err)
		file->info = file_info_keep(file->cache, file->fd, &file->stamp, info);
	file->state = file->info ? FILE_KNOWN : FILE_UNREADABLE;
	files->counts.unparsable += err != 0;
	if (err == -ETIMEDOUT) /* nor would its names be found in time */
		drop(files, file);
	if (files->config.sink)
		files->config.sink(files->config.arg, (uint32_t)cookie, file->info);
}

int files_collect(struct files *files, int wait_ms)
{
	return worker_collect(files->config.worker, wait_ms, on_scanned, files);
}

void files_drop_overwritten(struct files *files)
{
	for (size_t i = 0; i < files->files.n; i++) {
		struct file *file = &files->files.items[i];

		if (file->fd < 0 || (!file->renewals.n && !was_overwritten(file)))
			continue;
		drop(files, file);
		file->is_lost = true;
	}
}

void files_note_sampled(struct files *files, uint32_t module)
{
	struct file *file = file_of(files, module);

	if (!file || !file->is_lost)
		return;
	file->is_lost = false;
	files->counts.overwritten++;
}

/* What a file is known by as long as any name of it is. */
void files_mark_modules(const struct files *files, struct module_table *modules)
{
	for (uint32_t id = 0; id < files->files.n; id++) {
		const struct file *file = &files->files.items[id];

		if (file->state == FILE_SCANNING)
			module_mark(modules, id);
		if (file->same)
			module_mark(modules, file->same - 1);
	}
}

void files_close(struct files *files, uint32_t module)
{
	struct file *file = &files->files.items[module];

	forget_inode(files, file, module);
	drop(files, file);
}

void files_let_go(struct files *files, uint32_t module)
{
	if (module >= files->files.n)
		return;
	files_close(files, module);
	free(files->files.items[module].info);
	files->files.items[module] = (struct file){ .fd = -1 };
}

struct opener *files_opener(const struct files *files)
{
	return files->config.opener;
}

enum file_state files_state(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);

	return file ? file->state : FILE_NEW;
}

int files_missed(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);

	return file ? file->missed : 0;
}

const struct elf_info *files_elf_info(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);

	return file ? file->info : NULL;
}

int files_fd(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);

	return file ? file->fd : -1;
}

const struct stat *files_opened(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);

	return file && file->fd >= 0 && !file->copied_bytes ? &file->opened : NULL;
}

struct owner files_owner(const struct files *files, uint32_t module)
{
	pid_t pid = (pid_t)module_get(files->config.modules, module)->pid;

	if (module < files->files.n && files->files.items[module].owner.known)
		return files->files.items[module].owner;
	return file_owner_unseen(pid, files->config.command);
}

uid_t files_uid(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);

	if (!file)
		return 0;
	if (file->fd < 0)
		return file->owner.known ? file->owner.uid : 0;
	return open_is_copy(file->fd) ? FILES_UID_UNKNOWN : file->opened.st_uid;
}

uid_t files_payer(const struct files *files, uint32_t module)
{
	const struct file *file = file_of(files, module);
	uid_t uid = files_uid(files, module), payer = uid;

	if (!file || !uid)
		return uid;
	if (file->fd < 0)
		payer = file->owner.payer;
	else if (open_is_copy(file->fd))
		payer = file->copied_for;
	else
		payer = file_mapper_payer(&file->mapper, uid);
	return payer ? payer : uid;
}

struct budgets *files_budgets(const struct files *files)
{
	return files->budgets;
}

const struct file_counts *files_counts(const struct files *files)
{
	return &files->counts;
}
