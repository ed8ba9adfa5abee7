// SPDX-License-Identifier: BSD-2-Clause
/* The ledger of a page: each count in a group that the page explains. */
#include "format/html/html_write_ledger.h"

#include "shared/losses.h"

#include <string.h>
#include <strings.h>

static const struct html_line outcomes[] = {
#define X(name, loss, text) { #name, (loss) ? "lost" : "left_out", text },
	OUTCOMES(X)
#undef X
};

static const struct html_line endings[] = {
#define X(name, text) { #name, "ending", text },
	ENDINGS(X)
#undef X
};

static const struct html_line chains[] = {
#define X(name, text) { #name, "chain", text },
	ENDINGS(X)
#undef X
};

static const struct html_line waits[] = {
#define X(name, text) { #name, "waiting", text },
	ENDINGS(X)
#undef X
};

static const struct html_line async_view[] = {
	{ "whole", "sample", "complete in the async view: to a start, without a gap" },
	{ "gaps", "sample", "with a gap in the async view" },
};

static const struct html_line thread_view[] = {
	{ "whole", "sample", "complete in the thread view: to a start, without a gap" },
	{ "gaps", "sample", "with a gap in the thread view" },
};

static const struct html_line flags[] = {
#define X(name, bit, text) { #name, "sample", text },
	SAMPLE_FLAGS(X)
#undef X
};

static const struct html_line ticks[] = {
	{ "entered", "ticks", "ticks of the sampler" },
	{ "missed_estimate", "missed", "ticks never delivered, an estimate" },
	{ "stolen_estimate", "missed",
	  "of these, while the hypervisor ran other guests" },
	{ "expected", "missed", "expected ticks" },
};

static const struct html_line kept[] = {
	{ "kept", "kept", "kept" },
};

static const struct html_line samples[] = {
	{ "total", "sample", "all samples" },
	{ "refused", "lost", "too many distinct stacks" },
};

static const struct html_line other[] = {
	{ "processes.seen", "other", "processes seen" },
	{ "processes.records_lost", "other",
	  "records of mappings that were lost: names may be missing" },
	{ "processes.refused", "other", "processes over the limit" },
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
	LIST("ticks.", ticks),
#define X(name, key, text)                                                               \
	LIST(key ".", ticks), LIST(key ".outcome.", kept),                               \
		LIST(key ".outcome.", outcomes), LIST(key ".ending.", endings),
	HOOKS(X)
#undef X
		LIST("chain.", chains),
	LIST("waiting.", waits),
	LIST("async_view.", async_view),
	LIST("thread_view.", thread_view),
	LIST("samples.", samples),
	LIST("samples.", flags),
	LIST("", other),
#undef LIST
};

struct html_line html_ledger_line(const char *key)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		size_t n = strlen(lists[i].prefix);

		if (strncmp(key, lists[i].prefix, n) != 0)
			continue;
		for (size_t k = 0; k < lists[i].n; k++)
			if (!strcasecmp(key + n, lists[i].lines[k].name))
				return lists[i].lines[k];
	}
	return (struct html_line){ key, "other", key };
}
