// SPDX-License-Identifier: BSD-2-Clause
#include "kern/publish_maps.h"

#include "base/error.h"
#include "kern/page_slabs.h"

#include <bpf/bpf.h>
#include <errno.h>

/* Ticks look up again what they know of it. */
static void count_publication(const struct publish_maps *maps, pid_t tgid)
{
	__atomic_fetch_add(&maps->publications[(uint32_t)tgid % PUBLICATIONS], 1,
			   __ATOMIC_SEQ_CST);
}

int publish_maps_put_process(const struct publish_maps *maps, pid_t tgid,
			     const struct process_info *process_info)
{
	uint32_t key = (uint32_t)tgid;

	if (bpf_map_update_elem(maps->processes, &key, process_info, BPF_ANY))
		return fail_errno(-errno, "cannot publish pid %d to the kernel", tgid);
	count_publication(maps, tgid);
	return 0;
}

void publish_maps_remove_process(const struct publish_maps *maps, pid_t tgid)
{
	uint32_t key = (uint32_t)tgid;

	bpf_map_delete_elem(maps->processes, &key);
	count_publication(maps, tgid);
}

int publish_maps_put_hotspot(const struct publish_maps *maps, pid_t tgid,
			     const struct hotspot *vm)
{
	uint32_t key = (uint32_t)tgid;

	if (!vm)
		bpf_map_delete_elem(maps->hotspots, &key);
	else if (bpf_map_update_elem(maps->hotspots, &key, vm, BPF_ANY))
		return fail_errno(-errno, "cannot tell the kernel of the JVM of pid %d",
				  tgid);
	return 0;
}

uint32_t publish_maps_reach_pages(const struct publish_maps *maps, uint32_t from,
				  uint32_t to)
{
	return page_slabs_reach(maps->slabs, from, to);
}

int publish_maps_write_pages(const struct publish_maps *maps, uint32_t first,
			     const union unwind_page *pages, uint32_t n)
{
	return page_slabs_write(maps->slabs, first, pages, n);
}

int publish_maps_tell_file(const struct publish_maps *maps,
			   const struct unwind_file_key *key,
			   const struct unwind_file *file)
{
	if (!file)
		bpf_map_delete_elem(maps->files, key);
	else if (bpf_map_update_elem(maps->files, key, file, BPF_ANY))
		return fail_errno(-errno, "cannot tell the kernel of inode %llu",
				  key->ino);
	return 0;
}
