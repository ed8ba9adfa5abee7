// SPDX-License-Identifier: BSD-2-Clause
#include "core/stack_shares.h"

#include "base/error.h"
#include "core/aggregator.h"

#include <errno.h>
#include <stdlib.h>

#define NEWEST 64

struct stack_share {
	uint64_t samples, nodes;
	/* 1 + a stack of theirs that was new, by its thread's name: the next of that
	 * name is most likely like it. Any other would only count more nodes than there
	 * are. */
	uint32_t newest[NEWEST];
};

struct codes {
	const uint32_t *thread, *chains; /* the kernel's frames with the thread's */
	size_t n_thread, n_chains;
};

void stack_shares_free(struct stack_shares *shares)
{
	struct stack_share *share;

	for (size_t i = 0; (share = hmap_next(&shares->by_user, &i));)
		free(share);
	hmap_free(&shares->by_user);
}

static int add_share(struct stack_shares *shares, uint32_t user, struct stack_share **ret)
{
	struct stack_share *share = calloc(1, sizeof(*share));

	if (!share)
		return fail(-ENOMEM, "no memory for the profile");
	if (hmap_put(&shares->by_user, user, share)) {
		free(share);
		return fail(-ENOMEM, "no memory for the profile");
	}
	*ret = share;
	return 0;
}

int stack_shares_begin(struct stack_shares *shares, uint32_t user,
		       struct stack_share **ret)
{
	struct stack_share *share = user ? hmap_get(&shares->by_user, user) : NULL;
	int err = user && !share ? add_share(shares, user, &share) : 0;

	if (err)
		return err;
	if (share)
		share->samples++;
	*ret = share;
	return 0;
}

bool stack_share_is_used_up(const struct stack_share *share)
{
	return share &&
	       share->nodes > SHARE_NODES + share->samples * SHARE_NODES_A_SAMPLE;
}

static struct codes codes_of(const struct intern *stacks, uint32_t stack)
{
	size_t bytes, n, thread;
	const uint32_t *codes = intern_bytes(stacks, stack, &bytes);

	n = bytes / sizeof(*codes) - STACK_HEAD;
	thread = (size_t)codes[STACK_KERNEL] + codes[STACK_THREAD];
	if (thread > n)
		thread = n;
	codes += STACK_HEAD;
	return (struct codes){ codes, codes + thread, thread, n - thread };
}

/* How many at the end of b are not those at the end of a. */
static size_t differ(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
	while (n_a && n_b && a[n_a - 1] == b[n_b - 1]) {
		n_a--;
		n_b--;
	}
	return n_b;
}

/* Where two are the same from the start on, the nodes are there. What chains lead to is
 * beneath them. */
void stack_share_take(struct stack_share *share, const struct intern *stacks,
		      uint32_t stack)
{
	const struct codes now = codes_of(stacks, stack);
	const uint32_t *codes = now.thread - STACK_HEAD;
	uint32_t *newest;
	struct codes last = { 0 };
	size_t chains;

	if (!share)
		return;
	newest = &share->newest[codes[STACK_COMM] % NEWEST];
	if (*newest)
		last = codes_of(stacks, *newest - 1);
	*newest = stack + 1;
	chains = differ(last.chains, last.n_chains, now.chains, now.n_chains);
	share->nodes +=
		chains ? chains + now.n_thread
		       : differ(last.thread, last.n_thread, now.thread, now.n_thread);
}
