/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared libraries that a program will be started with, told by its own dynamic
 * linker, which knows the paths, the environment and the caches that count.
 */
#ifndef WEFT_RECORD_LIBRARIES_H
#define WEFT_RECORD_LIBRARIES_H

/* For each library of an ELF program that is open as `program`: its path, valid for the
 * call. None if its dynamic linker is neither glibc's nor musl's, as others might not
 * list but run it, or takes longer than a second. */
void libraries_each(int program, void (*fn)(const char *path));

#endif
