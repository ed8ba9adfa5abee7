/* SPDX-License-Identifier: BSD-2-Clause */
/* Who maps a file, and so pays for the time that its names take (proc/payer.h): the root
 * of a namespace gives files to any of its users. */
#ifndef WEFT_SYM_FILE_MAPPER_H
#define WEFT_SYM_FILE_MAPPER_H

#include "sym/files.h"

/* Zeroes to begin with. */
struct file_mapper {
	struct owner owner; /* known: the first of whom it was asked */
	uint64_t asked_ns;  /* when it was asked last; 0: never */
	bool is_shared;	    /* others map it as well */
};

/* Asks again now and then: who starts programs maps a file all the time. False: not now,
 * or nobody can tell. */
bool file_owner_ask(const struct files_config *config, pid_t pid, uint64_t *asked_ns,
		    struct owner *ret);

/* Of one that ended before it could be asked: our own command is ours. */
struct owner file_owner_unseen(pid_t pid, pid_t command);

/* One who does not let us look is nobody else than who is known already. */
void file_mapper_note(struct file_mapper *mapper, const struct files_config *config,
		      pid_t pid);

/* While one alone maps it; else its owner, of this uid. */
uid_t file_mapper_payer(const struct file_mapper *mapper, uid_t uid);

#endif
