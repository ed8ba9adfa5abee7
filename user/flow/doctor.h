/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `weft doctor` tells, as data: the machine's probes, and what can be
 * seen of one process without stopping it.
 */
#ifndef WEFT_FLOW_DOCTOR_H
#define WEFT_FLOW_DOCTOR_H

#include "kern/probe.h"

#endif
