/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose samples they are: the labels of each process, by what the machine says of it and
 * by the rules of the configuration. Rules also see, of each process, __meta_comm,
 * __meta_pid, __meta_cgroup, __meta_unit, __meta_container_id and __meta_pod_uid, which
 * are gone afterwards, as all labels are that begin with "__".
 */
#ifndef WEFT_AGENT_SERVICES_H
#define WEFT_AGENT_SERVICES_H

#include "agent/relabel.h"
#include "core/profile.h"
#include "record/declared.h"

/* Where a process's service_name may come from, in the order in which they are asked.
 * Its first thread's name is what remains. */
enum service_source {
	SERVICE_CONTEXT,
	SERVICE_ENVIRONMENT,
	SERVICE_UNIT,
	N_SERVICE_SOURCES
};

struct services_config {
	const struct label *labels; /* of all profiles, service_name among them */
	size_t n_labels;
	bool by_service;  /* each process has a service_name, container_id, pod_uid */
	bool has_service; /* ... but for service_name, which is in labels */
	enum service_source sources[N_SERVICE_SOURCES];
	size_t n_sources;
	struct relabel_rule *const *rules;
	size_t n_rules;
	bool has_variables; /* what declared has of them is wanted */
};

/* Whose a profile's processes are, by its own numbers of them. */
struct services_window {
	const struct aggregator *aggregator;
	const struct declared *declared; /* NULL: nothing is */
};

/* Does anything depend on the process? */
bool services_apply(const struct services_config *config);

/*
 * Series of a profile's processes; the samples of those that a rule drops are taken out
 * of it and counted: *ret_dropped, and samples.dropped_by_rule in its ledger.
 */
int services_of(struct series **ret, const struct services_config *config,
		const struct services_window *window, struct profile *profile,
		uint64_t *ret_dropped);

#endif
