/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles all day: a recording in windows, each named, written as pprof and handed to
 * the exporters of its receivers, or kept in a folder. What `weft agent` does once its
 * command line and its configuration are understood.
 *
 * It holds what it has not delivered on disk, in a bounded spool, so memory stays as it
 * is however long a receiver is away. It counts every profile: made = delivered +
 * waiting + refused + dropped.
 */
#ifndef WEFT_AGENT_AGENT_H
#define WEFT_AGENT_AGENT_H

#include "agent/services.h"
#include "deliver/listener.h"
#include "deliver/sender.h"
#include "format/writer.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

#define AGENT_RECEIVERS_MAX 8
#define AGENT_LABELS_MAX    32

enum agent_views { AGENT_ASYNC, AGENT_THREAD, AGENT_BOTH };

struct agent_receiver {
	const char *name; /* also its folder in the spool */
	const struct receiver *kind;
	struct http_target target;
};

/* Borrowed by agent_run() for its whole run; NULL strings are "not given". */
struct agent_options {
	struct record_options record; /* what and how to sample; its output is not used */
	uint64_t window_ns;
	unsigned int hosts_sampled_ppm; /* agent/lottery.h */
	unsigned int cpu_budget_ppm; /* millionths of one CPU, of what weft itself uses */
	uint64_t memory_budget_bytes; /* of the agent and of its helpers */
	enum agent_views views;
	struct label labels[AGENT_LABELS_MAX]; /* of all profiles; service_name first */
	size_t n_labels;
	struct relabel_rule *rules[RELABEL_RULES_MAX];
	struct services_config services; /* of these labels and rules */
	struct agent_receiver receivers[AGENT_RECEIVERS_MAX];
	size_t n_receivers;
	const char *spool; /* a folder */
	uint64_t spool_bytes, spool_age_ns;
	const char *keep; /* a folder of profiles for people; NULL: none are kept */
	const struct writer *keep_writer;
	uint64_t keep_bytes;
	struct listener_config listen; /* no address: nowhere */
	const char *stop_file; /* while it exists nothing is sampled or sent; or NULL */
	/* At SIGHUP: would the configuration do, as it is now? Says what is wrong. */
	bool (*would_do)(void);
};

/* It was asked to (SIGHUP), its command line and what that names are right, and all that
 * it had is put away: reload_now() is next. */
enum { AGENT_RELOAD = 1 };

/* Until a signal, or record.duration_ns. 0, AGENT_RELOAD, or a negative errno with the
 * sentence kept, as record_run() has it. */
int agent_run(const struct agent_options *options);

#endif
