// SPDX-License-Identifier: BSD-2-Clause
#include "base/hash.h"

#include <nettle/md5.h>
#include <nettle/version.h>

void hash_begin(struct hasher *hasher)
{
	sha256_init(&hasher->sha256);
}

void hash_add(struct hasher *hasher, const void *bytes, size_t n)
{
	sha256_update(&hasher->sha256, n, bytes);
}

void hash_end(struct hasher *hasher, struct hash *ret)
{
#if NETTLE_VERSION_MAJOR >= 4 /* there the length is always the whole */
	sha256_digest(&hasher->sha256, ret->bytes);
#else
	sha256_digest(&hasher->sha256, sizeof(ret->bytes), ret->bytes);
#endif
}

void hash_of(const void *bytes, size_t n, struct hash *ret)
{
	struct hasher hasher;

	hash_begin(&hasher);
	hash_add(&hasher, bytes, n);
	hash_end(&hasher, ret);
}

uint64_t hash_md5_tail(const void *bytes, size_t n)
{
	uint8_t digest[MD5_DIGEST_SIZE];
	struct md5_ctx md5;
	uint64_t tail = 0;

	md5_init(&md5);
	md5_update(&md5, n, bytes);
#if NETTLE_VERSION_MAJOR >= 4
	md5_digest(&md5, digest);
#else
	md5_digest(&md5, sizeof(digest), digest);
#endif
	for (size_t i = sizeof(digest) - sizeof(tail); i < sizeof(digest); i++)
		tail = tail << 8 | digest[i];
	return tail;
}
