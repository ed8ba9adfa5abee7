/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that the publisher asks of the world, and tells it: the clock, the kernel's maps,
 * /proc and what lies behind it. It is given when the publisher is made, so a test can
 * be the world, in any order and with any answer.
 */
#ifndef WEFT_PUBLISH_OUTSIDE_H
#define WEFT_PUBLISH_OUTSIDE_H

#include "kern/publish_maps.h"
#include "proc/scan.h"
#include "sym/files.h"

struct outside {
	uint64_t (*now_ns)(void);

	/* kern/publish_maps.h */
	int (*put)(const struct publish_maps *maps, pid_t tgid,
		   const struct process_info *process_info);
	void (*remove)(const struct publish_maps *maps, pid_t tgid);
	uint32_t (*reach)(const struct publish_maps *maps, uint32_t from, uint32_t to);
	int (*write)(const struct publish_maps *maps, uint32_t first,
		     const union unwind_page *pages, uint32_t n);
	int (*tell_file)(const struct publish_maps *maps,
			 const struct unwind_file_key *key,
			 const struct unwind_file *file);

	int (*put_hotspot)(const struct publish_maps *maps, pid_t tgid,
			   const struct hotspot *vm);

	struct file_source files;
	/* proc/scan.h */
	int (*identity)(struct opener *opener, pid_t tgid, const struct map_place *places,
			unsigned int n, struct identity ret[2]);
	/* proc/opener.h */
	int (*words)(struct opener *opener, pid_t pid, const uint64_t *addrs,
		     unsigned int n, uint32_t *ret);
	int (*hotspot)(struct opener *opener, pid_t pid, uint64_t vm_structs,
		       struct hotspot *ret);
};

extern const struct outside outside_real;

#endif
