// SPDX-License-Identifier: BSD-2-Clause
#include "sym/file_mapper.h"

#include <unistd.h>

/* Whose a process is changes rarely. */
#define OWNER_PACE_NS 1000000000ULL

bool file_owner_ask(const struct files_config *config, pid_t pid, uint64_t *asked_ns,
		    struct owner *ret)
{
	uint64_t now = config->source->now_ns();

	if (*asked_ns && now - *asked_ns < OWNER_PACE_NS)
		return false;
	*ret = config->source->owner(config->opener, pid);
	*asked_ns = now;
	return ret->known;
}

struct owner file_owner_unseen(pid_t pid, pid_t command)
{
	struct owner owner = { .known = pid == command, .inner_pid = pid };

	if (owner.known)
		owner.uid = owner.payer = geteuid();
	return owner;
}

void file_mapper_note(struct file_mapper *mapper, const struct files_config *config,
		      pid_t pid)
{
	bool is_told = mapper->owner.known && mapper->owner.payer != PAYER_UNKNOWN;
	struct owner owner;

	if (mapper->is_shared || !file_owner_ask(config, pid, &mapper->asked_ns, &owner))
		return;
	if (is_told && owner.payer == PAYER_UNKNOWN)
		return;
	mapper->is_shared = is_told && owner.payer != mapper->owner.payer;
	mapper->owner = owner;
}

uid_t file_mapper_payer(const struct file_mapper *mapper, uid_t uid)
{
	return mapper->owner.known && !mapper->is_shared ? mapper->owner.payer : uid;
}
