// SPDX-License-Identifier: BSD-2-Clause
#include "agent/lottery.h"

#include "base/hash.h"

#include <string.h>

static uint64_t first_word(const struct hash *hash)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word = word << 8 | hash->bytes[i];
	return word;
}

void lottery_begin(struct lottery *lottery, unsigned int share_ppm,
		   const char *machine_id, const char *host_name)
{
	struct hasher hasher;
	struct hash hash;

	hash_begin(&hasher);
	hash_add(&hasher, machine_id, strlen(machine_id) + 1);
	hash_add(&hasher, host_name, strlen(host_name) + 1);
	hash_end(&hasher, &hash);
	*lottery = (struct lottery){ first_word(&hash), share_ppm };
}

uint64_t lottery_hour(const struct lottery *lottery, uint64_t unix_s,
		      unsigned int *ret_left_s)
{
	uint64_t s = unix_s + lottery->host % LOTTERY_HOUR_S;

	*ret_left_s = LOTTERY_HOUR_S - s % LOTTERY_HOUR_S;
	return s / LOTTERY_HOUR_S;
}

bool lottery_wins(const struct lottery *lottery, uint64_t hour)
{
	const uint64_t drawn[2] = { lottery->host, hour };
	struct hash hash;

	if (lottery->share_ppm >= LOTTERY_ALL)
		return true;
	hash_of(drawn, sizeof(drawn), &hash);
	return (first_word(&hash) >> 32) * LOTTERY_ALL < (uint64_t)lottery->share_ppm
								 << 32;
}
