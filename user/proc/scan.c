// SPDX-License-Identifier: BSD-2-Clause
#include "proc/scan.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/task_stat.h"
#include "proc/side_event.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The kernel writes a newline as \\012, and nothing else so. */
static size_t copy_path(char *out, size_t room, const char *line)
{
	size_t n = 0;

	while (*line && *line != '\n' && n + 1 < room) {
		bool newline = !strncmp(line, "\\012", 4);

		out[n++] = newline ? '\n' : *line;
		line += newline ? 4 : 1;
	}
	out[n] = '\0';
	return n;
}

/* "start-end perms pgoff maj:min ino   path"; false: not an executable one. */
static bool read_line(const char *line, struct side_event *event)
{
	static const char deleted[] = " (deleted)";
	char perms[5];
	uint64_t end;
	int path = 0;
	size_t n;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &event->start, &end, perms, &event->pgoff, &event->maj, &event->min,
		   &event->ino, &path) < 7)
		return false;
	if (perms[2] != 'x' || end <= event->start)
		return false;
	event->bytes = end - event->start;
	n = copy_path(event->path, sizeof(event->path), line + path);
	if (n >= sizeof(deleted) &&
	    !strcmp(event->path + n - sizeof(deleted) + 1, deleted))
		event->path[n - sizeof(deleted) + 1] = '\0';
	return true;
}

/* A thread of this process that runs, other than its first; or 0. */
static pid_t another_thread(pid_t tgid)
{
	char path[64];
	struct dirent *entry;
	pid_t found = 0;
	uint64_t start;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (tid > 0 && tid != tgid && scan_is_alive(tid, false, &start))
			found = tid;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* NULL: it is gone, or has no memory. */
static FILE *open_maps(pid_t tid)
{
	FILE *f;
	char path[64];
	int first;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	f = fopen(path, "re");
	first = f ? getc(f) : EOF;
	if (first != EOF) {
		ungetc(first, f);
		return f;
	}
	if (f)
		fclose(f);
	return NULL;
}

/* Those of a process are its threads', of which the first may have ended. */
static FILE *open_process_maps(pid_t tgid)
{
	FILE *f = open_maps(tgid);
	pid_t other = f ? 0 : another_thread(tgid);

	return other ? open_maps(other) : f;
}

static int hand_on(const struct side_event *event, struct str *bytes,
		   const struct event_sink *sink)
{
	str_clear(bytes);
	side_event_write(bytes, event);
	if (str_error(bytes))
		return -ENOMEM;
	return sink->sideband(sink->arg, bytes->s, bytes->n);
}

/* exec: handed on before the first mapping; NULL: nothing is. */
static int scan(pid_t tgid, uint64_t time_ns, const struct side_event *exec,
		const struct event_sink *sink)
{
	struct side_event event = {
		.kind = SIDE_MMAP,
		.time_ns = time_ns,
		.pid = (uint32_t)tgid,
		.tid = (uint32_t)tgid,
	};
	AUTO_STR bytes = { 0 };
	AUTO_FCLOSE FILE *f = NULL;
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	int err = 0;

	f = open_process_maps(tgid);
	if (f && exec)
		err = hand_on(exec, &bytes, sink);
	while (f && !err && getline(&line, &room, f) > 0)
		if (read_line(line, &event))
			err = hand_on(&event, &bytes, sink);
	return err;
}

int scan_process(pid_t tgid, uint64_t time_ns, const struct event_sink *sink)
{
	const struct side_event exec = {
		.kind = SIDE_EXEC,
		.time_ns = time_ns,
		.pid = (uint32_t)tgid,
		.tid = (uint32_t)tgid,
	};

	return scan(tgid, time_ns, &exec, sink);
}

int scan_mappings(pid_t tgid, uint64_t time_ns, const struct event_sink *sink)
{
	return scan(tgid, time_ns, NULL, sink);
}

int scan_all(const struct event_sink *sink)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return fail_errno(-errno, "cannot read /proc");
	while (!err && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = scan_process((pid_t)atoi(entry->d_name), clock_now_ns(),
					   sink);
	closedir(proc);
	return err;
}

#define PF_EXITING 0x4 /* linux/sched.h; shown in field 9 */

enum { SCAN_EXITING = 1 };

static int read_identity(pid_t tid, uint64_t *ret_start_ticks, uint64_t *ret_start_stack)
{
	struct task_stat stat;

	if (!task_stat_read(tid, &stat))
		return fail(-ESRCH, "pid %d is gone", tid);
	*ret_start_ticks = stat.start_ticks;
	*ret_start_stack = stat.start_stack;
	/* on its way out, its memory is gone before it is */
	if (!stat.start_stack && stat.flags & PF_EXITING)
		return SCAN_EXITING;
	return 0;
}

int scan_identity(pid_t tgid, uint64_t *ret_start_ticks, uint64_t *ret_start_stack)
{
	uint64_t own_start;
	int err = read_identity(tgid, ret_start_ticks, ret_start_stack);
	pid_t other = err >= 0 && !*ret_start_stack ? another_thread(tgid) : 0;

	if (other) /* the memory is its as well */
		err = read_identity(other, &own_start, ret_start_stack);
	if (err == SCAN_EXITING)
		return fail(-ESRCH, "pid %d has ended", tgid);
	if (!err && *ret_start_stack <= 1)
		return fail(-EPERM, "/proc/%d/stat hides the start of the stack", tgid);
	return err;
}

bool scan_is_alive(pid_t tid, bool whole, uint64_t *ret_start_ticks)
{
	struct task_stat stat;

	/* of files we may have too many open, or see only our own (hidepid) */
	if (!task_stat_read(tid, &stat)) {
		if (kill(tid, 0) && errno == ESRCH)
			return false;
		*ret_start_ticks = 0;
		return true;
	}
	if (task_stat_has_ended(&stat, whole))
		return false;
	*ret_start_ticks = stat.start_ticks;
	return true;
}

bool scan_is_mapped(pid_t tgid, uint64_t addr, uint64_t ino)
{
	struct side_event event = { 0 };
	AUTO_FCLOSE FILE *f = NULL;
	AUTO_FREE char *line = NULL;
	size_t room = 0;

	f = open_process_maps(tgid);
	while (f && getline(&line, &room, f) > 0)
		if (read_line(line, &event) && addr - event.start < event.bytes)
			return event.ino == ino;
	return false;
}
