/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BLAKE3 beside b3sum, the authors' own program, around every size at which
 * something begins anew: a block, a chunk, four of them, levels of the tree.
 */
#include "base/blake3.h"

#include "elf_files.h"

#define BYTES_MAX 300000

static uint8_t bytes[BYTES_MAX];

static void put_hex(const struct hash *hash, char ret[65])
{
	for (int i = 0; i < 32; i++)
		sprintf(ret + 2 * i, "%02x", hash->bytes[i]);
}

static void b3sum(size_t n, char ret[65])
{
	FILE *f;

	write_file("bytes", bytes, n);
	f = popen("b3sum --no-names bytes", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%64s", ret), 1);
	pclose(f);
}

/* All at once, and in pieces of any size. */
static void check(size_t n)
{
	char expected[65], hex[65];
	struct blake3 blake3;
	struct hash hash;

	b3sum(n, expected);
	blake3_of(bytes, n, &hash);
	put_hex(&hash, hex);
	assert_string_equal(hex, expected);
	for (size_t seed = 1; seed < 4; seed++) {
		size_t step = seed * 3001 % 5003;

		blake3_begin(&blake3);
		for (size_t at = 0, some; at < n; at += some) {
			step = (step * 31 + 7) % (seed == 1 ? 130 : 9001);
			some = step < n - at ? step : n - at;
			blake3_add(&blake3, bytes + at, some);
		}
		blake3_end(&blake3, &hash);
		put_hex(&hash, hex);
		assert_string_equal(hex, expected);
	}
}

static void is_what_its_authors_say(void **state)
{
	const size_t edges[] = { 0,    64,   128,   1024,  2048,  3072,	 4096,
				 5120, 8192, 12288, 16384, 65536, 262144 };

	if (!has_tool("b3sum"))
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

/* Where there is no b3sum: two of which everybody knows the hash. */
static void knows_the_known(void **state)
{
	struct hash hash;
	char hex[65];

	blake3_of("", 0, &hash);
	put_hex(&hash, hex);
	assert_string_equal(
		hex, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
	blake3_of("abc", 3, &hash);
	put_hex(&hash, hex);
	assert_string_equal(
		hex, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_its_authors_say),
		cmocka_unit_test(knows_the_known),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
