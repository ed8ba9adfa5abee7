/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command maps its own program and its shared libraries before it runs it: what looks
 * at the process then finds the files, and can read their unwind tables before the first
 * sample, which may take a second. An exec takes the mappings away.
 */
#ifndef WEFT_RECORD_PROGRAM_H
#define WEFT_RECORD_PROGRAM_H

/* name: as execvp(3) takes it. Of a script, what interprets it. Nothing is mapped of what
 * can't be found or is no ELF file; the exec will say so. */
void program_map(const char *name);

#endif
