/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording makes of raw samples, again, over a tape. */
#ifndef WEFT_RECORD_TAPE_REPORT_H
#define WEFT_RECORD_TAPE_REPORT_H

#include "report/report.h"

/* options->tape is set. 0 or a negative errno. */
int tape_report_run(const struct report_options *options);

#endif
