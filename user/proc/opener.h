/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes name, map and show in /proc, opened by a process of ours that can be
 * lost: to open, to read and to close a file takes as long as its file system likes, and
 * that may be a user's own; /proc/PID/maps waits for a lock that the process holds.
 * No signal ends such a wait. So nothing here waits beyond a deadline: the opener is left
 * behind, and another takes its place. Nor does anything that is handed over make
 * whoever reads or closes it wait: a file of such a file system comes as a copy.
 *
 * Who missed the deadline is asked again after two seconds, and then no more; the user
 * whose processes do so again and again is not for a while.
 */
#ifndef WEFT_PROC_OPENER_H
#define WEFT_PROC_OPENER_H

#include "base/str.h"
#include "base/task_stat.h"
#include "proc/map_query.h"
#include "proc/open.h"
#include "proc/open_debug.h"
#include "proc/hotspot_names.h"
#include "proc/open_words.h"
#include "proc/payer.h"

struct opener;

struct opener_counts {
	unsigned long held;    /* openers that were left behind */
	unsigned long refused; /* files that nobody was sent for, after that */
};

int opener_new(struct opener **ret);
void opener_free(struct opener *opener); /* waits for nobody; NULL is fine */
DEFINE_FREEP(opener)

/* From now on everybody together may hold us up for a moment only. */
void opener_hurry(struct opener *opener);

/*
 * As open_mapped_or_image() (of a MODULE_COPY open_code()), open_perf_map() and
 * open_debug(); also -ETIMEDOUT: it is or was held up. opener NULL: opened by ourselves,
 * however long it takes.
 */
int opener_mapped(struct opener *opener, pid_t pid, const struct mapping *map,
		  const struct module *module, int *ret_fd);
int opener_perf_map(struct opener *opener, pid_t pid, const struct owner *kept,
		    uint64_t max_bytes, int *ret_fd);
int opener_debug(struct opener *opener, const struct debug_query *query, const char *path,
		 uint32_t *ret_place, int *ret_fd);

/* Of /proc/PID/maps; 65,530 lines, which is as many as kernels allow by default, with
 * long paths. Some 0.2 s. */
#define OPENER_MAPS_MAX (16u << 20)

/* Puts there what the process maps code from (proc/maps_text.h), or the first
 * OPENER_MAPS_MAX of it, and that is logged. */
int opener_maps(struct opener *opener, pid_t tid, struct str *ret);

/* The same if it is no more than some 150 mappings of code; else -E2BIG, soon. */
int opener_short_maps(struct opener *opener, pid_t tid, struct str *ret);

/* As open_environ(). */
int opener_environ(struct opener *opener, pid_t pid, const char *names, int *ret_fd);

/* As open_owner(); the payer may be PAYER_UNKNOWN. */
struct owner opener_owner(struct opener *opener, pid_t pid);

/* As task_stat_read(), which waits for who is within an exec, on some kernels. -ESRCH:
 * there is none. */
int opener_stat(struct opener *opener, pid_t tid, struct task_stat *ret);

/* As open_context(). */
int opener_context(struct opener *opener, pid_t pid, int *ret_fd);

/* As map_query(); n: at most MAP_PLACES_MAX. */
int opener_map_query(struct opener *opener, pid_t tid, const struct map_place *places,
		     unsigned int n, struct task_stat ret_stats[2]);

/* As open_words(); n: at most OPEN_WORDS_MAX. One that can't be read stays as it is in
 * ret. */
int opener_words(struct opener *opener, pid_t pid, const uint64_t *addrs, unsigned int n,
		 uint32_t *ret);

/* As open_hotspot(). */
int opener_hotspot(struct opener *opener, pid_t pid, uint64_t vm_structs,
		   struct hotspot *ret);

/* As open_hotspot_view(). */
int opener_hotspot_view(struct opener *opener, pid_t pid,
			const struct hotspot_symbols *symbols, struct hotspot_view *ret);

/* Of these, at most HOTSPOT_NAMES_MAX. */
struct hotspot_wanted {
	const struct hotspot_view *view;
	const uint64_t *addrs;
	size_t n;
};

/* As open_hotspot_names(). */
int opener_hotspot_names(struct opener *opener, pid_t pid,
			 const struct hotspot_wanted *wanted, int *ret_fd);

struct opener_counts opener_counts(const struct opener *opener);

#endif
