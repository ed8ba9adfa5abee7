/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of each file's code would have a name in a recording, and from where: of
 * addresses that lie evenly over the code, named as a recording names frames. Which of it
 * runs, nobody knows before it was sampled. What lies between functions has no name.
 */
#ifndef WEFT_DOCTOR_DOCTOR_NAMES_H
#define WEFT_DOCTOR_DOCTOR_NAMES_H

#include "doctor/doctor.h"
#include "sym/symbolizer.h"

/* modules: of each of the process's files. 0 or -ENOMEM. */
int doctor_name_files(struct doctor_process *process, const uint32_t *modules,
		      const struct symbol_sources *sources);

#endif
