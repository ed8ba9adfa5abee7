/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-256 beside coreutils' sha256sum, around every size at which something begins
 * anew: a block, and what others hash at once.
 */
#include "base/hash.h"

#include "elf_files.h"

#define BYTES_MAX 300000

static uint8_t bytes[BYTES_MAX];

static void put_hex(const struct hash *hash, char ret[65])
{
	for (int i = 0; i < 32; i++)
		sprintf(ret + 2 * i, "%02x", hash->bytes[i]);
}

static void by_sha256sum(size_t n, char ret[65])
{
	FILE *f;

	write_file("bytes", bytes, n);
	f = popen("sha256sum bytes", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%64s", ret), 1);
	pclose(f);
}

/* All at once, and in pieces of any size. */
static void check(size_t n)
{
	char expected[65], hex[65];
	struct hasher hasher;
	struct hash hash;

	by_sha256sum(n, expected);
	hash_of(bytes, n, &hash);
	put_hex(&hash, hex);
	assert_string_equal(hex, expected);
	for (size_t seed = 1; seed < 4; seed++) {
		size_t step = seed * 3001 % 5003;

		hash_begin(&hasher);
		for (size_t at = 0, some; at < n; at += some) {
			step = (step * 31 + 7) % (seed == 1 ? 130 : 9001);
			some = step < n - at ? step : n - at;
			hash_add(&hasher, bytes + at, some);
		}
		hash_end(&hasher, &hash);
		put_hex(&hash, hex);
		assert_string_equal(hex, expected);
	}
}

static void is_what_coreutils_say(void **state)
{
	const size_t edges[] = { 0,    55,   64,   128,	  1024,	 2048,	3072,
				 4096, 5120, 8192, 12288, 16384, 65536, 262144 };

	if (!has_tool("sha256sum"))
		skip();
	for (size_t i = 0; i < BYTES_MAX; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		for (size_t n = edges[i] ? edges[i] - 1 : 0; n <= edges[i] + 1; n++)
			check(n);
	check(31744);
	check(102400);
	check(BYTES_MAX);
}

/* Where there is no sha256sum: two of which everybody knows the hash. */
static void knows_the_known(void **state)
{
	struct hash hash;
	char hex[65];

	hash_of("", 0, &hash);
	put_hex(&hash, hex);
	assert_string_equal(
		hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hash_of("abc", 3, &hash);
	put_hex(&hash, hex);
	assert_string_equal(
		hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_coreutils_say),
		cmocka_unit_test(knows_the_known),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
