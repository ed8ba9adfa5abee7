/* SPDX-License-Identifier: BSD-2-Clause */
/* What the options of a recording mean for its sampler. */
#ifndef WEFT_RECORD_SAMPLING_H
#define WEFT_RECORD_SAMPLING_H

#include "kern/sampler.h"
#include "record/record.h"

/* command: the process of the options' command, if there is one. *ret_event: by what it
 * samples, as it was chosen. */
int sampling_new(struct sampler **ret, const struct record_options *options,
		 pid_t command, enum tick_event *ret_event);

/* Of kernel_bytes_max: enough for all that is usual, on this machine. */
uint64_t sampling_kernel_bytes_default(void);

/* Can the options' be kept? 0, or -EINVAL with sentence and hint. */
int sampling_check_kernel_bytes(const struct record_options *options);

#endif
