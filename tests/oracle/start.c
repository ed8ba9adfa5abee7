// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ground under the stepped program: its pthread and its fibers. What is in
 * assembly, its start and its jumps, is in asm_MACHINE.c.
 */
#define WEFT_FIBER_IMPLEMENTATION
#include "program.h"

#include <elf.h>

#define KEYS	    8
#define PAGE_BYTES  4096
#define STACK_BYTES (128 << 10) /* so far apart that none passes for another */

extern char __executable_start[], etext[];
extern char weft_fiber_in_[], jump_start[], jump_end[];

static void *slots[KEYS];

#define ADDR(what) ((uint64_t)(what))

volatile struct shadow shadow = {
	.key_addr = ADDR(&folly_async_stack_root_tls_key),
	.slots_addr = ADDR(slots),
	.text = ADDR(__executable_start),
	.text_end = ADDR(etext),
	/* weft_fiber_in_ and weft_fiber_out_ lie before it */
	.switch_start = ADDR(weft_fiber_in_),
	.switch_end = ADDR(weft_fiber_start_),
	.made_end = ADDR(weft_adopted_run),
	.jump_start = ADDR(jump_start),
	.jump_end = ADDR(jump_end),
};

static unsigned int n_keys;
static struct weft_holder holder;

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	(void)destroy;
	if (n_keys == KEYS)
		return 1;
	*key = n_keys++;
	return 0;
}

int pthread_key_delete(pthread_key_t key)
{
	(void)key;
	return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
	return key < KEYS ? slots[key] : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	if (key >= KEYS)
		return 1;
	slots[key] = (void *)value;
	return 0;
}

/* The stack that the kernel gave: some of it below its first address. */
extern uint64_t first_sp;
uint64_t first_sp;

pthread_t pthread_self(void)
{
	return 1;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	(void)thread, (void)attr;
	return 0;
}

int pthread_attr_destroy(pthread_attr_t *attr)
{
	(void)attr;
	return 0;
}

int pthread_attr_getstack(const pthread_attr_t *attr, void **start, size_t *bytes)
{
	(void)attr;
	*start = (void *)(first_sp - (64 << 10));
	*bytes = 64 << 10;
	return 0;
}

/* Thread-local variables lie below this. */
extern uint64_t thread_area[64];
uint64_t thread_area[64] = { [32] = ADDR(&thread_area[32]) };

/* One thread, one holder. */
void *calloc(size_t n, size_t bytes)
{
	return n * bytes == sizeof(holder) ? &holder : NULL;
}

void free(void *memory)
{
	(void)memory;
}

/* Compilers call it for what they fill. */
void *memset(void *at, int with, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((volatile char *)at)[i] = (char)with;
	return at;
}

static char stacks[SHADOW_STACKS][STACK_BYTES] __attribute__((aligned(4096)));
static int slot_to_map;

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	(void)at, (void)protection, (void)flags, (void)fd, (void)offset;
	return bytes == STACK_BYTES ? stacks[slot_to_map] : MAP_FAILED;
}

int munmap(void *at, size_t bytes)
{
	(void)at, (void)bytes;
	return 0;
}

int mprotect(void *at, size_t bytes, int protection)
{
	(void)at, (void)bytes, (void)protection;
	return 0;
}

long sysconf(int name)
{
	(void)name;
	return PAGE_BYTES;
}

struct weft_fiber *fiber_make(int slot, weft_fiber_entry *entry)
{
	static struct weft_fiber_pool pool =
		WEFT_FIBER_POOL_INIT(STACK_BYTES - PAGE_BYTES, 0);
	struct weft_fiber *fiber;

	slot_to_map = slot;
	if (weft_fiber_new(&fiber, &pool, entry, NULL))
		__builtin_trap();
	shadow.stacks[slot].low = (uint64_t)stacks[slot];
	shadow.stacks[slot].top = (uint64_t)fiber;
	shadow.stacks[slot].generation++;
	return fiber;
}

/* What a C library does for a static program's indirect functions. */
static inline void relocate(void)
{
	extern Elf64_Rela __rela_iplt_start[], __rela_iplt_end[];

	for (Elf64_Rela *rela = __rela_iplt_start; rela < __rela_iplt_end; rela++)
		*(uint64_t *)rela->r_offset = ((uint64_t(*)(void))rela->r_addend)();
}

void program(void);

NOINLINE void program(void)
{
	relocate();
	signals_begin();
	run_threads();
	run_ways();
	run_bare();
	run_fibers();
}
