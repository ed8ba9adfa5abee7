// SPDX-License-Identifier: BSD-2-Clause
#include "sym/debug_servers.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

#define WISHES_MAX	 4096
#define DAY_NS		 (24 * 3600 * SECOND_NS) /* until a build is asked for again */
#define SOON_NS		 (600 * SECOND_NS)	 /* the same of servers that failed */
#define PATH_SHOWN_BYTES 128

/* A build that was asked for. */
struct wish {
	struct build_id id;
	bool is_answered, has_arrived;
	uint64_t next_ns; /* it is not asked for earlier */
	char path[PATH_SHOWN_BYTES];
};

#define NO_WISH SIZE_MAX

struct debug_servers {
	struct debug_servers_config config;
	struct debuginfod *debuginfod;
	struct debug_cache *cache; /* NULL: none */
	VEC(struct wish) wishes;
	size_t under_way; /* a wish, or NO_WISH */
	int fd;		  /* its file, which is being kept; -1: still asked for */
	size_t n_arrived; /* and not told */
};

int debug_servers_new(struct debug_servers **ret,
		      const struct debug_servers_config *config)
{
	AUTO(debug_servers) servers = calloc(1, sizeof(*servers));
	int err;

	if (!servers)
		return fail(-ENOMEM, "no memory for debug files");
	servers->config = *config;
	servers->fd = -1;
	servers->under_way = NO_WISH;
	err = debuginfod_new(&servers->debuginfod,
			     &(struct debuginfod_config){ .urls = config->urls,
							  .is_patient = config->is_later,
							  .progress = config->progress });
	if (!err)
		err = debug_cache_new(&servers->cache, config->cache);
	if (!err && config->is_later && !servers->cache)
		err = fail(-ENOENT, "no folder to keep debug files in");
	if (err)
		return err;
	*ret = GIVE(servers);
	return 0;
}

void debug_servers_free(struct debug_servers *servers)
{
	if (!servers)
		return;
	debug_cache_free(servers->cache);
	debuginfod_free(servers->debuginfod);
	if (servers->fd >= 0)
		close(servers->fd);
	vec_free(&servers->wishes);
	free(servers);
}

/* The wish for this build, or a place for one: NO_WISH if there are too many. */
static size_t find_wish(struct debug_servers *servers, const struct build_id *id,
			uint64_t now)
{
	size_t place = NO_WISH;

	for (size_t i = 0; i < servers->wishes.n; i++) {
		const struct wish *wish = &servers->wishes.items[i];

		if (build_id_is_same(&wish->id, id))
			return i;
		if (wish->is_answered && !wish->has_arrived && wish->next_ns <= now)
			place = i;
	}
	if (place != NO_WISH || servers->wishes.n >= WISHES_MAX)
		return place;
	if (vec_push(&servers->wishes, (struct wish){ .is_answered = true })) {
		error_clear();
		return NO_WISH;
	}
	return servers->wishes.n - 1;
}

static void wish_for(struct debug_servers *servers, const struct build_id *id,
		     const char *path)
{
	uint64_t now = clock_now_ns();
	size_t i = find_wish(servers, id, now);
	struct wish *wish;

	if (i == NO_WISH)
		return;
	wish = &servers->wishes.items[i];
	if (!wish->is_answered || wish->has_arrived || wish->next_ns > now)
		return;
	*wish = (struct wish){ .id = *id };
	str_clean(wish->path, sizeof(wish->path), path, strlen(path));
}

int debug_servers_get(struct debug_servers *servers, const struct build_id *id,
		      const char *path)
{
	int fd;

	if (!build_id_is_there(id))
		return -1;
	fd = debug_cache_open(servers->cache, id);
	if (fd >= 0)
		return fd;
	if (!servers->config.is_later)
		return debuginfod_get(servers->debuginfod, id, path);
	wish_for(servers, id, path);
	return -1;
}

void debug_servers_judge(struct debug_servers *servers, const struct build_id *id, int fd,
			 bool is_right)
{
	int kept = debug_cache_open(servers->cache, id);

	if (!is_right)
		debug_cache_drop(servers->cache, id);
	else if (kept < 0 && !servers->config.is_later)
		debug_cache_keep(servers->cache, id, fd);
	if (kept >= 0)
		close(kept);
}

/* There is an answer to what is under way, or none for now. */
static void answered(struct debug_servers *servers, bool is_sure)
{
	struct wish *wish = &servers->wishes.items[servers->under_way];

	wish->is_answered = is_sure;
	wish->next_ns = clock_now_ns() + (is_sure ? DAY_NS : SOON_NS);
	servers->under_way = NO_WISH;
	if (servers->fd >= 0)
		close(GIVE_FD(servers->fd));
}

static void begin_next(struct debug_servers *servers)
{
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < servers->wishes.n; i++) {
		const struct wish *wish = &servers->wishes.items[i];

		if (wish->is_answered || wish->next_ns > now)
			continue;
		servers->under_way = i;
		if (debuginfod_begin(servers->debuginfod, &wish->id, wish->path))
			answered(servers, true);
		return;
	}
}

static void step_request(struct debug_servers *servers)
{
	const struct wish *wish = &servers->wishes.items[servers->under_way];
	int state = debuginfod_step(servers->debuginfod, 0, &servers->fd);

	if (state == DEBUGINFOD_RUNS)
		return;
	if (servers->fd < 0)
		answered(servers, state == DEBUGINFOD_DONE);
	else if (debug_cache_begin(servers->cache, &wish->id, servers->fd)) {
		log_warn("the debug file of %s is not kept: %s", wish->path,
			 error_sentence());
		answered(servers, true);
	}
}

static void step_copy(struct debug_servers *servers)
{
	struct wish *wish = &servers->wishes.items[servers->under_way];
	int err = debug_cache_step(servers->cache);

	if (err == DEBUG_CACHE_MORE)
		return;
	if (err) {
		log_warn("the debug file of %s is not kept: %s", wish->path,
			 error_sentence());
	} else {
		log_verbose("the debug file of %s has come", wish->path);
		wish->has_arrived = true;
		servers->n_arrived++;
	}
	answered(servers, true);
}

void debug_servers_step(struct debug_servers *servers)
{
	if (!servers->config.is_later)
		return;
	if (servers->under_way == NO_WISH)
		begin_next(servers);
	else if (servers->fd < 0)
		step_request(servers);
	else
		step_copy(servers);
	error_clear();
}

bool debug_servers_arrived(struct debug_servers *servers, struct build_id *ret)
{
	for (size_t i = 0; servers->n_arrived && i < servers->wishes.n; i++) {
		struct wish *wish = &servers->wishes.items[i];

		if (!wish->has_arrived)
			continue;
		wish->has_arrived = false;
		servers->n_arrived--;
		*ret = wish->id;
		return true;
	}
	return false;
}

struct debuginfod_counts debug_servers_counts(const struct debug_servers *servers)
{
	return debuginfod_counts(servers->debuginfod);
}
