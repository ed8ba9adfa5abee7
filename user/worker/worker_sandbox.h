/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes away what a process that parses foreign bytes has no use for. Each
 * step is tried and none is relied on alone: kernels and containers differ in
 * what they grant.
 */
#ifndef WEFT_WORKER_WORKER_SANDBOX_H
#define WEFT_WORKER_WORKER_SANDBOX_H

/* Signals that a terminal or a service manager sends to all of us: they are ours to
 * answer. */
void sandbox_signals(void);

/*
 * Capabilities, privileges by exec, root's uid, core files, memory beyond
 * 1 GiB, the terminal; ends with whoever forked it.
 */
void sandbox_process(void);

/* Every descriptor but keep, which moves to 3. Returns 3. */
int sandbox_files(int keep);

/* Every system call but those that read files and answer. Never undone. */
void sandbox_syscalls(void);

#endif
