/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPUs there are, and what they do while they run nothing. */
#ifndef WEFT_KERN_CPUS_H
#define WEFT_KERN_CPUS_H

#include <stdbool.h>
#include <stdint.h>

int cpus_possible(void); /* 0: can't be found out */

/* Marks in online[0..room) the CPUs of /sys/devices/system/cpu/online. */
int cpus_online(bool *online, int room);

/* That list as it was read last, for who asks every second. */
struct cpus_watch { /* cpus_watch_begin() */
	int fd;	    /* -1: it can't be read */
	char text[128];
};

void cpus_watch_begin(struct cpus_watch *watch);
void cpus_watch_end(struct cpus_watch *watch);

/* Is it another than when this was asked last? So it is at first, where it can't be read
 * and where it is too long to be kept. */
bool cpus_watch_changed(struct cpus_watch *watch);

/* Then it is so the next time, too. */
void cpus_watch_forget(struct cpus_watch *watch);

/* How long the machine's CPUs have not run anything, in all since boot; to 10 ms a CPU.
 * 0 where /proc/stat doesn't tell. */
struct cpus_away {
	uint64_t idle_ns;
	uint64_t stolen_ns; /* a hypervisor ran something else on them */
};
struct cpus_away cpus_away(void);

#endif
