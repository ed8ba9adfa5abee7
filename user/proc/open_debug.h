/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the debug file of a module may lie: by build id, or by the name that the module
 * says (an alternate file of dwz only in the folder that distributions have for those; a
 * .dwo where the compiler put it, or beside the module),
 * below a folder that whoever runs weft named, the root of a process that maps it, and
 * ours. Whoever has a mount
 * namespace of his own decides what lies there, and a module is mapped by others as
 * well. So a file is taken only if root owns it, or who owns the module's file and could
 * write it as well, and if the process's user may read it. That it is of this very build
 * the parse worker has to say (obj/elf_links.h). Of the folder that was named any file is
 * taken that who runs weft could read without its privileges.
 */
#ifndef WEFT_PROC_OPEN_DEBUG_H
#define WEFT_PROC_OPEN_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DEBUG_ID_BYTES	  20
#define DEBUG_LINK_BYTES  256
#define DEBUG_SYMFS_BYTES 1024
#define DEBUG_SPLIT_BYTES 1024

struct debug_query {
	pid_t pid;	  /* that maps the module */
	uid_t module_uid; /* who owns the module's file; 0: or nobody can tell */
	uint32_t first;	  /* the places before this one were tried */
	uint32_t build_id_bytes;
	uint8_t build_id[DEBUG_ID_BYTES]; /* 0 or 1 bytes: none */
	char link[DEBUG_LINK_BYTES];	  /* "": none */
	char dwz[DEBUG_LINK_BYTES];	  /* of an alternate file: ".dwz/…"; "": none */
	char symfs[DEBUG_SYMFS_BYTES];	  /* the folder, absolute; "": none */
	char split[DEBUG_SPLIT_BYTES];	  /* the path of a .dwo file; "": none */
};

/* The first place that a link leads to, or the path of a .dwo file. */
uint32_t open_debug_first_by_link(void);
uint32_t open_debug_first_split(void);

/* path: the module's. The file at the first place that has one that is taken, and which
 * place that is. -ENOENT: there is no further one. */
int open_debug(const struct debug_query *query, const char *path, uint32_t *ret_place,
	       int *ret_fd);

#endif
