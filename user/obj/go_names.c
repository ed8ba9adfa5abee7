// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of a Go program's functions from its own table, which a stripped one has as well.
 * Its symbols, if it has any, go before: they tell two forms of an assembler's function
 * apart.
 */
#include "obj/names.h"

#include "base/error.h"
#include "base/name.h"
#include "obj/go_table.h"

#include <string.h>

int go_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_ELF file = { 0 };
	AUTO_GO_TABLE table = { 0 };
	AUTO_STR name = { 0 };
	int err = elf_file_open(&file, fd);

	if (!err)
		err = go_table_open(&table, &file);
	for (size_t i = 0; err >= 0 && table.n_functions && i < n; i++) {
		struct go_function function;
		uint64_t vaddr, back;
		uint32_t at;

		if (!elf_file_vaddr(&file, addrs[i], &vaddr))
			continue;
		at = go_table_find(&table, vaddr);
		if (at >= table.n_functions || !go_table_function(&table, at, &function))
			continue;
		back = vaddr - function.begin;
		str_clear(&name);
		name_add(&name, function.name, strlen(function.name));
		if (name.n && !name.failed)
			err = sink(arg, i, name.s, addrs[i] > back ? addrs[i] - back : 0);
	}
	return err < 0 ? err : str_error(&name);
}
