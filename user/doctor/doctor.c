// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/doctor.h"

#include "base/error.h"
#include "base/str.h"
#include "doctor/doctor_names.h"
#include "doctor/doctor_threads.h"
#include "pipeline/pipeline.h"
#include "proc/scan.h"
#include "publish/keys.h"
#include "sym/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define SCANS_MS  5000 /* for all files of the process */
#define TABLES_MS 10000

/* What takes part in one look. */
struct look {
	struct worker *worker;
	struct opener *opener;
	struct pipeline *pipeline;
	struct files *files;
	struct doctor_process *process;
	uint32_t modules[DOCTOR_FILES_MAX]; /* of the process's files */
	int err;			    /* of a callback */
};

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct look *look = arg;
	int err = files_open(look->files, process, map);

	if (err >= 0)
		files_scan(look->files, map->module);
	else if (!look->err)
		look->err = err;
}

static void look_end(struct look *look)
{
	files_free(look->files);
	pipeline_free(look->pipeline);
	worker_free(look->worker);
	opener_free(look->opener);
}

/* The cookie is the file's place in the list. */
static void on_table(void *arg, uint64_t cookie, int err,
		     const struct table_answer *answer)
{
	struct look *look = arg;
	struct doctor_file *file = &look->process->files[cookie];

	file->table_err = err;
	file->head = answer->head;
	file->stats = answer->stats;
}

static int look_begin(struct look *look)
{
	const struct pipeline_sink sink = {
		.process = { .arg = look, .mapped = on_mapped },
	};
	const struct table_sink tables = { .arg = look, .done = on_table };
	int err = worker_new(&look->worker);

	if (!err)
		err = opener_new(&look->opener);
	if (!err)
		worker_set_table_sink(look->worker, &tables);
	if (!err)
		err = pipeline_new(&look->pipeline, &sink);
	return err ? err
		   : files_new(&look->files,
			       &(struct files_config){
				       .worker = look->worker,
				       .opener = look->opener,
				       .modules = pipeline_modules(look->pipeline),
			       });
}

/* Everything that it maps, opened and scanned. */
static int look_at_maps(struct look *look, pid_t pid, const struct process **ret)
{
	const struct event_sink input = pipeline_input(look->pipeline);
	int err = scan_process(look->opener, pid, 1, &input), left;

	if (!err)
		err = pipeline_advance(look->pipeline, UINT64_MAX);
	if (err || look->err)
		return err ? err : look->err;
	left = files_collect(look->files, SCANS_MS);
	if (left < 0)
		return left;
	*ret = process_get(pipeline_processes(look->pipeline), (uint32_t)pid);
	if (*ret)
		return 0;
	if (opener_counts(look->opener).held) {
		fail(-ETIMEDOUT, "the mappings of process %d: no answer", pid);
		return fail_hint(-ETIMEDOUT,
				 "a file system that does not answer keeps it within an "
				 "exec, or has the lock of its mappings held");
	}
	fail(-EPERM, "cannot read the mappings of process %d", pid);
	return fail_hint(-EPERM,
			 "run weft as root or with CAP_SYS_PTRACE; weft can't read a "
			 "process that has capabilities which weft lacks");
}

static void copy_path(char *out, const char *path)
{
	str_clean(out, DOCTOR_PATH_BYTES, path, strlen(path));
}

static void add_key(struct doctor_process *process, const char *path, uint64_t addr)
{
	struct doctor_key *key = &process->keys[process->n_keys];

	for (unsigned int i = 0; i < process->n_keys; i++)
		if (process->keys[i].addr == addr)
			return;
	if (!addr || process->n_keys == DOCTOR_KEYS_MAX)
		return;
	*key = (struct doctor_key){ .addr = addr };
	copy_path(key->path, path);
	key->readable = doctor_read(process->pid, addr, &key->value, sizeof(key->value));
	process->n_keys++;
}

static void add_elf_info(struct doctor_process *process, const struct elf_info *info,
			 const struct mapping *map, const char *path)
{
	for (uint32_t i = 0; i < info->n_keys && i < FILE_KEYS_MAX; i++)
		add_key(process, path,
			elf_address(info, map->start, map->pgoff, info->key_vaddrs[i]));
	if (info->hides_key && !*process->keyless)
		copy_path(process->keyless, path);
	if (process->libc == LIBC_UNKNOWN)
		process->libc = (enum elf_libc)info->libc;
}

static void add_file(struct doctor_process *process, struct look *look,
		     const struct mapping *map, const char *path)
{
	struct doctor_file *file = &process->files[process->n_files];
	int fd = files_fd(look->files, map->module);

	look->modules[process->n_files++] = map->module;
	copy_path(file->path, path);
	file->readable = files_elf_info(look->files, map->module) != NULL;
	file->table_err = -ETIMEDOUT; /* until it is there */
	if (!file->readable)
		return;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0 || worker_submit_table(look->worker, fd, process->n_files - 1))
		error_clear(); /* unknown, which is what is shown */
}

/* A file is often mapped in several pieces; it is told once. */
static bool is_first_piece(const struct mapping *maps, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (maps[k].module == maps[i].module)
			return false;
	return true;
}

#define NAMES_MS 8000 /* of this process, which was asked for */

/* As a recording would. */
static int find_names(struct doctor_process *process, struct look *look)
{
	return doctor_name_files(process, look->modules,
				 &(struct symbol_sources){
					 .modules = pipeline_modules(look->pipeline),
					 .processes = pipeline_processes(look->pipeline),
					 .files = look->files,
					 .worker = look->worker,
					 .opener = look->opener,
					 .others_ms = NAMES_MS,
				 });
}

static int describe(struct doctor_process *process, struct look *look,
		    const struct process *seen)
{
	size_t n;
	const struct mapping *maps = process_mappings(seen, &n);
	int err;

	process->files = calloc(DOCTOR_FILES_MAX, sizeof(*process->files));
	if (!process->files)
		return fail(-ENOMEM, "no memory for the files of a process");
	for (size_t i = 0; i < n && process->n_files < DOCTOR_FILES_MAX; i++) {
		const struct module *module =
			module_get(pipeline_modules(look->pipeline), maps[i].module);
		const struct elf_info *info = files_elf_info(look->files, maps[i].module);

		if (info)
			add_elf_info(process, info, &maps[i], module->path);
		if (module->kind == MODULE_FILE && module->ino && is_first_piece(maps, i))
			add_file(process, look, &maps[i], module->path);
	}
	doctor_count_threads(process);
	err = files_collect(look->files, TABLES_MS);
	return err < 0 ? err : find_names(process, look);
}

static void read_comm(struct doctor_process *process)
{
	char path[64], comm[64] = "";
	AUTO_FCLOSE FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/comm", process->pid);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	str_clean(process->comm, sizeof(process->comm), comm, strlen(comm));
}

void doctor_process_free(struct doctor_process *process)
{
	if (!process)
		return;
	free(process->files);
	free(process);
}

int doctor_look(struct doctor_process **ret, pid_t pid)
{
	AUTO(doctor_process) process = calloc(1, sizeof(*process));
	const struct process *seen = NULL;
	struct look look = { 0 };
	int err;

	if (!process)
		return fail(-ENOMEM, "no memory for a process");
	process->pid = pid;
	look.process = process;
	read_comm(process);
	err = look_begin(&look);
	if (!err)
		err = look_at_maps(&look, pid, &seen);
	if (!err)
		err = describe(process, &look, seen);
	look_end(&look);
	if (err)
		return err;
	*ret = GIVE(process);
	return 0;
}
