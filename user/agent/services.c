// SPDX-License-Identifier: BSD-2-Clause
#include "agent/services.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES    512 /* of a unit's name, an id */
#define SERVICE_LABEL "service_name"

/* What a cgroup path says. */
struct cgroup_words {
	char service[TEXT_BYTES], container_id[TEXT_BYTES], pod_uid[TEXT_BYTES];
};

static struct cgroup_words place_of(const char *cgroup)
{
	struct cgroup_words place = { "", "", "" };

	profile_service(place.service, sizeof(place.service), cgroup);
	profile_container_id(place.container_id, sizeof(place.container_id), cgroup);
	profile_pod(place.pod_uid, sizeof(place.pod_uid), cgroup);
	return place;
}

/* What is known of a process, wherever from. */
struct process_words {
	const struct profile *profile;
	const struct profile_process *process;
	struct cgroup_words place;
	const char *declared[N_DECLARED]; /* record/declared.h */
};

static struct process_words known_of(const struct services_window *window,
				     const struct profile *profile, uint32_t id)
{
	const struct profile_process *process = &profile->processes.items[id];
	struct process_words known = { profile,
				       process,
				       place_of(profile_string(profile, process->cgroup)),
				       { NULL } };
	size_t bytes;
	const struct aggregator_process *counted =
		intern_bytes(window->aggregator->processes, id, &bytes);

	for (int by = 0; by < N_DECLARED; by++)
		known.declared[by] =
			declared_of(window->declared, counted->incarnation, by);
	return known;
}

/* "": this source has none. */
static const char *name_from(const struct process_words *known,
			     enum service_source source)
{
	const char *at =
		known->declared[source == SERVICE_CONTEXT ? DECLARED_CONTEXT
							  : DECLARED_ENVIRONMENT];
	struct label label;

	/* in a container the unit is its runtime's */
	if (source == SERVICE_UNIT)
		return *known->place.container_id ? "" : known->place.service;
	while (declared_next(&at, &label))
		if (!strcmp(label.name, SERVICE_LABEL))
			return label.value;
	return "";
}

static const char *service_of(const struct process_words *known,
			      const struct services_config *config)
{
	for (size_t i = 0; i < config->n_sources; i++) {
		const char *name = name_from(known, config->sources[i]);

		if (*name)
			return name;
	}
	return profile_string(known->profile, known->process->name);
}

static void put_service(struct label_set *set, const struct services_config *config,
			const struct process_words *known)
{
	const char *service = service_of(known, config);

	if (!config->has_service && *service)
		label_set_put(set, SERVICE_LABEL, service);
	label_set_put(set, "container_id", known->place.container_id);
	label_set_put(set, "pod_uid", known->place.pod_uid);
}

/* Before all others, which take their place where they are called the same. */
static void put_declared(struct label_set *set, const char *labels)
{
	struct label label;

	while (declared_next(&labels, &label))
		if (strcmp(label.name, SERVICE_LABEL) != 0)
			label_set_put(set, label.name, label.value);
}

static void put_meta(struct label_set *set, const struct process_words *known)
{
	const struct profile *profile = known->profile;
	const struct profile_process *process = known->process;
	const struct cgroup_words *place = &known->place;
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", process->pid);
	label_set_put(set, "__meta_comm", profile_string(profile, process->name));
	label_set_put(set, "__meta_pid", pid);
	label_set_put(set, "__meta_cgroup", profile_string(profile, process->cgroup));
	label_set_put(set, "__meta_unit", place->service);
	label_set_put(set, "__meta_container_id", place->container_id);
	label_set_put(set, "__meta_pod_uid", place->pod_uid);
}

static void remove_hidden(struct label_set *set)
{
	for (size_t i = 0; i < set->n;)
		if (!strncmp(label_set_at(set, i).name, "__", 2))
			label_set_remove(set, i);
		else
			i++;
}

static int add_process(struct series *series, const struct services_config *config,
		       const struct process_words *known)
{
	struct label labels[SERIES_LABELS_MAX];
	AUTO_LABEL_SET set = { 0 };
	bool is_kept;

	for (int by = N_DECLARED; by-- > 0;)
		put_declared(&set, known->declared[by]);
	for (size_t i = 0; i < config->n_labels; i++)
		label_set_put(&set, config->labels[i].name, config->labels[i].value);
	put_meta(&set, known);
	if (config->by_service)
		put_service(&set, config, known);
	is_kept = relabel(config->rules, config->n_rules, &set);
	remove_hidden(&set);
	if (str_error(&set.text))
		return -ENOMEM;
	return is_kept ? series_add(series, labels, label_set_list(&set, labels))
		       : series_add_none(series);
}

static int drop(struct profile *profile, const struct series *series,
		uint64_t *ret_dropped)
{
	struct timeline *timeline = &profile->timeline;
	uint64_t before = timeline->total;
	AUTO_FREE bool *keep = malloc(timeline->sample_keys.n + 1);
	bool any = false;
	int err;

	*ret_dropped = 0;
	if (!keep)
		return fail(-ENOMEM, "no memory for rules");
	for (size_t i = 0; i < timeline->sample_keys.n; i++) {
		uint32_t thread = timeline->sample_keys.items[i].b;
		uint32_t process = profile->threads.items[thread].process;

		keep[i] = series->by_process.items[process] != SERIES_NONE;
		any |= !keep[i];
	}
	if (!any)
		return 0;
	err = timeline_keep(timeline, keep, 0, UINT64_MAX);
	if (err)
		return err;
	*ret_dropped = before - timeline->total;
	return profile_add_count(profile, "samples.dropped_by_rule", *ret_dropped);
}

bool services_apply(const struct services_config *config)
{
	return config->by_service || config->n_rules || config->has_variables;
}

/* Of set 0, in the order of all sets. */
static int new_series(struct series **ret, const struct services_config *config)
{
	struct label labels[SERIES_LABELS_MAX];
	AUTO_LABEL_SET set = { 0 };

	for (size_t i = 0; i < config->n_labels; i++)
		label_set_put(&set, config->labels[i].name, config->labels[i].value);
	return str_error(&set.text)
		       ? -ENOMEM
		       : series_new(ret, labels, label_set_list(&set, labels));
}

int services_of(struct series **ret, const struct services_config *config,
		const struct services_window *window, struct profile *profile,
		uint64_t *ret_dropped)
{
	AUTO(series) series = NULL;
	int err = new_series(&series, config);

	for (uint32_t i = 0; !err && i < profile->processes.n; i++) {
		struct process_words known = known_of(window, profile, i);

		err = add_process(series, config, &known);
	}
	if (!err)
		err = drop(profile, series, ret_dropped);
	if (!err && series->crowded)
		err = profile_add_count(profile, "series.crowded", series->crowded);
	if (err)
		return err;
	*ret = GIVE(series);
	return 0;
}
