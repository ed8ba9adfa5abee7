/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `weft doctor` tells, as data: the machine's probes (doctor/probe.h), and
 * what can be seen of one process from outside, without stopping it. The
 * process goes on meanwhile, so what is said of its threads is of a moment.
 */
#ifndef WEFT_DOCTOR_DOCTOR_H
#define WEFT_DOCTOR_DOCTOR_H

#include "base/cleanup.h"
#include "core/names.h"
#include "doctor/probe.h"
#include "obj/elf_scan.h"
#include "sym/packages.h"
#include "unwind/unwind_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DOCTOR_PATH_BYTES 256 /* longer paths are cut */

/* A file of which the process has mapped code. */
struct doctor_file {
	char path[DOCTOR_PATH_BYTES]; /* as the process mapped it; clean */
	bool readable;
	int table_err; /* of making its table; -ENODATA: it has none */
	struct unwind_head head;
	struct unwind_stats stats;
	/* Addresses of its code, by where a name would come from, and in sum. 0: names
	 * can't be looked for */
	unsigned int by_origin[N_NAME_ORIGINS], addresses;
	uint64_t code_bytes;
	char package[PACKAGE_BYTES]; /* that has debug symbols, if it lacks many */
};

/* Does so much of its code lack a symbol that it is worth telling? */
bool doctor_file_lacks_names(const struct doctor_file *file);

struct doctor_key {
	char path[DOCTOR_PATH_BYTES];
	uint64_t addr;
	bool readable;
	uint32_t value; /* ASYNC_KEY_UNSET: no operation has run yet */
};

struct doctor_threads {
	unsigned int total;
	unsigned int unknown;	/* whose slots could not be found */
	unsigned int with_root; /* inside a dispatcher's call now */
	unsigned int running;	/* of these, with an operation at work */
};

#define DOCTOR_FILES_MAX 1024
#define DOCTOR_KEYS_MAX	 64

struct doctor_process {
	pid_t pid;
	char comm[16];
	enum elf_libc libc;
	struct doctor_key keys[DOCTOR_KEYS_MAX];
	unsigned int n_keys;
	char keyless[DOCTOR_PATH_BYTES]; /* a file that must have a key, and shows none;
					    "": there is none */
	struct doctor_threads threads;
	struct doctor_file *files; /* in order of address, each once */
	unsigned int n_files;
};

/* -ESRCH: gone; -EPERM: not ours to look at; or another negative errno. */
int doctor_look(struct doctor_process **ret, pid_t pid);
void doctor_process_free(struct doctor_process *process); /* NULL is fine */
DEFINE_FREEP(doctor_process)

#endif
