/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Just enough JSON to read numbers out of a document of objects: a value is
 * found by the names on the way to it, "ledger.oncpu.outcomes.kept".
 */
#ifndef TRUTH_JSON_H
#define TRUTH_JSON_H

/* 0; -ENOENT: not there or no number; -EINVAL: no JSON. */
int json_number(const char *text, const char *where, unsigned long long *ret);

/* The sum of all numbers in the object at `where`; nested ones don't count. */
int json_sum(const char *text, const char *where, unsigned long long *ret);

#endif
