/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process and their async roots, read from outside. */
#ifndef WEFT_DOCTOR_DOCTOR_THREADS_H
#define WEFT_DOCTOR_DOCTOR_THREADS_H

#include "doctor/doctor.h"

/* All n bytes at an address of another process, or false. */
bool doctor_read(pid_t pid, uint64_t addr, void *buf, size_t n);

/* Counts them by what the process's keys lead to; at most 16,384 are looked at. */
void doctor_count_threads(struct doctor_process *process);

#endif
