// SPDX-License-Identifier: BSD-2-Clause
#include "storm.h"

#include "tables.h"

/* Some words at the beginning and at the end of each of these pages. */
#define PAGES	   6
#define PAGE_WORDS 96

struct maker {
	uint64_t chance;
	uint64_t pages[PAGES]; /* stacks, then heap */
	uint64_t metadata_cookie, suspended_cookie;
};

uint64_t storm_random(uint64_t *chance)
{
	uint64_t z = *chance += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int below(struct maker *m, unsigned int n)
{
	return storm_random(&m->chance) % n;
}

/* Word i of a page lies at its beginning, or at its end. */
static uint64_t word_addr(const struct maker *m, unsigned int page, unsigned int i)
{
	unsigned int half = PAGE_WORDS / 2;
	uint64_t skip = i < half ? 0 : MEMORY_PAGE - 8 * PAGE_WORDS;

	return m->pages[page] + skip + 8 * i;
}

static uint64_t some_addr(struct maker *m, unsigned int first, unsigned int n)
{
	return word_addr(m, first + below(m, n), below(m, PAGE_WORDS));
}

#define TEXT 0x400000

static uint64_t some_code(struct maker *m)
{
	return TEXT + below(m, 0x10000);
}

static uint64_t some_word(struct maker *m, uint64_t at)
{
	static const uint64_t odd[] = { 0,
					1,
					~0ULL,
					~0ULL - 15,
					1ULL << 56,
					4096,
					4088,
					0x7ffffffff000,
					1ULL << 47,
					1ULL << 63 | 8,
					(1ULL << 56) - 16,
					8 };

	switch (below(m, 16)) {
	case 0 ... 4:
		return some_addr(m, 0, PAGES / 2);
	case 5 ... 7:
		return some_addr(m, PAGES / 2, PAGES / 2);
	case 8 ... 10:
		return some_code(m);
	case 11:
		return at + 16 + 8 * below(m, 12);
	case 12:
		return at - 8 * below(m, 6);
	case 13:
		return odd[below(m, sizeof(odd) / sizeof(*odd))];
	case 14:
		return below(m, 2) ? m->metadata_cookie : m->suspended_cookie;
	default:
		return below(m, 4) ? 0 : storm_random(&m->chance);
	}
}

static void place_pages(struct maker *m)
{
	static const uint64_t steps[] = { 0x1000,  0x1000,   0x2000,
					  0x11000, 0x100000, 0x5000000 };
	uint64_t stack = STACK, heap = HEAP;

	for (int i = 0; i < PAGES; i++) {
		uint64_t *at = i < PAGES / 2 ? &stack : &heap;

		m->pages[i] = *at;
		*at += steps[below(m, sizeof(steps) / sizeof(*steps))];
		if (!below(m, 8))
			*at -= 0x20000000;
	}
}

static void fill_by_chance(struct maker *m)
{
	for (int page = 0; page < PAGES; page++) {
		for (int i = 0; i < PAGE_WORDS; i++) {
			uint64_t at = word_addr(m, page, i);

			memory_put(at, some_word(m, at));
		}
	}
}

/* A chain on a heap page from some word on; its end may wait at a root. */
static uint64_t put_true_chain(struct maker *m, uint64_t waiting_root)
{
	uint64_t first = m->pages[PAGES / 2 + below(m, PAGES / 2)] + 8 * below(m, 300);
	unsigned int n = 1 + below(m, 12);

	put_chain(first, n, some_code(m), waiting_root);
	if (waiting_root)
		put_root(waiting_root, first + 24 * (n - 1),
			 below(m, 2) ? some_addr(m, PAGES / 2, PAGES / 2) : 0,
			 some_addr(m, 0, PAGES / 2));
	return first;
}

/* A stack over the pages in their order, with roots in some of its frames. */
static uint64_t fill_truly(struct maker *m, struct sampled *at)
{
	uint64_t fp = m->pages[0] + 0x20, first_root = 0, *link = &first_root;
	uint64_t link_at = 0, root;
	unsigned int n = 4 + below(m, 40), page = 0;

	at->sp = m->pages[0];
	at->fp = fp;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t next = fp + 16 + 8 * below(m, 30);

		if (next > m->pages[page] + MEMORY_PAGE - 16 || !below(m, 20)) {
			page = (page + 1) % (PAGES / 2);
			next = m->pages[page] + 0x20 + 16 * below(m, 100);
		}
		put_frame(fp, i + 1 < n ? next : 0, some_code(m));
		if (!below(m, 6)) {
			root = m->pages[PAGES / 2] + 0xc00 + 32 * below(m, 30);
			put_root(root, put_true_chain(m, below(m, 2) ? root - 0x400 : 0),
				 0, fp - 8 * below(m, 2));
			if (link_at)
				memory_put(link_at, root);
			else
				*link = root;
			link_at = root + 8;
		}
		fp = next;
	}
	return first_root;
}

static void strike(struct maker *m)
{
	for (unsigned int n = below(m, 6); n; n--) {
		uint64_t at = m->pages[below(m, PAGES)] + 8 * below(m, MEMORY_PAGE / 8);

		memory_put(at, some_word(m, at));
	}
}

static struct sampled some_thread(struct maker *m)
{
	struct sampled at = {
		.pc = some_code(m),
		.sp = some_addr(m, 0, PAGES / 2),
		.fp = below(m, 4) ? some_addr(m, 0, PAGES / 2) & ~15ULL
				  : some_word(m, STACK),
	};

	for (unsigned int k = below(m, KEYS_MAX + 1); k; k--)
		at.roots[k - 1] = some_addr(m, 0, PAGES);
	return at;
}

/* Half of them walk by frame pointer alone. */
static void make_tables(struct maker *m, struct sampled *at, bool *ret_corrupt)
{
	*ret_corrupt = false;
	if (below(m, 2))
		return;
	fp_gives_sp = below(m, 2);
	storm_publish(&m->chance, TEXT);
	at->process_info = tables_process_info();
	for (int i = 0; i < USER_REGS; i++)
		at->regs[i] = some_word(m, STACK);
	at->in_syscall = !below(m, 4);
	storm_put_goroutine(&m->chance, at, m->pages[PAGES - 1], TEXT);
	if (below(m, 4))
		storm_fill_by_table(&m->chance, at, TEXT);
	*ret_corrupt = !below(m, 3);
	if (*ret_corrupt)
		storm_corrupt(&m->chance);
}

struct sampled storm_make(uint64_t seed, bool *ret_corrupt)
{
	static const unsigned int budgets[] = { FRAMES_DEFAULT, FRAMES_MIN, 100 };
	struct maker m = { .chance = seed * 0x2545f4914f6cdd1d };
	struct sampled at;

	m.metadata_cookie = below(&m, 2) ? 0x401000 + 8 * below(&m, 100) : 0;
	m.suspended_cookie = below(&m, 2) ? 0x700000 : 0;
	place_pages(&m);
	if (below(&m, 2)) {
		fill_by_chance(&m);
		at = some_thread(&m);
	} else {
		at = some_thread(&m);
		at.roots[0] = fill_truly(&m, &at);
		strike(&m);
	}
	make_tables(&m, &at, ret_corrupt);
	if (!below(&m, 4))
		memory_unmap(m.pages[below(&m, PAGES)]);
	at.metadata_cookie = m.metadata_cookie;
	at.suspended_cookie = m.suspended_cookie;
	at.n_kernel = below(&m, 4) ? 0 : below(&m, KERNEL_FRAMES_MAX + 1);
	knobs.max_frames = budgets[below(&m, 3)];
	if (!below(&m, 4))
		knobs.addr_mask = (1ULL << 48) - 1;
	return at;
}

uint32_t storm_code(uint64_t *chance, size_t n)
{
	uint64_t z = storm_random(chance);
	uint32_t small = (z >> 32) % (n + 1);

	switch (z % 8) {
	case 0:
		return CODE_ROOT | small % 5;
	case 1:
		return CODE_SEGMENT | (z >> 40) % 2 << 16 | (z >> 41) % N_ENDINGS << 8 |
		       small % 5;
	case 2:
		return small << 16 | (z >> 50) % (n + 1);
	case 3:
		return z >> 20;
	case 4:
		return (z >> 50) % 2 ? CODE_GAP | small % N_ENDINGS
				     : CODE_RESUMER | small;
	case 5:
		return CODE_SEGMENT | END_REJOINED << 8 | small % 5;
	default:
		return small;
	}
}
