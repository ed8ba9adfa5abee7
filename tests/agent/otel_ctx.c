/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * otel_ctx HOW NAME [SECONDS]   publishes a process context, that says its service's name
 *                               is NAME, and then is mildly busy for long
 *
 * HOW: memfd, anon (a mapping that has the name by prctl(2)), both; or what is none:
 * torn (never finished), garbage (a payload that is no message), large, lost (a payload
 * that is not there), old (another version), unsigned. SECONDS: only after so many, as an
 * SDK does that starts late.
 */
#include <stdio.h>

#include "mild.h"
#include "otel_ctx.h"

static void publish(const char *how)
{
	struct header *header = new_mapping(how);
	struct header made = { .version = strcmp(how, "old") ? 2 : 1,
			       .payload_bytes = (uint32_t)n_payload,
			       .published_ns = strcmp(how, "torn") ? 12345 : 0,
			       .payload = (uint64_t)(uintptr_t)payload };

	memcpy(made.signature, strcmp(how, "unsigned") ? "OTEL_CTX" : "otel_ctx", 8);
	if (!strcmp(how, "garbage"))
		memset(payload, 0xff, n_payload);
	if (!strcmp(how, "large"))
		made.payload_bytes = 1u << 30;
	if (!strcmp(how, "lost"))
		made.payload = 0x1000;
	*header = made;
}

static void be_busy(double seconds)
{
	long long end = mild_now_ns() + (long long)(seconds * 1e9);

	while (mild_now_ns() < end)
		mild_turn(MILD_REST_US);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	add_attribute("telemetry.sdk.name", "none");
	add_attribute("service.name", argv[2]);
	add_attribute("service.namespace", "ctx");
	wrap(1, 0);
	be_busy(argc > 3 ? atof(argv[3]) : 0);
	publish(argv[1]);
	be_busy(600);
	return 0;
}
