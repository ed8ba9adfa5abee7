/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for a batch of addresses out of one file: ELF symbols, a perf map, or
 * kallsyms. Each reader makes one pass over its input and keeps only the best
 * candidate an address, so that its memory depends on the batch and not on the
 * file. Foreign bytes: run in the parse worker (kallsyms is the kernel's own).
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
int elf_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg);
int elf_names_linked(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg);
int perf_map_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg);
int kallsyms_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg);

#endif
