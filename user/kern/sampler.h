/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF half, loaded and ticking: programs, their events and rings, and the
 * sideband beside them. The only part of weft that talks to libbpf.
 */
#ifndef WEFT_KERN_SAMPLER_H
#define WEFT_KERN_SAMPLER_H

#include "base/cleanup.h"
#include "core/event.h"
#include "kern/events.h"
#include "kern/publish_maps.h"
#include "shared/knobs.h"
#include "shared/losses.h"

struct sampler;

struct sampler_config {
	unsigned int hz;
	enum tick_event event;
	struct knobs knobs; /* filters, parts, budget, faults; not the rest */
	const pid_t *pids;  /* FILTER_TGID, FILTER_TID: which */
	unsigned int n_pids;
	bool follow_forks;    /* children of these are sampled, too */
	uint32_t table_slabs; /* for unwind tables, and what processes map; 0: none */
	uint64_t kernel_bytes_max; /* of all there, so tables get less; 0: no limit */
};

/* Loads all but the tick, opens the sideband (which runs from here on) and all events. */
int sampler_new(struct sampler **ret, const struct sampler_config *config);
void sampler_free(struct sampler *sampler);
DEFINE_FREEP(sampler)

/* Parts that ticks shall have (enum tick_parts), beside those that they have. If it ticks
 * without them already, the tick is loaded anew, which takes some 0.1 s, while the one
 * before goes on. If that can't be, it is said, and tried again in a minute. */
int sampler_want_parts(struct sampler *sampler, unsigned int parts);

int sampler_start(struct sampler *sampler); /* loads the tick; ticks from here on */
int sampler_stop(struct sampler *sampler);  /* the last tick is in its ring */

/* While it ticks. *ret_since_ns: samples up to then are in their rings and weigh what
 * they did, later ones the new rate's period. For a moment nothing ticks. */
int sampler_set_hz(struct sampler *sampler, unsigned int hz, uint64_t *ret_since_ns);

int sampler_fd(const struct sampler *sampler); /* readable: time to read */

/* Samples first, then the sideband: so whatever a sample depends on is read. */
int sampler_read(struct sampler *sampler, const struct event_sink *sink);

/* Takes up CPUs that came online; call about once a second. */
int sampler_check_cpus(struct sampler *sampler);

/* Did CPUs come or go since this was asked last? What processes mapped on them
 * meanwhile was not told. */
bool sampler_was_unwatched(struct sampler *sampler);

/* Where what ticks look up is written. */
struct publish_maps sampler_publish_maps(const struct sampler *sampler);

/* What it has of the kernel's memory. It grows with what is published, and with CPUs. */
uint64_t sampler_kernel_bytes(struct sampler *sampler);

/* The least kernel_bytes_max that can be kept at this rate, on this machine. */
int sampler_kernel_bytes_min(unsigned int hz, uint64_t *ret);

struct sampler_totals {
	struct ledger ledgers[N_HOOKS];
	/* of CPUs while not idle: (enabled - idle time) / period; 0: can't be known */
	uint64_t expected_ticks;
	uint64_t stolen_ticks; /* due while a hypervisor ran something else: estimate */
};

int sampler_totals(struct sampler *sampler, struct sampler_totals *ret);

#endif
