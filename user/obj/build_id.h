/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of a build, by which its debug file is found. Anybody can forge one. */
#ifndef WEFT_OBJ_BUILD_ID_H
#define WEFT_OBJ_BUILD_ID_H

#include "obj/elf_scan.h"

#include <stdio.h>
#include <string.h>

#define BUILD_ID_HEX (2 * BUILD_ID_MAX + 1)

struct build_id {
	uint32_t bytes; /* below 2: there is none */
	uint8_t id[BUILD_ID_MAX];
};

static inline struct build_id build_id_of(const struct elf_info *info)
{
	struct build_id ret = { 0 };

	if (info && info->build_id_bytes <= BUILD_ID_MAX) {
		ret.bytes = info->build_id_bytes;
		memcpy(ret.id, info->build_id, ret.bytes);
	}
	return ret;
}

static inline bool build_id_is_there(const struct build_id *id)
{
	return id->bytes >= 2 && id->bytes <= BUILD_ID_MAX;
}

static inline bool build_id_is_same(const struct build_id *a, const struct build_id *b)
{
	return a->bytes == b->bytes && !memcmp(a->id, b->id, a->bytes);
}

static inline const char *build_id_hex(const struct build_id *id, char ret[BUILD_ID_HEX])
{
	*ret = '\0';
	for (uint32_t i = 0; i < id->bytes && i < BUILD_ID_MAX; i++)
		snprintf(ret + (size_t)2 * i, 3, "%02x", id->id[i]);
	return ret;
}

static inline uint8_t build_id_digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Of what build_id_hex() makes; of other text: none. */
static inline struct build_id build_id_parse(const char *text)
{
	size_t n = strlen(text);
	struct build_id ret = { 0 };

	if (n % 2 || n / 2 > BUILD_ID_MAX || strspn(text, "0123456789abcdef") != n)
		return ret;
	for (; ret.bytes < n / 2; text += 2)
		ret.id[ret.bytes++] =
			(uint8_t)(build_id_digit(text[0]) << 4 | build_id_digit(text[1]));
	return ret;
}

#endif
