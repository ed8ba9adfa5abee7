/* SPDX-License-Identifier: BSD-2-Clause */
/* What an agent says once it samples: that it does, where profiles go, who may ask. */
#ifndef WEFT_AGENT_GREETING_H
#define WEFT_AGENT_GREETING_H

#include "agent/agent.h"

/* Without what a URL may hold beside its server. */
void greeting_tell(const struct agent_options *options);

#endif
