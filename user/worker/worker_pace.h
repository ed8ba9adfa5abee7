/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much CPU time of others parsing may take. weft raises its own priority, and the
 * parser inherits that, so that a new program's tables are there in time on a busy
 * machine. But what parsing costs the files' makers choose. So a parser has an account:
 * filled by a little a second, emptied by the CPU time that it takes. Once it is empty
 * the parser goes behind everybody else, until there is something in it again.
 */
#ifndef WEFT_WORKER_WORKER_PACE_H
#define WEFT_WORKER_WORKER_PACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct pace {
	pid_t parser;	 /* 0: none yet */
	clockid_t clock; /* of its CPU time */
	int usual;	 /* our own nice value */
	int slow;	 /* and what is behind it and most others */
	bool is_slow;
	bool is_spent; /* the account, until there is enough in it again */
	bool is_behind;
	bool hurries;
	int64_t balance_ns;
	uint64_t taken_ns; /* CPU time of this parser, when it was last looked at */
	int64_t looked_ms; /* when that was */
	uint64_t lap_ns;   /* its CPU time at the last pace_lap() */
};

void pace_begin(struct pace *pace, int64_t now_ms);

/* Somebody waits for names, at a recording's end, and all late files together have a
 * deadline: what that takes is taken off the account, but not slowed down. */
void pace_hurry(struct pace *pace, bool hurries);

/* The parser is about to be ended: what it took is taken off, and its number, which may
 * be anybody's then, is not looked at any more. */
void pace_leave(struct pace *pace, int64_t now_ms);

/* Another parser, on the same account. */
void pace_take(struct pace *pace, pid_t parser);

/* What is read now goes behind everybody else, and is not on the account: whose budget is
 * used up (sym/budgets.h) shall not use up everybody's. */
void pace_go_behind(struct pace *pace, bool is_behind, int64_t now_ms);

/* Looks at most every few milliseconds, and not often at a parser that was asked for
 * nothing; is it time to? */
bool pace_is_due(const struct pace *pace, bool is_idle, int64_t now_ms);
void pace_keep(struct pace *pace, int64_t now_ms);

/* CPU time of this parser since this was asked last; 0: it has ended. */
uint64_t pace_lap(struct pace *pace);

#endif
