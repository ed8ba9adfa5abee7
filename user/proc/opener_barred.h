/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who held us up: a process for as long as it lives, and its user while his processes do
 * so one after another. Only his own files are lost by that, and others' never.
 */
#ifndef WEFT_PROC_OPENER_BARRED_H
#define WEFT_PROC_OPENER_BARRED_H

#include "base/hmap.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroes to begin with. */
struct barred {
	struct hmap processes; /* 1 + when one began, by pid */
	struct hmap owners;    /* struct barred_owner, by 1 + payer */
};

void barred_free(struct barred *barred);

/* This process did. True: the first time of its user in a while. */
bool barred_add(struct barred *barred, pid_t pid, uint64_t now_ns);

bool barred_is(struct barred *barred, pid_t pid, uint64_t now_ns);

#endif
