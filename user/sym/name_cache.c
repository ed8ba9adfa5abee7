// SPDX-License-Identifier: BSD-2-Clause
#include "sym/name_cache.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/intern.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

#define NAME_CACHE_PLACES_MAX (1u << 20)
#define NAME_CACHE_BYTES_MAX  (32u << 20)
/* Windows in which a place was not met: it is let go; later while they take little. */
#define CACHE_ROUNDS	    6
#define CACHE_ROUNDS_LITTLE 30
#define CACHE_BYTES_LITTLE  (4u << 20)
#define DEBUG_ROUNDS	    6 /* until debug files are looked for again */

struct cached {
	struct name_place place;
	struct cached *next; /* of the same hash */
	uint64_t hash;
	uint32_t round; /* in which it was last met */
	enum name_origin origin;
	uint32_t n_places;
	size_t n;
	char text[]; /* the name, then of each place its line, name and file */
};

struct name_cache {
	struct hmap by_hash;
	struct hmap without_debug; /* serials, of a few rounds; values say nothing */
	uint32_t round;
	struct name_cache_counts counts;
	struct str text; /* of one that is being made */
	VEC(struct names_location) places;
};

static void free_chain(struct cached *one)
{
	for (struct cached *next; one; one = next) {
		next = one->next;
		free(one);
	}
}

static void forget_without_debug(struct name_cache *cache)
{
	hmap_free(&cache->without_debug);
	cache->without_debug = (struct hmap){ 0 };
}

void name_cache_clear(struct name_cache *cache)
{
	struct cached *one;

	for (size_t i = 0; (one = hmap_next(&cache->by_hash, &i));)
		free_chain(one);
	hmap_free(&cache->by_hash);
	cache->by_hash = (struct hmap){ 0 };
	forget_without_debug(cache);
	cache->counts.places = cache->counts.bytes = 0;
}

void name_cache_free(struct name_cache *cache)
{
	if (!cache)
		return;
	name_cache_clear(cache);
	str_free(&cache->text);
	vec_free(&cache->places);
	free(cache);
}

int name_cache_new(struct name_cache **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for names");
}

static struct cached *find(const struct name_cache *cache, const struct name_place *place)
{
	struct cached *one = hmap_get(&cache->by_hash, hash_bytes(place, sizeof(*place)));

	while (one && memcmp(&one->place, place, sizeof(*place)) != 0)
		one = one->next;
	return one;
}

static const char *next_string(const char **at)
{
	const char *string = *at;

	*at += strlen(string) + 1;
	return string;
}

static int set_locations(struct name_cache *cache, const struct cached *one,
			 const char *text, struct names *names, uint32_t frame)
{
	int err = 0;

	cache->places.n = 0;
	for (uint32_t i = 0; !err && i < one->n_places; i++) {
		struct names_location place;

		memcpy(&place.line, text, sizeof(place.line));
		text += sizeof(place.line);
		place.name = next_string(&text);
		place.file = next_string(&text);
		err = vec_push(&cache->places, place);
	}
	return err ? err
		   : names_set_locations(names, frame, cache->places.items,
					 one->n_places);
}

int name_cache_recall(struct name_cache *cache, const struct name_place *place,
		      struct names *names, uint32_t frame, bool *ret)
{
	struct cached *one = find(cache, place);
	const char *text, *name;
	int err = 0;

	*ret = one;
	if (!one)
		return 0;
	one->round = cache->round;
	text = one->text;
	name = next_string(&text);
	names_set_origin(names, one->origin);
	if (*name)
		err = names_set(names, frame, name);
	if (!err && one->n_places)
		err = set_locations(cache, one, text, names, frame);
	return err;
}

/* All of a frame's names, as struct cached has them. */
static int put_together(struct str *text, const struct names *names, uint32_t frame)
{
	const char *name = names_get(names, frame);

	str_clear(text);
	str_add(text, name ? name : "");
	str_add_char(text, '\0');
	for (size_t i = 0; i < names_n_locations(names, frame); i++) {
		const struct names_location place = names_location(names, frame, i);

		str_add_bytes(text, &place.line, sizeof(place.line));
		str_add_bytes(text, place.name, strlen(place.name) + 1);
		str_add_bytes(text, place.file, strlen(place.file) + 1);
	}
	return str_error(text);
}

int name_cache_keep(struct name_cache *cache, const struct name_place *place,
		    const struct names *names, uint32_t frame)
{
	uint64_t hash = hash_bytes(place, sizeof(*place));
	struct cached *one;
	size_t bytes;
	int err;

	if (find(cache, place))
		return 0;
	err = put_together(&cache->text, names, frame);
	if (err)
		return err;
	bytes = sizeof(*one) + cache->text.n;
	if (cache->counts.places >= NAME_CACHE_PLACES_MAX ||
	    bytes > NAME_CACHE_BYTES_MAX - cache->counts.bytes) {
		cache->counts.refused++;
		return 0;
	}
	one = malloc(bytes);
	if (!one)
		return fail(-ENOMEM, "no memory for names");
	*one = (struct cached){ .place = *place,
				.next = hmap_get(&cache->by_hash, hash),
				.hash = hash,
				.round = cache->round,
				.origin = names_origin(names, frame),
				.n_places = (uint32_t)names_n_locations(names, frame),
				.n = cache->text.n };
	memcpy(one->text, cache->text.s, cache->text.n);
	err = hmap_put(&cache->by_hash, hash, one);
	if (err) {
		free(one);
		return err;
	}
	cache->counts.places++;
	cache->counts.bytes += bytes;
	return 0;
}

/* Which ones go: the old ones, or those of a module that no symbol named. */
struct removal {
	uint32_t round, age_max;
	bool is_by_age;
	uint64_t serial;
};

static bool goes(const struct removal *removal, const struct cached *one)
{
	if (removal->is_by_age)
		return removal->round - one->round > removal->age_max;
	return one->place.serial == removal->serial &&
	       (one->origin == NAME_ORIGIN_NONE || one->origin == NAME_ORIGIN_START);
}

/* Takes them out of a chain; returns what is left of it. */
static struct cached *let_go(struct name_cache *cache, const struct removal *removal,
			     struct cached *one)
{
	struct cached *left = NULL;

	for (struct cached *next; one; one = next) {
		next = one->next;
		if (!goes(removal, one)) {
			one->next = left;
			left = one;
			continue;
		}
		cache->counts.places--;
		cache->counts.bytes -= sizeof(*one) + one->n;
		free(one);
	}
	return left;
}

static bool has_any(const struct removal *removal, const struct cached *one)
{
	while (one && !goes(removal, one))
		one = one->next;
	return one;
}

static void remove_all(struct name_cache *cache, const struct removal *removal)
{
	VEC(uint64_t) hashes = { 0 };
	struct cached *one;

	for (size_t i = 0; (one = hmap_next(&cache->by_hash, &i));)
		if (has_any(removal, one) && vec_push(&hashes, one->hash)) {
			error_clear(); /* the rest goes with the next turn */
			break;
		}
	for (size_t i = 0; i < hashes.n; i++) {
		one = let_go(cache, removal,
			     hmap_remove(&cache->by_hash, hashes.items[i]));
		if (one) /* into the slot that it left */
			hmap_put(&cache->by_hash, one->hash, one);
	}
	vec_free(&hashes);
}

int name_cache_set_no_debug(struct name_cache *cache, uint64_t serial)
{
	return hmap_put(&cache->without_debug, serial, cache);
}

bool name_cache_has_no_debug(const struct name_cache *cache, uint64_t serial)
{
	return hmap_get(&cache->without_debug, serial);
}

void name_cache_turn(struct name_cache *cache)
{
	struct removal removal = { .is_by_age = true };

	if (++cache->round % DEBUG_ROUNDS == 0)
		forget_without_debug(cache);
	removal.round = cache->round;
	removal.age_max = cache->counts.bytes <= CACHE_BYTES_LITTLE ? CACHE_ROUNDS_LITTLE
								    : CACHE_ROUNDS;
	remove_all(cache, &removal);
}

void name_cache_forget(struct name_cache *cache, uint64_t serial)
{
	hmap_remove(&cache->without_debug, serial);
	remove_all(cache, &(struct removal){ .serial = serial });
}

struct name_cache_counts name_cache_counts(const struct name_cache *cache)
{
	return cache->counts;
}
