// SPDX-License-Identifier: BSD-2-Clause
#include "kern/publish_maps.h"

#include "base/error.h"

#include <bpf/bpf.h>
#include <errno.h>

#define BATCH_PAGES 64

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

/* Some at a time: that is half the cost of a call for each. */
static int write_batch(const struct publish_maps *maps, uint32_t first,
		       const union unwind_page *pages, uint32_t n)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[BATCH_PAGES];

	for (uint32_t i = 0; i < n; i++)
		keys[i] = first + i;
	return bpf_map_update_batch(maps->pages, keys, pages, &n, &options)
		       ? fail_errno(-errno, "cannot write page %u of the unwind tables",
				    first)
		       : 0;
}

int publish_maps_write_pages(const struct publish_maps *maps, uint32_t first,
			     const union unwind_page *pages, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0, some; !err && i < n; i += some) {
		some = n - i < BATCH_PAGES ? n - i : BATCH_PAGES;
		err = write_batch(maps, first + i, pages + i, some);
	}
	return err;
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
