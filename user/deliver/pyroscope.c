// SPDX-License-Identifier: BSD-2-Clause
/*
 * Grafana Pyroscope, by its own protocol: PushRequest of push/v1/push.proto, with one
 * sample a series. __name__ and service_name are demanded; a profile may have 4 MiB
 * uncompressed and be an hour old at most.
 */
#include "deliver/receiver.h"

#include "base/proto.h"

/* push.v1 and types.v1: numbers of fields */
enum {
	PUSH_REQUEST_SERIES = 1,
	RAW_PROFILE_SERIES_LABELS = 1,
	RAW_PROFILE_SERIES_SAMPLES = 2,
	LABEL_PAIR_NAME = 1,
	LABEL_PAIR_VALUE = 2,
	RAW_SAMPLE_RAW_PROFILE = 1,
	RAW_SAMPLE_ID = 2,
};

static void add_label(struct str *series, const char *name, const char *value)
{
	AUTO_STR pair = { 0 };

	proto_add_string(&pair, LABEL_PAIR_NAME, name);
	proto_add_string(&pair, LABEL_PAIR_VALUE, value);
	proto_add_item(series, RAW_PROFILE_SERIES_LABELS, pair.s, pair.n);
	series->failed |= pair.failed;
}

static void add_series(struct str *out, const struct delivered_series *from,
		       const char *name)
{
	AUTO_STR series = { 0 };
	AUTO_STR sample = { 0 };

	add_label(&series, "__name__", name);
	for (size_t i = 0; i < from->n_labels; i++)
		add_label(&series, from->labels[i].name, from->labels[i].value);
	proto_add_bytes(&sample, RAW_SAMPLE_RAW_PROFILE, from->pprof.s, from->pprof.n);
	proto_add_string(&sample, RAW_SAMPLE_ID, from->id);
	proto_add_item(&series, RAW_PROFILE_SERIES_SAMPLES, sample.s, sample.n);
	proto_add_item(out, PUSH_REQUEST_SERIES, series.s, series.n);
	out->failed |= series.failed | sample.failed;
}

static int make(struct str *out, const struct delivery *delivery)
{
	for (size_t i = 0; i < delivery->n_series; i++)
		add_series(out, &delivery->series[i], delivery->name);
	return str_error(out);
}

const struct receiver pyroscope_receiver = {
	.name = "pyroscope",
	.path = "/push.v1.PusherService/Push",
	.content_type = "application/proto",
	.make = make,
	.labels_are_series = true,
};
