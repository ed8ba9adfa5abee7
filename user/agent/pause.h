/* SPDX-License-Identifier: BSD-2-Clause */
/* Why an agent that runs samples nothing for now, and what it says then. */
#ifndef WEFT_AGENT_PAUSE_H
#define WEFT_AGENT_PAUSE_H

#include "agent/agent.h"
#include "agent/lottery.h"

enum pause {
	PAUSE_NONE,
	PAUSE_STOP_FILE, /* nor is anything sent */
	PAUSE_LOTTERY,	 /* this hour is for other hosts; what waits is sent */
};

/* The lottery of this machine. */
void pause_begin(struct lottery *lottery, const struct agent_options *options);

enum pause pause_due(const struct agent_options *options, const struct lottery *lottery);

/* For who asks; of PAUSE_NONE, NULL. */
const char *pause_text(enum pause pause);

/* That it begins, or that the one before is over, into the log. */
void pause_tell(enum pause pause, enum pause before, const struct agent_options *options,
		const struct lottery *lottery);

#endif
