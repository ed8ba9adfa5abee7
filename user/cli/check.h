/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command line asks for, held against the machine before anything
 * starts: each function returns 0, or a negative errno with a sentence and
 * what to do. That all is well now is no promise for later.
 */
#ifndef WEFT_CLI_CHECK_H
#define WEFT_CLI_CHECK_H

#include "record/record.h"

#include <stddef.h>

/* Not above /proc/sys/kernel/perf_event_max_sample_rate. */
int check_rate(unsigned int hz);

/* Live user processes (or threads, for -t), seen from here. */
int check_processes(const struct pid_list *list);
int check_threads(const struct pid_list *list);

/* One of these processes has children that are not among them, such as a server's
 * workers? A person is told, and how to sample them as well. */
void check_children(const struct pid_list *list);

int check_comm(const char *comm);

/* A folder of the cgroup v2 hierarchy, as a container's name or a path from here or that
 * hierarchy's root. *ret_path: absolute, the caller frees it. */
int check_cgroup(const char *path, char **ret_path);

/* A file that an option names, or without any; path NULL: not given. */
struct named_path {
	const char *option, *path;
};

/*
 * Outputs: each a file that can be made anew, a device, or "-", and no two the
 * same. n of them.
 */
int check_outputs(const struct named_path *outputs, size_t n);

/*
 * The format of an output: by its name where format is given, else by how path
 * ends; folded text where it has no ending, or is stdout or a device.
 */
struct writer;
int check_writer(const char *path, const char *format, const struct writer **ret);

int check_input(const struct named_path *input);

/* Beside a path where nothing is, what weft record has written so far may lie: the error
 * at hand gets that for its hint. Returns err. */
int check_hint_part(int err, const char *path);

/* URLs with blanks between them; *urls NULL: of the environment. NULL then: none. */
int check_debuginfod(const char **urls);

/* The same of a program that nobody watches: only "env" means the environment's. */
int check_debuginfod_said(const char **urls);

/* A folder with files like those of /. *ret_path: absolute, the caller frees it. */
int check_symfs(const char *path, char **ret_path);

/* The input is none of the outputs. */
int check_distinct(const struct named_path *a, const struct named_path *b);

#endif
