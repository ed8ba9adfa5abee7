// SPDX-License-Identifier: BSD-2-Clause
#include "machine.h"

#include "host_bpf.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define HANDLERS_MAX 3 /* one interrupts the other */

#define PAGE_BYTES   4096
#define PAGES_CACHED 64

/*
 * The program stands still between two steps, so each page of it is read once then, and
 * with the first of them those that were asked for a step earlier.
 */
struct page {
	uint64_t addr;
	uint64_t read, used; /* in which step; 0: never */
	unsigned char bytes[PAGE_BYTES];
};

static pid_t lent;
static uint64_t step = 1; /* of all programs */

static bool read_pages(const struct tracer *t, struct page **list, size_t n)
{
	struct iovec local[PAGES_CACHED] = { { 0 } }, remote[PAGES_CACHED] = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){ list[i]->bytes, PAGE_BYTES };
		remote[i] = (struct iovec){ (void *)list[i]->addr, PAGE_BYTES };
		list[i]->read = 0;
	}
	if (process_vm_readv(t->pid, local, n, remote, n, 0) != (ssize_t)n * PAGE_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		list[i]->read = step;
	return true;
}

static const struct page *find_page(const struct tracer *t, uint64_t addr)
{
	static struct page pages[PAGES_CACHED];
	struct page *page = &pages[addr / PAGE_BYTES % PAGES_CACHED];
	struct page *list[PAGES_CACHED] = { page };
	size_t n = 1;

	if (page->read != step || page->addr != addr) {
		page->addr = addr;
		for (size_t i = 0; i < PAGES_CACHED; i++) {
			if (&pages[i] != page && pages[i].used + 1 == step &&
			    pages[i].read != step)
				list[n++] = &pages[i];
		}
		if (!read_pages(t, list, n) && !read_pages(t, list, 1))
			return NULL;
	}
	page->used = step;
	return page;
}

bool tracer_read(const struct tracer *t, void *to, size_t bytes, uint64_t from)
{
	unsigned char *at = to;

	while (bytes) {
		size_t offset = from % PAGE_BYTES, n = PAGE_BYTES - offset;
		const struct page *page = find_page(t, from - offset);

		if (!page)
			return false;
		n = n < bytes ? n : bytes;
		memcpy(at, page->bytes + offset, n);
		at += n;
		from += n;
		bytes -= n;
	}
	return true;
}

void tracer_lend_memory(const struct tracer *t)
{
	lent = t->pid;
}

bool read_user(void *to, __u32 bytes, __u64 from)
{
	struct tracer t = { .pid = lent };

	if (tracer_read(&t, to, bytes, from))
		return true;
	memset(to, 0, bytes);
	return false;
}

/* The two take turns: waking another CPU for each would cost most of the time. */
static void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

bool tracer_start(struct tracer *t, const char *path)
{
	size_t bytes;

	memset(t, 0, sizeof(*t));
	stay_on_this_cpu();
	step += 2; /* of another one nothing was asked for */
	if (!machine_start(t, path) ||
	    !tracer_read(t, &t->shadow, sizeof(t->shadow), t->shadow_addr)) {
		t->flaw = "it does not start";
		return false;
	}
	bytes = t->shadow.text_end - t->shadow.text;
	t->text = calloc(1, bytes + 16);
	if (!t->text || !tracer_read(t, t->text, bytes, t->shadow.text))
		return false;
	t->stack = t->previous = MAIN_STACK;
	t->stacks[MAIN_STACK].n = 1; /* _start */
	return true;
}

void tracer_stop(struct tracer *t)
{
	machine_stop(t);
	free(t->text);
	t->text = NULL;
}

static int stack_of(const struct tracer *t, uint64_t sp)
{
	if (sp > t->shadow.other_low && sp <= t->shadow.other_top)
		return t->stack; /* a handler's, on top of what it interrupted */
	for (int i = 0; i < SHADOW_STACKS; i++) {
		if (sp > t->shadow.stacks[i].low && sp <= t->shadow.stacks[i].top)
			return i;
	}
	return MAIN_STACK;
}

static bool in_switch(const struct tracer *t)
{
	return t->pc >= t->shadow.switch_start && t->pc < t->shadow.switch_end;
}

/*
 * The stack pointer has been moved to another stack. Its first frame returns to its
 * resumer, behind the jump to the switch and the call there that nobody executes.
 */
static void change_stack(struct tracer *t, int to, uint64_t sp)
{
	struct stack *stack = &t->stacks[to];

	t->stacks[t->stack].sp = sp;
	t->stacks[t->stack].place = t->left_at + machine_jump_and_call;
	t->previous = t->stack;
	t->stack = to;
	if (t->previous != MAIN_STACK && t->stacks[t->previous].resumer == to)
		return; /* back to who resumed it */
	if (to == MAIN_STACK) {
		t->flaw = "a stack that nobody resumed";
		return;
	}
	if (stack->generation != t->shadow.stacks[to].generation) {
		stack->generation = t->shadow.stacks[to].generation;
		stack->place = t->shadow.switch_end; /* its start */
		stack->n = 1;
	}
	stack->acts[0].cfa = t->shadow.stacks[to].top;
	stack->acts[0].ra = t->left_at + machine_jump_and_call;
	stack->resumer = t->previous;
}

uint64_t tracer_place(const struct tracer *t, int stack)
{
	bool left = stack != t->stack || t->left_on != t->stack;

	return left ? t->stacks[stack].place : t->left_at + machine_jump_and_call;
}

static void push(struct tracer *t, struct activation act)
{
	struct stack *stack = &t->stacks[t->stack];

	if (stack->n == ACTIVATIONS_MAX)
		t->flaw = "a call that leads too far";
	else
		stack->acts[stack->n++] = act;
}

static void pop(struct tracer *t, bool signal)
{
	struct stack *stack = &t->stacks[t->stack];
	struct activation act;

	if (stack->n < 2) {
		t->flaw = "a return without a call";
		return;
	}
	act = stack->acts[--stack->n];
	if (act.cfa != t->sp || act.ra != t->pc || act.signal != signal)
		t->flaw = "a return to where nobody called";
}

/* A stack pointer moved over whole frames: they are no more. */
static void jump(struct tracer *t)
{
	struct stack *stack = &t->stacks[t->stack];

	while (stack->n > 1 && stack->acts[stack->n - 1].cfa <= t->sp)
		stack->n--;
}

static void follow(struct tracer *t, enum effect effect)
{
	struct activation act;

	switch (effect) {
	case CALL:
		if (!machine_call(t, &act))
			t->flaw = "a call that can't be read";
		push(t, act);
		break;
	case RETURN:
		pop(t, false);
		break;
	case SYSCALL:
		if (!tracer_top(t)->signal)
			break;
		pop(t, true);
		t->handlers--;
		break;
	case PLAIN:
		if (t->pc >= t->shadow.jump_start && t->pc < t->shadow.jump_end)
			jump(t);
	}
}

static bool step_machine(struct tracer *t, int signal)
{
	bool goes_on = machine_step(t, signal);

	step++;
	return goes_on;
}

/* Instead of one instruction, a handler's frame on top of where it stands. */
static bool interrupt(struct tracer *t)
{
	bool other = t->signalled++ % 2;
	struct activation interrupted = { t->sp, t->pc, 1 };
	struct activation handler;

	if (!step_machine(t, other ? SIGUSR2 : SIGUSR1))
		return false;
	if (t->pc != t->shadow.handler || !machine_call(t, &handler) ||
	    handler.ra != t->shadow.restorers[other])
		t->flaw = "a signal that comes to nothing";
	t->handlers++;
	t->at_handler = true;
	push(t, interrupted);
	push(t, handler);
	return !t->flaw;
}

static bool is_time_for_signal(const struct tracer *t)
{
	return t->signal_every && t->shadow.signals && t->handlers < HANDLERS_MAX &&
	       !t->at_handler && t->steps % t->signal_every == 0;
}

bool tracer_step(struct tracer *t)
{
	enum effect effect = machine_effect(t);
	uint64_t sp = t->sp;
	int to;

	if (!in_switch(t) && !t->handlers) {
		t->left_at = t->pc;
		t->left_on = t->stack;
	}
	t->steps++;
	if (is_time_for_signal(t))
		return interrupt(t);
	t->at_handler = false;
	if (!step_machine(t, 0))
		return false;
	if (!tracer_read(t, &t->shadow, sizeof(t->shadow), t->shadow_addr) ||
	    t->pc < t->shadow.text || t->pc >= t->shadow.text_end) {
		t->flaw = "code outside of the program";
		return false;
	}
	to = stack_of(t, t->sp);
	if (to != t->stack)
		change_stack(t, to, sp);
	else
		follow(t, effect);
	return !t->flaw;
}
