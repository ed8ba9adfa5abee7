// SPDX-License-Identifier: BSD-2-Clause
#include "sym/budgets.h"

#include "base/error.h"
#include "base/hmap.h"

#include <errno.h>
#include <stdlib.h>

/* Users whose accounts are not full; of more than that one is charged. */
#define ACCOUNTS_MAX 65536

/* Who goes on gets a file now and then, and who stops is let in after a while: so what is
 * missing has a bound. */
#define MISSING_MAX_NS (2 * BUDGET_NS)

struct account {
	uid_t uid;
	int64_t missing_ns; /* at that time */
	uint64_t at_ns;
};

struct budgets {
	struct hmap accounts; /* by uid */
};

int budgets_new(struct budgets **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for users' budgets");
}

void budgets_free(struct budgets *budgets)
{
	struct account *account;

	if (!budgets)
		return;
	for (size_t i = 0; (account = hmap_next(&budgets->accounts, &i));)
		free(account);
	hmap_free(&budgets->accounts);
	free(budgets);
}

static int64_t missing_ns(const struct account *account, uint64_t now_ns)
{
	uint64_t passed = now_ns > account->at_ns ? now_ns - account->at_ns : 0;
	int64_t left = account->missing_ns - (int64_t)(passed / BUDGET_REFILL);

	return left > 0 ? left : 0;
}

/* One that is full says nothing. */
static struct account *take_full(struct budgets *budgets, uint64_t now_ns)
{
	struct account *account;

	for (size_t i = 0; (account = hmap_next(&budgets->accounts, &i));)
		if (!missing_ns(account, now_ns))
			return hmap_remove(&budgets->accounts, account->uid);
	return NULL;
}

static struct account *account_of(struct budgets *budgets, uid_t uid, uint64_t now_ns)
{
	struct account *account = hmap_get(&budgets->accounts, uid);

	if (account)
		return account;
	account = budgets->accounts.n < ACCOUNTS_MAX ? malloc(sizeof(*account))
						     : take_full(budgets, now_ns);
	if (!account)
		return NULL;
	*account = (struct account){ .uid = uid };
	if (!hmap_put(&budgets->accounts, uid, account))
		return account;
	free(account);
	return NULL;
}

void budgets_charge(struct budgets *budgets, uid_t uid, uint64_t ns, uint64_t now_ns)
{
	struct account *account;

	if (!uid || !ns)
		return;
	account = account_of(budgets, uid, now_ns);
	if (!account)
		return;
	if (ns > MISSING_MAX_NS)
		ns = MISSING_MAX_NS;
	account->missing_ns = missing_ns(account, now_ns) + (int64_t)ns;
	if (account->missing_ns > MISSING_MAX_NS)
		account->missing_ns = MISSING_MAX_NS;
	account->at_ns = now_ns;
}

uint64_t budgets_used_ns(const struct budgets *budgets, uid_t uid, uint64_t now_ns)
{
	const struct account *account =
		budgets ? hmap_get(&budgets->accounts, uid) : NULL;

	return account ? (uint64_t)missing_ns(account, now_ns) : 0;
}

bool budgets_are_over(const struct budgets *budgets, uid_t uid, uint64_t now_ns)
{
	return budgets_used_ns(budgets, uid, now_ns) > BUDGET_NS;
}
