/* SPDX-License-Identifier: BSD-2-Clause */
/* What doctor tells of the cache of unwind tables. */
#ifndef WEFT_DOCTOR_DOCTOR_CACHE_H
#define WEFT_DOCTOR_DOCTOR_CACHE_H

#include "doctor/probe.h"

/* Looks where weft record would look, unless told otherwise, and makes nothing. */
void doctor_cache(struct probe_result *result);

#endif
