/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors are negative errno values, born in fail() together with one sentence
 * that says what failed, on what and why, and passed up unchanged. Whoever
 * decides to live with an error drops the sentence; only cli/ prints it.
 * One thread: there is one sentence at a time, the latest.
 */
#ifndef WEFT_BASE_ERROR_H
#define WEFT_BASE_ERROR_H

/* Keeps the sentence and returns err (negative). */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As fail(), with ": " and the words for err after the sentence; says what to do about
 * EMFILE, which can come from anywhere. */
int fail_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds what the person can do about the error at hand; returns err. */
int fail_hint(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *error_sentence(void); /* never NULL; "" when nothing failed */
const char *error_hint(void);	  /* never NULL */
void error_clear(void);

/* The error at hand, put away while something else may fail, too: what lets go of things,
 * or goes on without what failed. */
struct error_kept {
	char sentence[1024], hint[512];
};

void error_keep(struct error_kept *ret);
void error_restore(const struct error_kept *kept);

#endif
