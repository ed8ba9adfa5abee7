/* SPDX-License-Identifier: BSD-2-Clause */
/* How programs of tests publish a process context: its payload, written from the inside
 * out, and its mapping. */
#ifndef TESTS_AGENT_OTEL_CTX_H
#define TESTS_AGENT_OTEL_CTX_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

#endif
