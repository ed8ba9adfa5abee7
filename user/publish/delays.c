// SPDX-License-Identifier: BSD-2-Clause
#include "publish/delays.h"

#include "base/error.h"
#include "base/histogram.h"
#include "base/vec.h"

#include <errno.h>

struct waiting {
	uint64_t born_ns;
	uint32_t module;
};

struct delays {
	uint64_t begun_ns; /* 0: not yet */
	VEC(struct waiting) waiting;
	struct histogram measured_ns;
	uint64_t keyed_max_ns;
};

int delays_new(struct delays **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for delays");
}

void delays_free(struct delays *delays)
{
	if (!delays)
		return;
	vec_free(&delays->waiting);
	free(delays);
}

void delays_begin(struct delays *delays, uint64_t now_ns)
{
	delays->begun_ns = now_ns;
}

int delays_add(struct delays *delays, const struct mapping *map)
{
	const struct waiting one = { map->born_ns, map->module };

	if (!delays->begun_ns || map->born_ns <= delays->begun_ns ||
	    delays->waiting.n >= DELAYS_MAX)
		return 0;
	return vec_push(&delays->waiting, one);
}

void delays_settle(struct delays *delays,
		   enum delay_state (*state)(void *arg, uint32_t module), void *arg,
		   uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < delays->waiting.n; i++) {
		const struct waiting one = delays->waiting.items[i];
		enum delay_state is = state(arg, one.module);
		uint64_t delay_ns = now_ns - one.born_ns;

		if (is == DELAY_WAITS) {
			delays->waiting.items[kept++] = one;
			continue;
		}
		if (is == DELAY_OVER_KEYED && delay_ns > delays->keyed_max_ns)
			delays->keyed_max_ns = delay_ns;
		histogram_add(&delays->measured_ns, delay_ns);
	}
	delays->waiting.n = kept;
}

void delays_mark_modules(const struct delays *delays, struct module_table *modules)
{
	for (size_t i = 0; i < delays->waiting.n; i++)
		module_mark(modules, delays->waiting.items[i].module);
}

void delays_summarize(const struct delays *delays, struct delay_summary *ret)
{
	const struct histogram *measured = &delays->measured_ns;
	uint64_t n = measured->n;

	*ret = (struct delay_summary){ .measured = n,
				       .keyed_max_ns = delays->keyed_max_ns };
	if (!n)
		return;
	ret->median_ns = histogram_rank(measured, n / 2);
	ret->p90_ns = histogram_rank(measured, n - 1 - n / 10);
	ret->p99_ns = histogram_rank(measured, n - 1 - n / 100);
	ret->max_ns = measured->max;
}
