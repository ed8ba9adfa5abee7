// SPDX-License-Identifier: BSD-2-Clause
#include "record/attributes.h"

#include "base/error.h"
#include "base/list.h"
#include "record/attribute_pairs.h"

#include <errno.h>
#include <string.h>

/* Of one trace that samples have. */
struct named_attributes {
	uint32_t first; /* in the profile; 0: none is allowed */
	bool has_unnamed;
};

static int add_values(struct profile *profile, const char *names,
		      const struct attribute_value values[ATTRIBUTE_NAMES_MAX],
		      uint32_t *ret)
{
	struct profile_attribute attribute = { 0 };
	const char *name;
	size_t n;
	int err = 0;

	*ret = 0;
	for (size_t i = 0; !err && list_next(&names, &name, &n); i++) {
		if (!values[i].n)
			continue;
		attribute.next = *ret;
		err = profile_add_string(profile, name, n, &attribute.key);
		if (!err)
			err = profile_add_string(profile, (const char *)values[i].bytes,
						 values[i].n, &attribute.value);
		if (!err)
			err = profile_add_attribute(profile, &attribute, ret);
	}
	return err;
}

static int name_one(struct profile *profile, const struct trace_attributes *trace,
		    size_t n, struct declared *declared, struct named_attributes *ret)
{
	struct attribute_value values[ATTRIBUTE_NAMES_MAX] = { { 0 } };

	ret->has_unnamed = attribute_pairs_pick(
		trace->bytes, n, declared_keys(declared, trace->incarnation), values);
	if (ret->has_unnamed)
		declared_ask_again(declared, trace->incarnation);
	return add_values(profile, declared_attribute_names(declared), values,
			  &ret->first);
}

static int name_all(struct profile *profile, const struct aggregator *aggregator,
		    struct declared *declared, struct named_attributes *of)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < intern_count(aggregator->traces); i++) {
		size_t bytes;
		const struct trace_attributes *trace =
			intern_bytes(aggregator->traces, i, &bytes);

		if (bytes > sizeof(*trace))
			err = name_one(profile, trace, bytes - sizeof(*trace), declared,
				       &of[i]);
	}
	return err;
}

static uint32_t trace_of(const struct aggregator *aggregator, uint32_t stack)
{
	size_t bytes;
	const uint32_t *codes = intern_bytes(aggregator->stacks, stack, &bytes);

	return codes[STACK_TRACE];
}

int attributes_name(struct profile *profile, const struct aggregator *aggregator,
		    struct declared *declared)
{
	const struct timeline *timeline = &profile->timeline;
	AUTO_FREE struct named_attributes *of =
		calloc(intern_count(aggregator->traces), sizeof(*of));
	uint64_t unnamed = 0;
	int err = of ? name_all(profile, aggregator, declared, of)
		     : fail(-ENOMEM, "no memory for attributes");

	if (err)
		return err;
	for (uint32_t i = 0; i < profile->stacks.n; i++)
		profile->stacks.items[i].attributes = of[trace_of(aggregator, i)].first;
	for (size_t i = 0; i < timeline->sample_keys.n; i++)
		if (of[trace_of(aggregator, timeline->sample_keys.items[i].a)]
			    .has_unnamed)
			unnamed += timeline->counts.items[i];
	return unnamed ? profile_add_count(profile, "samples.attributes_unnamed", unnamed)
		       : 0;
}
