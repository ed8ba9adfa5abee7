// SPDX-License-Identifier: BSD-2-Clause
#include "publish/keys.h"

uint64_t keys_address(const struct elf_facts *facts, const struct mapping *map,
		      uint64_t vaddr)
{
	uint64_t start_vaddr;

	if (!vaddr || !elf_vaddr_of_mapping(facts, map->pgoff, &start_vaddr))
		return 0;
	return map->start + vaddr - start_vaddr;
}

/* One file's part; returns how many keys there are by now. */
static unsigned int add_file(struct published *what, unsigned int n_keys,
			     const struct elf_facts *facts, const struct mapping *map)
{
	for (uint32_t i = 0; i < facts->n_keys && i < KEYS_MOST; i++) {
		uint64_t addr = keys_address(facts, map, facts->key_vaddrs[i]);

		for (unsigned int k = 0; k < n_keys; k++)
			if (what->key_addr[k] == addr)
				addr = 0;
		if (addr && n_keys < KEYS_MOST)
			what->key_addr[n_keys++] = addr;
	}
	if (!what->metadata_cookie_addr)
		what->metadata_cookie_addr =
			keys_address(facts, map, facts->metadata_cookie_vaddr);
	if (!what->suspended_cookie_addr)
		what->suspended_cookie_addr =
			keys_address(facts, map, facts->suspended_cookie_vaddr);
	if (facts->specific_offset)
		what->specific_offset = facts->specific_offset;
	return n_keys;
}

unsigned int keys_gather(const struct files *files, const struct process *process,
			 struct published *what)
{
	unsigned int n_keys = 0;
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++) {
		const struct elf_facts *facts = files_facts(files, maps[i].module);

		if (facts)
			n_keys = add_file(what, n_keys, facts, &maps[i]);
	}
	return n_keys;
}
