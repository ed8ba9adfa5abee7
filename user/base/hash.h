/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-256: nobody can make two inputs with one result. Nettle's, since that needs no
 * start-up: no memory, no file, no system call, so it works inside a sandbox that
 * closed before the first hash.
 */
#ifndef WEFT_BASE_HASH_H
#define WEFT_BASE_HASH_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

struct hash {
	uint8_t bytes[SHA256_DIGEST_SIZE];
};

struct hasher {
	struct sha256_ctx sha256;
};

void hash_begin(struct hasher *hasher);
void hash_add(struct hasher *hasher, const void *bytes, size_t n);
void hash_end(struct hasher *hasher, struct hash *ret);

/* All at once. */
void hash_of(const void *bytes, size_t n, struct hash *ret);

/* The last eight bytes of MD5, as a number: what Prometheus' hashmod divides. Others can
 * make two inputs with one result. */
uint64_t hash_md5_tail(const void *bytes, size_t n);

#endif
