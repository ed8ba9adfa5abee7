/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * otel_ctx HOW NAME [SECONDS]   publishes a process context, that says its service's name
 *                               is NAME, and then is busy for long
 *
 * HOW: memfd, anon (a mapping that has the name by prctl(2)), both; or what is none:
 * torn (never finished), garbage (a payload that is no message), large, lost (a payload
 * that is not there), old (another version), unsigned. SECONDS: only after so many, as an
 * SDK does that starts late.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define BYTES 65536

struct header {
	char signature[8];
	uint32_t version, payload_bytes;
	uint64_t published_ns, payload;
};

static char payload[BYTES];
static size_t n_payload;

/* A field of a message, behind what it holds: so many bytes at the end of the payload. */
static void wrap(char field, size_t from)
{
	size_t n = n_payload - from;

	memmove(payload + from + 3, payload + from, n);
	payload[from] = (char)(field << 3 | 2);
	payload[from + 1] = (char)(n | 0x80); /* a varint of two bytes */
	payload[from + 2] = (char)(n >> 7);
	n_payload += 3;
}

static void add_text(char field, const char *text)
{
	size_t from = n_payload;

	memcpy(payload + from, text, strlen(text));
	n_payload += strlen(text);
	wrap(field, from);
}

/* KeyValue of a Resource */
static void add_attribute(const char *key, const char *value)
{
	size_t from = n_payload, value_from;

	add_text(1, key);
	value_from = n_payload;
	add_text(1, value);
	wrap(2, value_from);
	wrap(1, from);
}

static void *new_mapping(const char *how)
{
	int fd = strcmp(how, "anon") ? memfd_create("OTEL_CTX", MFD_CLOEXEC) : -1;
	void *at;

	if (fd >= 0 && ftruncate(fd, 4096))
		exit(1);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		  fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		exit(1);
	if (fd >= 0)
		close(fd);
	madvise(at, 4096, MADV_DONTFORK);
	if (!strcmp(how, "anon") || !strcmp(how, "both"))
		if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, 4096, "OTEL_CTX"))
			exit(3); /* this kernel can't */
	return at;
}

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
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		for (volatile int i = 0; i < 1000000; i++)
			;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begun.tv_sec) +
			 (double)(now.tv_nsec - begun.tv_nsec) / 1e9 <
		 seconds);
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
