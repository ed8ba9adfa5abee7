// SPDX-License-Identifier: BSD-2-Clause
#include "proc/scan.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/small_file.h"
#include "base/task_stat.h"
#include "proc/maps_text.h"
#include "proc/side_event.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* opener_maps(), opener_short_maps() */
typedef int maps_reader(struct opener *opener, pid_t tid, struct str *ret);

/* The kernel writes a newline as \\012, and nothing else so. */
static void copy_path(char *out, size_t room, const char *line)
{
	size_t n = 0;

	while (*line && *line != '\n' && n + 1 < room) {
		bool newline = *line == '\\' && !strncmp(line, "\\012", 4);

		out[n++] = newline ? '\n' : *line;
		line += newline ? 4 : 1;
	}
	out[n] = '\0';
}

/* False: not an executable one. */
static bool read_line(const char *line, struct side_event *event)
{
	struct maps_line map;

	if (!maps_text_parse(line, &map) || map.rights[2] != 'x')
		return false;
	event->start = map.start;
	event->bytes = map.end - map.start;
	event->pgoff = map.pgoff;
	event->maj = map.maj;
	event->min = map.min;
	event->ino = map.ino;
	event->is_shared = map.rights[3] == 's';
	event->is_writable = map.rights[1] == 'w';
	copy_path(event->path, sizeof(event->path), map.path);
	event->is_deleted = side_event_cut_deleted(event->path);
	return true;
}

/* A thread of this process that runs, other than its first; or 0. */
static pid_t another_thread(struct opener *opener, pid_t tgid)
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

		if (tid > 0 && tid != tgid && scan_is_alive(opener, tid, false, &start))
			found = tid;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* -E2BIG: there is more than is wanted; else what there is, which may be nothing. */
static int read_maps_of(struct opener *opener, pid_t tid, maps_reader *read,
			struct str *text)
{
	int err = read(opener, tid, text);

	error_clear();
	return err == -E2BIG ? err : 0;
}

/* Those of a process are its threads', of which the first may have ended. Nothing: it is
 * gone, or has no memory. */
static int read_maps(struct opener *opener, pid_t tgid, maps_reader *read,
		     struct str *text)
{
	int err = read_maps_of(opener, tgid, read, text);
	pid_t other = err || text->n ? 0 : another_thread(opener, tgid);

	return other ? read_maps_of(opener, other, read, text) : err;
}

/* False: there is none any more. */
static bool next_mapping(char **text, struct side_event *event)
{
	char *line;

	while ((line = maps_text_line(text)))
		if (read_line(line, event))
			return true;
	return false;
}

static struct side_event event_of(enum side_kind kind, pid_t tgid, uint64_t time_ns)
{
	return (struct side_event){
		.kind = kind,
		.time_ns = time_ns,
		.pid = (uint32_t)tgid,
		.tid = (uint32_t)tgid,
	};
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

/* Of a process's first thread. "": it is gone. */
static void read_comm(pid_t tgid, char comm[SIDE_COMM_BYTES])
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", tgid);
	n = small_file_read(path, comm, SIDE_COMM_BYTES);
	if (n && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
}

/* What began it, or its name; then what it maps. Nothing is handed on of one without
 * memory. text is taken apart. */
static int hand_on_all(enum side_kind first_kind, pid_t tgid, uint64_t time_ns,
		       struct str *text, const struct event_sink *sink)
{
	struct side_event first = event_of(first_kind, tgid, time_ns);
	struct side_event event = event_of(SIDE_MMAP, tgid, time_ns);
	AUTO_STR bytes = { 0 };
	char *next = text->n ? text->s : NULL;
	int err = 0;

	if (next) {
		read_comm(tgid, first.comm);
		err = hand_on(&first, &bytes, sink);
	}
	while (!err && next_mapping(&next, &event))
		err = hand_on(&event, &bytes, sink);
	return err;
}

int scan_process(struct opener *opener, pid_t tgid, uint64_t time_ns,
		 const struct event_sink *sink)
{
	AUTO_STR text = { 0 };

	read_maps(opener, tgid, opener_maps, &text);
	return hand_on_all(SIDE_EXEC, tgid, time_ns, &text, sink);
}

/* Mappings of the kernel's own page that are known: one for each exec. */
static size_t count_vdsos(const struct process *process)
{
	size_t n, found = 0;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++)
		found += maps[i].module == MODULE_ID_VDSO;
	return found;
}

static bool is_known_vdso(const struct process *process, const struct side_event *event)
{
	const struct mapping *map = process_mapping(process, event->start);

	return map && map->start == event->start && map->module == MODULE_ID_VDSO;
}

/*
 * Does it run the program that it ran? An exec maps its own at other addresses, or
 * another file; and the kernel's page elsewhere, which shows what a lost exec has left:
 * new mappings among old ones. (A program that moves that page is taken for another.)
 */
static bool goes_on(const struct process_table *known, pid_t tgid, const struct str *maps)
{
	const struct process *process = known ? process_get(known, (uint32_t)tgid) : NULL;
	struct side_event event = { 0 };
	AUTO_STR text = { 0 };
	bool has_file = false;
	size_t vdsos = 0;
	char *next;

	if (!process || process->ended_ns || !maps->n)
		return false;
	str_add_bytes(&text, maps->s, maps->n);
	next = text.s;
	while (next_mapping(&next, &event)) {
		if (event.ino && !has_file && !process_has_file(known, process, &event))
			return false;
		has_file |= event.ino != 0;
		vdsos += is_known_vdso(process, &event);
	}
	return has_file && vdsos == count_vdsos(process);
}

/* -E2BIG: as its reader says. Of one that goes on its name may have been lost as well. */
static int scan_by(maps_reader *read, struct opener *opener,
		   const struct process_table *known, pid_t tgid,
		   const struct event_sink *sink)
{
	uint64_t now = clock_now_ns();
	AUTO_STR text = { 0 };
	int err = read_maps(opener, tgid, read, &text);

	return err ? err
		   : hand_on_all(goes_on(known, tgid, &text) ? SIDE_RENAME : SIDE_EXEC,
				 tgid, now, &text, sink);
}

int scan_again(struct opener *opener, const struct process_table *known, pid_t tgid,
	       const struct event_sink *sink)
{
	return scan_by(opener_maps, opener, known, tgid, sink);
}

int scan_again_short(struct opener *opener, const struct process_table *known, pid_t tgid,
		     const struct event_sink *sink)
{
	return scan_by(opener_short_maps, opener, known, tgid, sink);
}

int scan_name(pid_t tgid, uint64_t time_ns, const struct event_sink *sink)
{
	struct side_event exec = event_of(SIDE_EXEC, tgid, time_ns);
	AUTO_STR bytes = { 0 };

	read_comm(tgid, exec.comm);
	return exec.comm[0] ? hand_on(&exec, &bytes, sink) : 0;
}

#define PF_EXITING 0x4 /* linux/sched.h; shown in field 9 */

enum { SCAN_EXITING = 1 };

/* There, but not to be seen; not merely unreadable because we have too many files. */
static bool is_hidden(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", tid);
	return access(path, F_OK) && (!kill(tid, 0) || errno != ESRCH);
}

static int read_stat(struct opener *opener, pid_t tid, struct identity *ret)
{
	struct task_stat stat;
	int err = opener_stat(opener, tid, &stat);

	if (err && err != -ESRCH)
		return err;
	if (err) {
		if (is_hidden(tid))
			return fail(-EPERM, "/proc does not show process %d (hidepid)",
				    tid);
		return fail(-ESRCH, "pid %d is gone", tid);
	}
	*ret = (struct identity){ stat.start_ticks, stat.start_stack };
	/* on its way out, its memory is gone before it is */
	if (!stat.start_stack && stat.flags & PF_EXITING)
		return SCAN_EXITING;
	return 0;
}

static int read_identity(struct opener *opener, pid_t tgid, struct identity *ret)
{
	struct identity others;
	int err = read_stat(opener, tgid, ret);
	pid_t other = err >= 0 && !ret->start_stack ? another_thread(opener, tgid) : 0;

	if (other) { /* the memory is its as well */
		err = read_stat(opener, other, &others);
		ret->start_stack = err < 0 ? 0 : others.start_stack;
	}
	if (err == SCAN_EXITING)
		return fail(-ESRCH, "pid %d has ended", tgid);
	if (!err && ret->start_stack <= 1)
		return fail(-EPERM, "/proc/%d/stat hides the start of the stack", tgid);
	return err;
}

bool scan_is_alive(struct opener *opener, pid_t tid, bool whole,
		   uint64_t *ret_start_ticks)
{
	struct task_stat stat;

	/* of files we may have too many open, or see only our own (hidepid); or it does
	 * not let us look */
	if (opener_stat(opener, tid, &stat)) {
		error_clear();
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

/* How many of the places it holds with the right file; -1: one with another. */
static int count_places(const struct side_event *event, const struct map_place *places,
			unsigned int n)
{
	int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (places[i].addr - event->start >= event->bytes)
			continue;
		if (event->ino != places[i].ino)
			return -1;
		found++;
	}
	return found;
}

static bool reads_as_mapped(struct opener *opener, pid_t tgid,
			    const struct map_place *places, unsigned int n)
{
	struct side_event event = { 0 };
	AUTO_STR text = { 0 };
	unsigned int found = 0;
	char *next;

	read_maps(opener, tgid, opener_maps, &text);
	next = text.n ? text.s : NULL;
	while (found < n && next_mapping(&next, &event)) {
		int here = count_places(&event, places, n);

		if (here < 0)
			return false;
		found += (unsigned int)here;
	}
	return found == n;
}

/* Question by question: where the kernel can't be asked what lies at a place, or tells
 * nothing, as of a process whose first thread has ended; and why it can't be told. */
static int read_slowly(struct opener *opener, pid_t tgid, const struct map_place *places,
		       unsigned int n, struct identity ret[2])
{
	int err = read_identity(opener, tgid, &ret[0]);

	if (!err && n && !reads_as_mapped(opener, tgid, places, n))
		return fail(-ESTALE, "pid %d does not map what it did", tgid);
	return err ? err : read_identity(opener, tgid, &ret[1]);
}

int scan_identity(struct opener *opener, pid_t tgid, const struct map_place *places,
		  unsigned int n, struct identity ret[2])
{
	struct task_stat stats[2];
	int err = opener_map_query(opener, tgid, places, n, stats);

	if (err == -ESTALE)
		return err;
	error_clear();
	if (err || stats[0].start_stack <= 1 || stats[1].start_stack <= 1)
		return read_slowly(opener, tgid, places, n, ret);
	for (int i = 0; i < 2; i++)
		ret[i] = (struct identity){ stats[i].start_ticks, stats[i].start_stack };
	return 0;
}
