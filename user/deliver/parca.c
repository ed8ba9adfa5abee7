// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parca, by the HTTP form of its ProfileStoreService.WriteRaw. A series without a
 * message of labels makes the server crash, so there always is one. It answers 200 to
 * paths that it does not know and stores nothing, so only JSON is taken for a yes.
 */
#include "deliver/receiver.h"

#include "base/json.h"

static void add_base64(struct str *out, const unsigned char *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t group = (uint32_t)bytes[i] << 16;
		char text[4] = { 0, 0, '=', '=' };

		group |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= i + 2 < n ? bytes[i + 2] : 0;
		for (size_t k = 0; k < 4 && i + k < n + 1; k++)
			text[k] = digits[group >> (18 - 6 * k) & 63];
		str_add_bytes(out, text, sizeof(text));
	}
}

static void add_label(struct json *json, const char *name, const char *value)
{
	json_open(json, NULL, '{');
	json_text(json, "name", name);
	json_text(json, "value", value);
	json_close(json, '}');
}

static void add_labels(struct json *json, const struct delivered_series *series,
		       const char *name)
{
	json_open(json, "labels", '{');
	json_open(json, "labels", '[');
	add_label(json, "__name__", name);
	for (size_t i = 0; i < series->n_labels; i++)
		add_label(json, series->labels[i].name, series->labels[i].value);
	json_close(json, ']');
	json_close(json, '}');
}

static void add_series(struct json *json, const struct delivered_series *series,
		       const char *name)
{
	json_open(json, NULL, '{');
	add_labels(json, series, name);
	json_open(json, "samples", '[');
	json_open(json, NULL, '{');
	json_key(json, "rawProfile");
	str_add_char(json->out, '"');
	add_base64(json->out, (const unsigned char *)series->pprof.s, series->pprof.n);
	str_add_char(json->out, '"');
	json_close(json, '}');
	json_close(json, ']');
	json_close(json, '}');
}

static int make(struct str *out, const struct delivery *delivery)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_open(&json, "series", '[');
	for (size_t i = 0; i < delivery->n_series; i++)
		add_series(&json, &delivery->series[i], delivery->name);
	json_close(&json, ']');
	json_close(&json, '}');
	return str_error(out);
}

static enum receiver_says read_answer(const char *answer, size_t n)
{
	return n && answer[0] == '{' ? RECEIVER_TAKES : RECEIVER_IS_ANOTHER;
}

const struct receiver parca_receiver = {
	.name = "parca",
	.path = "/api/profiles/writeraw",
	.content_type = "application/json",
	.make = make,
	.read_answer = read_answer,
};
