/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for a batch of addresses out of one file: ELF symbols, a perf map, or
 * kallsyms. Each reader makes one pass over its input and keeps only the best
 * candidate an address, so that its memory depends on the batch and not on the
 * file. Foreign bytes: run in the parse worker (kallsyms is the kernel's own), which
 * finds a reader by its line in NAME_SOURCES().
 */
#ifndef WEFT_OBJ_NAMES_H
#define WEFT_OBJ_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Called once for each address that has a name, in any order. name is clean
 * (base/name.h), demangled, borrowed for the call. start: of the symbol, in the
 * unit of the addresses. A negative return ends the pass and is passed up.
 */
typedef int (*name_sink)(void *arg, size_t index, const char *name, uint64_t start);

/*
 * addrs: ascending, n of them, distinct. 0 or a negative errno; addresses
 * without a name are simply not called back.
 *
 * elf_names: file offsets. Functions of .symtab, or else .dynsym; a symbol
 * with a size covers just its size, so an address in an unexported function
 * is never given its neighbour's name. PLT stubs are "name@plt".
 * elf_names_linked: addresses as linked, in any order: for a separate debug
 * file, whose segments hold no bytes and so tell no offsets.
 * perf_map_names: absolute addresses; "START SIZE NAME" lines, hexadecimal;
 * of two that overlap the later line wins, as JITs append.
 * kallsyms_names: absolute kernel addresses; a module's symbol is "name [module]".
 */
#define NAME_SOURCES(X)                                                                  \
	X(ELF, elf_names)                                                                \
	X(ELF_LINKED, elf_names_linked)                                                  \
	X(PERF_MAP, perf_map_names)                                                      \
	X(KALLSYMS, kallsyms_names)

#define X(name, read)                                                                    \
	int read(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg);
NAME_SOURCES(X)
#undef X

/* By what the parse worker is asked for them. */
enum name_source {
#define X(name, read) NAMES_##name,
	NAME_SOURCES(X)
#undef X
		NAMES_LOCATIONS, /* obj/inlines.h, whose answers are others */
};

#endif
