/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom that is counted to what a process costs. In a user namespace a user has as many
 * ids as were lent to them: all of these are the one user who made it.
 */
#ifndef WEFT_PROC_PAYER_H
#define WEFT_PROC_PAYER_H

#include <stdbool.h>
#include <sys/types.h>

/* Of one who does not let us look: all of these are one. */
#define PAYER_UNKNOWN ((uid_t)-1)

/*
 * Of a process of this user: that user, or who made the namespace around it that lies in
 * ours. One that root made (a container) is somebody by itself: its number, which lies
 * above those of users. If it can't be asked: that user.
 */
uid_t payer_of(pid_t pid, uid_t uid);

/* The ids of our own user namespace, which don't change while we run. */
struct payer_ids {
	char map[4096]; /* of two maps the beginnings tell enough */
	ssize_t n;
};

void payer_ids_read(struct payer_ids *ret);

/* Is its user the payer, as it lives in our own user namespace, or can't be asked? Unlike
 * payer_of(), this never waits for a process that is within an exec. */
bool payer_is_user(const struct payer_ids *ours, pid_t pid);

#endif
