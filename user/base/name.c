// SPDX-License-Identifier: BSD-2-Clause
#include "base/name.h"

#include <string.h>

void name_add_mark(struct str *out, const struct hash *hash)
{
	str_add(out, "…#");
	for (int i = 0; i < 8; i++)
		str_addf(out, "%02x", hash->bytes[i]);
}

void name_add_head(struct str *out, const char *text, size_t n, const char *whole,
		   size_t n_whole)
{
	struct hash hash;

	hash_of(whole, strnlen(whole, n_whole), &hash);
	/* str_add_clean() ends before a character that is not whole */
	str_add_clean(out, text, n, NAME_HEAD_BYTES);
	name_add_mark(out, &hash);
}

void name_add(struct str *out, const char *name, size_t n)
{
	n = strnlen(name, n);
	if (n < NAME_BYTES_MAX)
		str_add_clean(out, name, n, n);
	else
		name_add_head(out, name, n, name, n);
}

void name_bound(struct str *out, size_t from)
{
	struct str head = { 0 };
	size_t n = out->n - from;

	if (out->failed || n < NAME_BYTES_MAX)
		return;
	name_add_head(&head, out->s + from, n, out->s + from, n);
	out->failed = head.failed;
	out->n = from;
	str_add_bytes(out, head.s, head.n);
	str_free(&head);
}
