/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for a batch of addresses out of one file: ELF symbols, a perf map, a JIT's
 * dump, kallsyms, Go's table, or where functions start. Each reader makes one pass over
 * its input and keeps only the best candidate an address, so that its memory depends on
 * the batch and not on the file. (Go's table is searched, so it is held as a whole.)
 * Foreign bytes: run in the parse worker (kallsyms is the kernel's own), which finds a
 * reader by its line in NAME_SOURCES().
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
 * NAMES_ELF (obj/elf_names.h): file offsets. Functions of .symtab, or else .dynsym; a
 * symbol with a size covers just its size, and one of .dynsym without a size its own
 * function, so an address in an unexported function is never given its
 * neighbour's name; those of .gnu_debugdata as well. PLT stubs are "name@plt".
 * NAMES_ELF_LINKED: addresses as linked, in any order: for a separate debug
 * file, whose segments hold no bytes and so tell no offsets.
 * perf_map_names: absolute addresses; "START SIZE NAME" lines, hexadecimal;
 * of two that overlap the later line wins, as JITs append.
 * jitdump_names: absolute addresses, each with the times at which it was sampled
 * first and last: JITDUMP_QUESTION_WORDS of addrs, in any order; index is that of the
 * address. What lay there all that time gives the name (obj/jitdump.h).
 * kallsyms_names: absolute kernel addresses; a module's symbol is "name [module]".
 * go_names: file offsets; functions of a Go program that may be stripped
 * (obj/go_table.h).
 * function_starts: file offsets of code that no symbol covers. The name is where its
 * function starts, as linked, "0x5a20" (unwind/function_starts.c).
 * process_context_values: no addresses, but attributes of base/resource.h, and the
 * values that a process context has for them (obj/process_context.h); from
 * PROCESS_CONTEXT_KEYS on, keys of its threads' attributes, by index.
 * elf_splits: addresses as linked, in any order; not their names, but the paths of the
 * .dwo files (obj/split_unit.h) of the units that hold any, each once, with the unit's id
 * as its start; index is how many came before.
 * elf_links, elf_same: where debug information is that is elsewhere (obj/elf_links.h).
 */
#define JITDUMP_QUESTION_WORDS 3
#define PROCESS_CONTEXT_KEYS   256

#define NAME_SOURCES(X)                                                                  \
	X(PERF_MAP, perf_map_names)                                                      \
	X(JITDUMP, jitdump_names)                                                        \
	X(KALLSYMS, kallsyms_names)                                                      \
	X(GO, go_names)                                                                  \
	X(FUNCTION_STARTS, function_starts)                                              \
	X(LINKS, elf_links)                                                              \
	X(SAME, elf_same)                                                                \
	X(SPLITS, elf_splits)                                                            \
	X(PROCESS_CONTEXT, process_context_values)

#define X(name, read)                                                                    \
	int read(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg);
NAME_SOURCES(X)
#undef X

/* By what the parse worker is asked for them. */
enum name_source {
#define X(name, read) NAMES_##name,
	NAME_SOURCES(X)
#undef X
		NAMES_ELF,
	NAMES_ELF_LINKED,
	NAMES_LOCATIONS, /* obj/inlines.h, whose answers are others */
};

#endif
