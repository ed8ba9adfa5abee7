/* SPDX-License-Identifier: BSD-2-Clause */
/* What debuginfod.c and the process that asks servers say to each other: a request; then
 * how much has come, some times a second; then the end. */
#ifndef WEFT_SYM_DEBUGINFOD_CHILD_H
#define WEFT_SYM_DEBUGINFOD_CHILD_H

#include <stdint.h>

#define FETCH_URL_BYTES 2048

struct fetch_request {
	uint32_t timeout_ms;
	uint64_t bytes_max;
	char url[FETCH_URL_BYTES];
};

enum fetch_state {
	FETCH_RUNS,
	FETCH_DONE, /* with a file in memory, sealed as open_copy() does it */
	FETCH_NONE, /* the server has no such file */
	FETCH_FAILED,
	FETCH_LATE, /* the same, of one that keeps us waiting */
	N_FETCH_STATES
};

struct fetch_answer {
	uint32_t state;
	uint64_t bytes;
	char why[160]; /* of FAILED and LATE */
};

/* The process. */
void fetcher_run(int sock) __attribute__((noreturn));

#endif
