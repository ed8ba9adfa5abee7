// SPDX-License-Identifier: BSD-2-Clause
#include "base/hash.h"

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
