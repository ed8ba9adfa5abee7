// SPDX-License-Identifier: BSD-2-Clause
/*
 * The handler runs where the fault is: in code that reads such memory, never within
 * malloc(3) or another call that it makes itself, so it may call what it likes. A fault
 * anywhere else is handed to whoever handled it before.
 */
#include "obj/paged_memory.h"

#include "base/error.h"
#include "obj/inflater.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORIES_MAX 4 /* a file, its alternate, one of its split units, and room */

/* Windows that are held; the next one takes the oldest one's place. */
struct window_ring {
	uint32_t *windows;
	uint32_t n, keep, next;
};

struct lazy_part {
	uint64_t offset; /* in the file */
	uint64_t at, size;
	struct inflater *inflater; /* NULL: it is not packed */
	/* what came in passing, and what had to be gone back for, which costs much more
	 * and shall not go because the rest passes by */
	struct window_ring passing, wanted;
};

struct paged_memory {
	int fd;
	char *start;
	size_t bytes;
	struct lazy_part parts[PAGED_PARTS_MAX];
	size_t n;
	int err;
};

/* A handler is told nothing else than where it was. */
static struct paged_memory *memories[MEMORIES_MAX];
static size_t n_memories;
static struct sigaction before;

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + PAGED_WINDOW - 1) / PAGED_WINDOW * PAGED_WINDOW;
}

/* Fresh zeroes, or nothing that may be touched. */
static int set_window(struct paged_memory *memory, const struct lazy_part *part,
		      uint32_t window, int protection)
{
	void *at = memory->start + part->at + (uint64_t)window * PAGED_WINDOW;
	void *got = mmap(at, PAGED_WINDOW, protection,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	return got == MAP_FAILED ? fail(-ENOMEM, "no memory for debug information") : 0;
}

static int put_in_ring(struct paged_memory *memory, const struct lazy_part *part,
		       struct window_ring *ring, uint32_t window)
{
	int err = 0;

	if (ring->n == ring->keep)
		err = set_window(memory, part, ring->windows[ring->next], PROT_NONE);
	else
		ring->n++;
	ring->windows[ring->next] = window;
	ring->next = ring->next + 1 == ring->keep ? 0 : ring->next + 1;
	return err;
}

static int read_window(struct paged_memory *memory, const struct lazy_part *part,
		       uint32_t window)
{
	uint64_t at = (uint64_t)window * PAGED_WINDOW;
	size_t n = part->size - at < PAGED_WINDOW ? part->size - at : PAGED_WINDOW;
	char *to = memory->start + part->at + at;

	if (memory->err)
		return 0;
	if (part->inflater)
		return inflater_read(part->inflater, at, to, n);
	if (pread(memory->fd, to, n, (off_t)(part->offset + at)) != (ssize_t)n)
		return fail(-EBADMSG, "debug information: the file shrank");
	return 0;
}

/* False: there is not even memory for zeroes. */
static bool hold(struct paged_memory *memory, struct lazy_part *part, uint32_t window)
{
	bool back = part->inflater &&
		    inflater_is_behind(part->inflater, (uint64_t)window * PAGED_WINDOW);
	int err;

	if (put_in_ring(memory, part, back ? &part->wanted : &part->passing, window) ||
	    set_window(memory, part, window, PROT_READ | PROT_WRITE))
		return false;
	err = read_window(memory, part, window);
	if (err)
		memory->err = err;
	return true;
}

static bool hold_address(const char *address)
{
	for (size_t i = 0; i < n_memories; i++) {
		struct paged_memory *memory = memories[i];
		size_t at = (size_t)(address - memory->start);

		if (address < memory->start || at >= memory->bytes)
			continue;
		for (size_t k = 0; k < memory->n; k++) {
			struct lazy_part *part = &memory->parts[k];

			if (at >= part->at && at - part->at < rounded(part->size))
				return hold(memory, part,
					    (uint32_t)((at - part->at) / PAGED_WINDOW));
		}
	}
	return false;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	int kept = errno;

	if (!hold_address(info->si_addr))
		sigaction(SIGSEGV, &before, NULL); /* which the same access then meets */
	errno = kept;
}

static int take_faults(struct paged_memory *memory)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	if (n_memories == MEMORIES_MAX)
		return fail(-ENOMEM, "too many files of debug information");
	if (!n_memories && sigaction(SIGSEGV, &action, &before))
		return fail_errno(-errno, "cannot read debug information in parts");
	memories[n_memories++] = memory;
	return 0;
}

static void leave_faults(const struct paged_memory *memory)
{
	for (size_t i = 0; i < n_memories; i++) {
		if (memories[i] != memory)
			continue;
		memories[i] = memories[--n_memories];
		if (!n_memories)
			sigaction(SIGSEGV, &before, NULL);
		return;
	}
}

static int make_ring(struct window_ring *ring, uint64_t windows, uint64_t keep)
{
	ring->keep = (uint32_t)(keep < windows ? keep : windows);
	ring->windows = calloc(ring->keep + 1, sizeof(*ring->windows));
	return ring->windows ? 0 : fail(-ENOMEM, "no memory for debug information");
}

static int add_part(struct paged_memory *memory, const struct paged_part *from)
{
	struct lazy_part *part = &memory->parts[memory->n++];
	uint64_t windows = rounded(from->size) / PAGED_WINDOW;
	uint64_t keep = from->keep / PAGED_WINDOW;
	int err;

	part->offset = from->offset;
	part->at = from->at;
	part->size = from->size;
	err = make_ring(&part->passing, windows, keep);
	if (!err && from->is_packed)
		err = make_ring(&part->wanted, windows, keep);
	if (err)
		return err;
	return from->is_packed && from->size
		       ? inflater_new(&part->inflater, memory->fd, from->offset, from->n,
				      from->size)
		       : 0;
}

/* Where each part lies; all bytes, with a window behind them that stays unreadable. */
static int place(struct paged_part *parts, size_t n, size_t head, uint64_t *ret_bytes)
{
	uint64_t bytes = rounded(head);

	for (size_t i = 0; i < n; i++) {
		if (parts[i].size > PAGED_BYTES_MAX ||
		    bytes > PAGED_BYTES_MAX - parts[i].size)
			return fail(-EFBIG, "more debug information than weft reads");
		parts[i].at = bytes;
		bytes += rounded(parts[i].size);
	}
	*ret_bytes = bytes + PAGED_WINDOW;
	return 0;
}

static int reserve(struct paged_memory *memory, uint64_t bytes, size_t head)
{
	void *start = mmap(NULL, bytes, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return fail(-ENOMEM, "no memory for debug information");
	memory->start = start;
	memory->bytes = bytes;
	if (head && mmap(start, head, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return fail(-ENOMEM, "no memory for debug information");
	return 0;
}

int paged_memory_new(struct paged_memory **ret, int fd, size_t head,
		     struct paged_part *parts, size_t n)
{
	AUTO(paged_memory) memory = NULL;
	uint64_t bytes = 0;
	int err;

	if (n > PAGED_PARTS_MAX)
		return fail(-EFBIG, "more debug information than weft reads");
	err = place(parts, n, head, &bytes);
	if (err)
		return err;
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return fail(-ENOMEM, "no memory for debug information");
	memory->fd = fd;
	err = reserve(memory, bytes, head);
	for (size_t i = 0; !err && i < n; i++)
		err = add_part(memory, &parts[i]);
	if (!err)
		err = take_faults(memory);
	if (err)
		return err;
	*ret = GIVE(memory);
	return 0;
}

void paged_memory_free(struct paged_memory *memory)
{
	if (!memory)
		return;
	leave_faults(memory);
	if (memory->start)
		munmap(memory->start, memory->bytes);
	for (size_t i = 0; i < memory->n; i++) {
		free(memory->parts[i].passing.windows);
		free(memory->parts[i].wanted.windows);
		inflater_free(memory->parts[i].inflater);
	}
	free(memory);
}

void *paged_memory_start(const struct paged_memory *memory, size_t *ret_bytes)
{
	*ret_bytes = memory->bytes;
	return memory->start;
}

int paged_memory_error(const struct paged_memory *memory)
{
	return memory->err;
}
