/* SPDX-License-Identifier: BSD-2-Clause */
/* What the senders' processes do with a file of the spool that nobody would write. */
#include "parsers.h"

#include "base/cleanup.h"
#include "deliver/pprof_part.h"
#include "deliver/receiver.h"
#include "deliver/split.h"

/* What waits in the spool, unpacked. */
void fuzz_otlp(const uint8_t *data, size_t n)
{
	const struct label labels[] = { { "service_name", "x" } };
	const struct str plain = { .s = (char *)data, .n = n };
	struct delivered_series series = { .labels = labels, .n_labels = 1 };
	const struct delivery delivery = { .plain = &plain,
					   .series = &series,
					   .n_series = 1 };
	AUTO(split) split = NULL;
	AUTO_STR out = { 0 };
	int err = split_new(&split, &plain);

	require_error(err);
	if (!err && split_count(split))
		series.pick = split_pick(split, 0);
	require_error(otlp_receiver.make(&out, &delivery));
	otlp_receiver.read_answer((const char *)data, n);
}

void fuzz_pprof_part(const uint8_t *data, size_t n)
{
	const struct str whole = { .s = (char *)data, .n = n };
	uint64_t first = 0, second = 0, all = 0;
	int err;

	for (uint32_t part = 0; part < 2; part++) {
		AUTO_STR out = { 0 };

		err = pprof_part(&out, &whole, (struct pprof_part){ part, 2 },
				 part ? &second : &first);
		require_error(err);
	}
	AUTO_STR out = { 0 };
	err = pprof_part(&out, &whole, (struct pprof_part){ 0, 1 }, &all);
	REQUIRE(err || first + second == all);
}

/* Each sample is in one of the series. */
void fuzz_split(const uint8_t *data, size_t n)
{
	const struct str whole = { .s = (char *)data, .n = n };
	AUTO(split) split = NULL;
	int err = split_new(&split, &whole);

	require_error(err);
	for (size_t i = 0; !err && i < split_count(split) && i < 4; i++) {
		struct pprof_pick pick = split_pick(split, i);
		uint64_t mine = 0;
		AUTO_STR out = { 0 };
		size_t n_labels;

		require_error(pprof_pick(&out, &whole, &pick));
		for (size_t k = 0; k < pick.n_samples; k++)
			mine += pprof_pick_has(&pick, k);
		REQUIRE(mine);
		split_labels(split, i, &n_labels);
	}
}
