// SPDX-License-Identifier: BSD-2-Clause
/* The ledger of a page: each count in a group that the page explains. */
#include "format/html/html_write_ledger.h"

#include "core/counted.h"

#include <string.h>
#include <strings.h>

static const struct html_line async_view[] = {
	{ "complete", "sample", "complete in the async view: to a start, without a gap" },
	{ "gaps", "sample", "with a gap in the async view" },
};

static const struct html_line thread_view[] = {
	{ "complete", "sample",
	  "complete in the thread view: to a start, without a gap" },
	{ "gaps", "sample", "with a gap in the thread view" },
};

static const struct html_line ticks[] = {
	{ "entered", "ticks", "ticks of the sampler" },
	{ "missed_estimate", "missed", "ticks never delivered, an estimate" },
	{ "stolen_estimate", "missed",
	  "of these, while the hypervisor ran other guests" },
	{ "expected", "missed", "expected ticks" },
};

static const struct html_line samples[] = {
	{ "total", "sample", "all samples" },
	{ "over_limit", "lost", "too many distinct stacks" },
	{ "unproven_generated", "sample",
	  "only unproven by steps out of generated code that its runtime names" },
	{ "cut_generated", "sample",
	  "cut in generated code whose callers can't be found" },
};

static const struct html_line names[] = {
	{ "user_frames", "names", "frames in user mode, each once a sample" },
	{ "inlined", "names", "functions that were inlined into these" },
};

static const struct html_line other[] = {
	{ "processes.seen", "other", "processes seen" },
	{ "processes.records_lost", "other",
	  "records of mappings that were lost: names may be missing" },
	{ "processes.over_limit", "other", "processes over the limit" },
	{ "keys.processes", "other", "processes that publish an async key" },
};

static const struct {
	const char *prefix;
	const struct html_line *lines;
	size_t n;
} lists[] = {
#define LIST(prefix, lines)                                                              \
	{                                                                                \
		prefix, lines, sizeof(lines) / sizeof(*(lines))                          \
	}
#define X(name, key, text) LIST(key ".", ticks),
	HOOKS(X)
#undef X
		LIST("ticks.", ticks),
	LIST("async_view.", async_view),
	LIST("thread_view.", thread_view),
	LIST("samples.", samples),
	LIST("names.", names),
	LIST("", other),
#undef LIST
};

/* What both halves count; the group of outcomes depends on which. */
static const struct {
	const char *prefix, *group;
	const struct counted *counts;
	size_t n;
} shared[] = {
#define X(name, key, text)                                                               \
	{ key ".outcome.", NULL, counted_outcomes, N_OUTCOMES },                         \
		{ key ".ending.", "ending", counted_endings, N_ENDINGS },
	HOOKS(X)
#undef X
		{ "chain.", "chain", counted_endings, N_ENDINGS },
	{ "waiting.", "waiting", counted_endings, N_ENDINGS },
	{ "samples.", "sample", counted_flags, N_SAMPLE_FLAGS },
	{ "names.", "names", counted_origins, N_NAME_ORIGINS },
};

/* The name behind the prefix; NULL: it has another. */
static const char *behind(const char *key, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(key, prefix, n) ? NULL : key + n;
}

static const char *outcome_group(const struct counted *outcome)
{
	if (outcome == &counted_outcomes[OUTCOME_KEPT])
		return "kept";
	return outcome->is_loss ? "lost" : "left_out";
}

static void find_shared(const char *key, struct html_line *ret)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++) {
		const char *name = behind(key, shared[i].prefix);

		for (size_t k = 0; name && k < shared[i].n; k++) {
			const struct counted *count = &shared[i].counts[k];
			const char *group = shared[i].group;

			if (strcasecmp(name, count->name) != 0)
				continue;
			*ret = (struct html_line){ count->name,
						   group ? group : outcome_group(count),
						   count->text };
			return;
		}
	}
}

struct html_line html_ledger_line(const char *key)
{
	struct html_line line = { key, "other", key };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const char *name = behind(key, lists[i].prefix);

		for (size_t k = 0; name && k < lists[i].n; k++)
			if (!strcasecmp(name, lists[i].lines[k].name))
				return lists[i].lines[k];
	}
	find_shared(key, &line);
	return line;
}
