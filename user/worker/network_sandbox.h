/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left to a process of ours that talks to servers. */
#ifndef WEFT_WORKER_NETWORK_SANDBOX_H
#define WEFT_WORKER_NETWORK_SANDBOX_H

/*
 * After sandbox_process() and sandbox_files() of worker/: no file can be written, and
 * read only those by which servers are found and certificates checked (Landlock, 5.13
 * and later); no program can be run, and no system call made that is about other
 * processes or about the kernel. Each step is tried and none is relied on alone.
 */
void network_sandbox(void);

#endif
