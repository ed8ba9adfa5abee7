/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who held us up: a process for two seconds, and the next time for as long as it lives,
 * since on a busy machine anybody can wait once for one who waits for a CPU; and its user
 * while his processes do so one after another. Only his own files are lost by that, and
 * others' never.
 */
#ifndef WEFT_PROC_OPENER_BARRED_H
#define WEFT_PROC_OPENER_BARRED_H

#include "base/hmap.h"
#include "proc/open.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The first of more is forgotten. */
#define BARRED_PROCESSES_MAX 256

struct barred { /* zeroes to begin with */
	struct barred_process {
		pid_t pid;
		int fd; /* of it: whoever has its number later has another */
		uint64_t until_ns;
		bool has_held; /* and not for want of a CPU */
	} processes[BARRED_PROCESSES_MAX];
	unsigned int n_processes;
	struct hmap owners; /* struct barred_owner, by 1 + payer */
};

void barred_free(struct barred *barred);

/* What is to be said of it. */
enum barring {
	BARRED_AGAIN, /* nothing: the same was said of its user (its payer), in a while */
	BARRED_A_WHILE,	 /* read later */
	BARRED_FOR_LIFE, /* never */
};

/* This process did. is_slow: it lacked a CPU, and is not barred for life. */
enum barring barred_add(struct barred *barred, pid_t pid, bool is_slow,
			const struct owner *owner, uint64_t now_ns);

bool barred_process(struct barred *barred, pid_t pid, uint64_t now_ns);
bool barred_owner(struct barred *barred, const struct owner *owner, uint64_t now_ns);

#endif
