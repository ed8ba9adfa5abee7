// SPDX-License-Identifier: BSD-2-Clause
#include "memory.h"

#include "host_bpf.h"

#include <stdlib.h>
#include <string.h>

#define PAGES 512 /* a power of two */

static struct {
	struct page {
		uint64_t number; /* 0: free */
		bool mapped;
		unsigned char bytes[MEMORY_PAGE];
	} pages[PAGES];
	unsigned int used[PAGES], n_used;
	unsigned int reads, act_at;
	void (*act)(void);
} memory;

static struct page *find(uint64_t number, bool make)
{
	unsigned int at = number * 0x9e3779b97f4a7c15 >> 32;

	for (unsigned int i = 0; i < PAGES; i++) {
		struct page *page = &memory.pages[(at + i) % PAGES];

		if (page->number == number)
			return page;
		if (page->number)
			continue;
		if (!make)
			return NULL;
		memory.used[memory.n_used++] = (at + i) % PAGES;
		page->number = number;
		memset(page->bytes, 0, sizeof(page->bytes));
		return page;
	}
	abort(); /* a test that wants more memory than there is */
}

void memory_clear(void)
{
	while (memory.n_used)
		memory.pages[memory.used[--memory.n_used]].number = 0;
	memory.reads = 0;
	memory.act = NULL;
}

static void copy_in(uint64_t addr, const unsigned char *from, unsigned int bytes)
{
	while (bytes) {
		struct page *page = find(addr / MEMORY_PAGE, true);
		unsigned int offset = addr % MEMORY_PAGE;
		unsigned int here = MEMORY_PAGE - offset;

		if (here > bytes)
			here = bytes;
		page->mapped = true;
		memcpy(page->bytes + offset, from, here);
		addr += here;
		from += here;
		bytes -= here;
	}
}

void memory_put(uint64_t addr, uint64_t value)
{
	copy_in(addr, (unsigned char *)&value, sizeof(value));
}

void memory_unmap(uint64_t addr)
{
	find(addr / MEMORY_PAGE, true)->mapped = false;
}

/* Page by page, since that is how it can fail. */
static bool copy_out(unsigned char *to, unsigned int bytes, uint64_t from)
{
	while (bytes) {
		unsigned int offset = from % MEMORY_PAGE;
		unsigned int here = MEMORY_PAGE - offset;
		struct page *page = find(from / MEMORY_PAGE, false);

		if (from < MEMORY_PAGE || !page || !page->mapped)
			return false;
		if (here > bytes)
			here = bytes;
		memcpy(to, page->bytes + offset, here);
		to += here;
		from += here;
		bytes -= here;
	}
	return true;
}

bool memory_get(uint64_t addr, uint64_t *ret)
{
	if (copy_out((unsigned char *)ret, sizeof(*ret), addr))
		return true;
	*ret = 0;
	return false;
}

bool read_user(void *to, __u32 bytes, __u64 from)
{
	if (memory.reads++ == memory.act_at && memory.act)
		memory.act();
	if (copy_out(to, bytes, from))
		return true;
	memset(to, 0, bytes);
	return false;
}

unsigned int memory_reads(void)
{
	return memory.reads;
}

void memory_before_read(unsigned int nth, void (*act)(void))
{
	memory.act_at = nth;
	memory.act = act;
}
