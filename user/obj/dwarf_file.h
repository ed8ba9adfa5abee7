/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of debug information as libdw reads it: a program, a file of its debug
 * information, or a .dwo. Sections are read, never mapped, and where libdw can be given
 * memory that fills as it looks (obj/dwarf_image.h), only as far as it looks. Foreign
 * bytes: run in the parse worker.
 */
#ifndef WEFT_OBJ_DWARF_FILE_H
#define WEFT_OBJ_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct dwarf_file { /* {0} is closed */
	Elf *elf;
	Dwarf *dwarf;		   /* NULL: it has no debug information */
	struct dwarf_image *image; /* NULL: libdw holds all of it */
	char *memory;		   /* its bytes, if they are no file's */
};

#define AUTO_DWARF __attribute__((cleanup(dwarf_file_close))) struct dwarf_file

/* Bytes of a section; none where there is no such thing. */
struct dwarf_bytes {
	const unsigned char *at, *end;
};

/* 0, -ENOEXEC, -EBADMSG of what can't be read, -EFBIG of what is too much. To be closed
 * in either case. */
int dwarf_file_open(struct dwarf_file *file, int fd);

/* The same of a .dwo file, or of the unit with this number of a package of them; -EBADMSG
 * if that has no such unit. */
int dwarf_file_open_split(struct dwarf_file *file, int fd, uint64_t id);
void dwarf_file_close(struct dwarf_file *file);

/* Of a unit, what knows its lines: one with nothing else, for dwarf_getsrc_die() and
 * dwarf_getsrcfiles(), or the unit itself. One of a file at a time, to be closed before
 * the file. */
struct dwarf_lines { /* {0} is closed */
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die unit;
};

void dwarf_lines_open(struct dwarf_lines *lines, const struct dwarf_file *file,
		      Dwarf_Die *unit);
void dwarf_lines_close(struct dwarf_lines *lines);

/* 0, or what could not be unpacked of all that was read so far, in whose place zeroes
 * were read. */
int dwarf_file_error(const struct dwarf_file *file);

/* As libdw has it, where it lies as long as the file is open. */
struct dwarf_bytes dwarf_file_section(const struct dwarf_file *file, const char *name);

#endif
