// SPDX-License-Identifier: BSD-2-Clause
#include "obj/symbol_kind.h"

#include <string.h>

bool symbol_is_mapping(const char *name, size_t n)
{
	if (n > 1 && name[0] == '$' && (name[1] == 'x' || name[1] == 'd'))
		return n == 2 || name[2] == '.';
	return !n || (n > 1 && name[0] == '.' && name[1] == 'L');
}

enum symbol_start symbol_label_start(const char *name, size_t n)
{
	return memchr(name, '.', n) ? START_PART : START_LABEL;
}

bool symbol_is_part_of(const char *name, size_t n, const char *whole, size_t n_whole)
{
	if (n && name[0] == '.')
		return true;
	return n > n_whole && name[n_whole] == '.' && !memcmp(name, whole, n_whole);
}

bool symbol_is_startup(const char *name, size_t n)
{
	static const char *const names[] = { "frame_dummy", "register_tm_clones",
					     "deregister_tm_clones",
					     "__do_global_dtors_aux" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (n == strlen(names[i]) && !memcmp(name, names[i], n))
			return true;
	return false;
}
