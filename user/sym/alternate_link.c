// SPDX-License-Identifier: BSD-2-Clause
#include "sym/alternate_link.h"

#include "base/error.h"
#include "obj/elf_links.h"

#include <string.h>

enum { ASKED_NAME, ASKED_ID, N_ASKED };

struct alternate_answers {
	char name[DEBUG_LINK_BYTES];
	struct build_id id;
};

static int on_link(void *arg, size_t index, const char *name, uint64_t start)
{
	struct alternate_answers *answers = arg;

	if (index == ASKED_NAME && strlen(name) < sizeof(answers->name) &&
	    !strstr(name, ".."))
		strcpy(answers->name, name);
	if (index == ASKED_ID)
		answers->id = build_id_parse(name);
	return 0;
}

bool alternate_link_read(struct worker *worker, int fd, int deadline_ms,
			 struct debug_query *ret)
{
	static const uint64_t asked[N_ASKED] = {
		[ASKED_NAME] = ELF_LINK_ALTERNATE, [ASKED_ID] = ELF_LINK_ALTERNATE_ID
	};
	struct alternate_answers answers = { 0 };

	if (worker_names(worker,
			 &(struct name_request){ NAMES_LINKS, fd, asked, N_ASKED,
						 deadline_ms },
			 on_link, &answers))
		error_clear();
	if (!build_id_is_there(&answers.id))
		return false;
	ret->first = 0;
	ret->build_id_bytes = answers.id.bytes;
	memcpy(ret->build_id, answers.id.id, sizeof(ret->build_id));
	strcpy(ret->dwz, answers.name);
	return true;
}
