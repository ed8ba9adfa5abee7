// SPDX-License-Identifier: BSD-2-Clause
#include "truth.h"

#include "machine.h"

#include <string.h>

/* How many of a stack's calls it left behind when another was resumed: a handler
 * that interrupted the switch is none of them. */
static size_t left_behind(const struct stack *s, uint64_t *low)
{
	size_t n = 0;

	while (n < s->n && !s->acts[n].signal)
		n++;
	*low = n < s->n ? s->acts[n].cfa : s->sp;
	return n;
}

size_t truth_frames(const struct tracer *t, int stack, struct truth_frame *frames)
{
	uint64_t pc = t->pc;
	size_t n = 0;

	for (int hops = 0; hops <= SHADOW_STACKS; hops++) {
		const struct stack *s = &t->stacks[stack];
		uint64_t low = t->sp;
		size_t left = s->n;

		if (hops || stack != t->stack)
			left = left_behind(s, &low);
		for (size_t i = left; i-- > 0 && n < TRUTH_FRAMES; n++) {
			const struct activation *act = &s->acts[i];

			frames[n] = (struct truth_frame){ pc, low,
							  act->signal ? 0 : act->cfa };
			low = act->cfa;
			pc = act->ra;
		}
		if (stack == MAIN_STACK)
			break;
		stack = s->resumer;
	}
	return n;
}

static void put(struct addresses *list, uint64_t addr)
{
	if (addr == SEAM && list->n && list->at[list->n - 1] == SEAM)
		return;
	if (list->n < sizeof(list->at) / sizeof(*list->at))
		list->at[list->n++] = addr;
}

void truth_thread(const struct truth_frame *frames, size_t n, size_t skipped,
		  struct addresses *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!i || i > skipped)
			put(ret, frames[i].pc);
	}
}

/* The innermost root that a frame registered and that runs something. */
static const struct truth_root *root_of(const struct meaning *meaning,
					const struct truth_frame *frame)
{
	for (size_t i = meaning->n; i-- > 0;) {
		if (machine_is_frame(frame, meaning->roots[i].fp) &&
		    meaning->roots[i].n_ips)
			return &meaning->roots[i];
	}
	return NULL;
}

/* Puts a chain; the frame to go on behind, or n. */
static size_t put_chain(const struct truth_frame *frames, size_t n,
			const struct truth_root *root, struct addresses *ret)
{
	put(ret, SEAM);
	for (size_t i = 0; i < root->n_ips; i++)
		put(ret, root->ips[i]);
	for (size_t i = 0; root->waiter_fp && i < n; i++) {
		if (machine_is_frame(&frames[i], root->waiter_fp)) {
			put(ret, SEAM);
			return i;
		}
	}
	return n;
}

void truth_async(const struct truth_frame *frames, size_t n, size_t skipped,
		 const struct meaning *meaning, struct addresses *ret)
{
	const struct truth_root *root;
	bool told = false;

	ret->n = 0;
	put(ret, frames[0].pc);
	for (size_t i = 0; i < n; i++) {
		root = root_of(meaning, &frames[i]);
		if (root) {
			/* who waits was called by this dispatcher, which is left out */
			if (told && ret->n > 1)
				ret->at[--ret->n - 1] = SEAM;
			i = put_chain(frames, n, root, ret);
			told = true; /* the next one's address, by the chain */
			continue;
		}
		if (i > skipped && !told)
			put(ret, frames[i].pc);
		if (i > skipped)
			told = false;
	}
	if (ret->n && ret->at[ret->n - 1] == SEAM)
		ret->n--;
}

static bool read_chain(const struct tracer *t, struct truth_root *root, uint64_t at)
{
	struct shadow_task task = { 0 };

	root->n_ips = 0;
	root->waiter_fp = 0;
	while (at) {
		if (root->n_ips == CHAIN_MAX || !tracer_read(t, &task, sizeof(task), at))
			return false;
		root->ips[root->n_ips++] = task.ip;
		root->waiter_fp = task.waiter_fp;
		at = task.parent;
	}
	return true;
}

bool meaning_change(struct meaning *meaning, const struct tracer *t)
{
	switch (t->shadow.change) {
	case SHADOW_ENTER:
		if (meaning->n == ROOTS_MAX)
			return false;
		meaning->roots[meaning->n++].fp = t->shadow.fp;
		break;
	case SHADOW_LEAVE:
		if (!meaning->n)
			return false;
		meaning->n--;
		return true;
	case SHADOW_RUN:
		break;
	default:
		return false;
	}
	return meaning->n &&
	       read_chain(t, &meaning->roots[meaning->n - 1], t->shadow.task);
}
