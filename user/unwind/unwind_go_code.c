// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_go_code.h"

#include <string.h>

bool go_code_is(const struct go_function *function, const char *name)
{
	return !strcmp(function->name, name);
}

bool go_code_never_comes_back(const struct go_function *function)
{
	return go_code_is(function, "runtime.mcall") ||
	       go_code_is(function, "runtime.clone");
}

bool go_code_is_of_runtime(const struct go_function *function)
{
	return !strncmp(function->name, "runtime.", strlen("runtime.")) ||
	       go_code_is(function, "time.now");
}

size_t go_code_read(struct unwind_go *go, uint64_t pc, uint64_t end, uint8_t *ret,
		    size_t room)
{
	uint64_t n = end - pc < room ? end - pc : room, offset, left;

	return elf_file_offset(go->file, pc, &offset, &left) && left >= n &&
			       !elf_file_read(go->file, offset, ret, n)
		       ? (size_t)n
		       : 0;
}

struct unwind_rule go_code_kept_rule(const struct unwind_go *go)
{
	return (struct unwind_rule){
		.cfa = UNWIND_CFA_GO,
		.cfa_offset = go->kept.g,
		.deref_offset = go->kept.m,
		.bx_words = UNWIND_BX_LOST,
		.reg = go->kept.now,
	};
}
