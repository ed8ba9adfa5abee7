/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 as FIPS 180-4 gives it, over bytes that are all there at once. */
#ifndef DEMO_SHA256_H
#define DEMO_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

void sha256(uint8_t ret[SHA256_BYTES], const void *bytes, size_t n);

#endif
