/* SPDX-License-Identifier: BSD-2-Clause */
/* One process as `weft doctor -p` shows it, for a person and as JSON. */
#ifndef WEFT_CLI_PROCESS_TEXT_H
#define WEFT_CLI_PROCESS_TEXT_H

#include "base/json.h"
#include "doctor/doctor.h"

void process_text(struct str *out, const struct doctor_process *process);
void process_json(struct json *json, const struct doctor_process *process);

#endif
