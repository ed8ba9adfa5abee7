/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel, these privileges and this machine allow, found by doing:
 * a program is loaded, an event is opened, an address is read. Nothing is left
 * behind. Each answer says what was found, what a lack costs, and the exact
 * thing to do.
 */
#ifndef WEFT_DOCTOR_PROBE_H
#define WEFT_DOCTOR_PROBE_H

#include <stddef.h>

enum probe_state {
	PROBE_OK,
	PROBE_LIMITED, /* weft works, and does without */
	PROBE_MISSING, /* weft can't record */
};

struct probe_result {
	const char *name;
	enum probe_state state;
	char what[192]; /* what was found; when not ok also what that costs */
	char todo[400]; /* when not ok */
};

enum { PROBES_MAX = 32 };

/*
 * What recording can't do without and what can be seen at no cost: kernel,
 * namespaces, lockdown, BTF, capabilities. 0, or -EOPNOTSUPP with a sentence on
 * the first that is missing, and what to do.
 */
int probe_require(void);

/* Fills ret[0 … PROBES_MAX-1] and returns how many there are. */
size_t probe_all(struct probe_result *ret);

#endif
