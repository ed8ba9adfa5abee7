// SPDX-License-Identifier: BSD-2-Clause
#include "publish/keys.h"

#include "base/error.h"
#include "shared/async_abi.h"

#include <string.h>

struct key_candidates {
	uint64_t addrs[CANDIDATES_MAX];
	unsigned int n;
};

static void add_candidate(struct key_candidates *all, uint64_t addr)
{
	for (unsigned int i = 0; i < all->n; i++)
		if (all->addrs[i] == addr)
			return;
	if (addr && all->n < CANDIDATES_MAX)
		all->addrs[all->n++] = addr;
}

/* A program's own variable goes before libraries', whose code then uses it, too. */
static void take_context(struct process_info *process_info, const struct elf_info *info,
			 const struct mapping *map)
{
	struct tls_variable *context = &process_info->context;

	if (info->context.access == TLS_BY_OFFSET)
		*context = info->context;
	if (context->access != TLS_NONE || info->context.access == TLS_NONE)
		return;
	context->at = (long long)elf_address(info, map->start, map->pgoff,
					     (uint64_t)info->context.at);
	if (context->at)
		context->access = info->context.access;
}

static void add_file(struct key_candidates *all, struct process_info *process_info,
		     const struct elf_info *info, const struct mapping *map)
{
	for (uint32_t i = 0; i < info->n_keys && i < FILE_KEYS_MAX; i++)
		add_candidate(all, elf_address(info, map->start, map->pgoff,
					       info->key_vaddrs[i]));
	if (!process_info->metadata_cookie_addr)
		process_info->metadata_cookie_addr = elf_address(
			info, map->start, map->pgoff, info->metadata_cookie_vaddr);
	if (!process_info->suspended_cookie_addr)
		process_info->suspended_cookie_addr = elf_address(
			info, map->start, map->pgoff, info->suspended_cookie_vaddr);
	take_context(process_info, info, map);
	if (info->specific_offset)
		process_info->specific_offset = info->specific_offset;
}

/* Those that are set go first; else as they were. How many are. Not set, too, where
 * we may not read. */
static unsigned int put_set_first(const struct key_reader *from,
				  const struct process *process,
				  struct key_candidates *all)
{
	struct key_candidates unset = { .n = 0 };
	uint32_t keys[CANDIDATES_MAX];
	unsigned int n_set = 0;

	for (unsigned int i = 0; i < all->n; i++)
		keys[i] = ASYNC_KEY_UNSET;
	if (from->outside->words(from->opener, (pid_t)process->tgid, all->addrs, all->n,
				 keys)) {
		error_clear(); /* whoever holds us up was told of */
		return 0;
	}
	for (unsigned int i = 0; i < all->n; i++) {
		if (keys[i] < ASYNC_KEYS)
			all->addrs[n_set++] = all->addrs[i];
		else
			unset.addrs[unset.n++] = all->addrs[i];
	}
	memcpy(all->addrs + n_set, unset.addrs, unset.n * sizeof(*unset.addrs));
	return n_set;
}

struct key_count keys_gather(const struct key_reader *from, const struct process *process,
			     struct process_info *process_info)
{
	struct key_candidates all = { .n = 0 };
	struct key_count count = { 0 };
	bool is_musl = false;
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++) {
		const struct elf_info *info = files_elf_info(from->files, maps[i].module);

		if (info)
			add_file(&all, process_info, info, &maps[i]);
		if (info && info->hotspot_vaddr)
			count.hotspot = elf_address(info, maps[i].start, maps[i].pgoff,
						    info->hotspot_vaddr);
		is_musl |= info && info->libc == LIBC_MUSL;
	}
	/* whose blocks of thread-local variables ticks can't tell apart */
	if (is_musl && (process_info->context.access == TLS_BY_MODULE ||
			process_info->context.access == TLS_BY_DESCRIPTOR))
		process_info->context = (struct tls_variable){ 0 };
	count.candidates = all.n;
	if (all.n > KEYS_MAX)
		count.set = put_set_first(from, process, &all);
	for (unsigned int i = 0; i < all.n && i < KEYS_MAX; i++)
		process_info->key_addr[i] = all.addrs[i];
	return count;
}
