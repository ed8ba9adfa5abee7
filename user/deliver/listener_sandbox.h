/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_DELIVER_LISTENER_SANDBOX_H
#define WEFT_DELIVER_LISTENER_SANDBOX_H

/*
 * After sandbox_process() and sandbox_files() of worker/, and once the library is there
 * and listens: no file can be opened, no connection made, and no system call but those
 * that take connections, read requests and answer them. Each step is tried and none is
 * relied on alone.
 */
void listener_sandbox(void);

#endif
