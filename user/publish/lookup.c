// SPDX-License-Identifier: BSD-2-Clause
#include "publish/lookup.h"

#include "base/error.h"
#include "base/hmap.h"
#include "unwind/entry.h"
#include "unwind/pack.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGES_AT_ONCE 64
#define HEAVY_BYTES   (8 << 20) /* of a file whose table takes longer than a tick */

/* A table on its way. Its file's ends are hashed; then what the entry that was
 * found by them is of; then it is made. */
struct request {
	uint64_t cookie;
	struct worker *worker;
	int fd; /* -1 while the worker has it */
	bool knows_ends;
	struct hash ends;
	struct packer *packer; /* of the table that is being made, if it is to be kept */
};

struct lookup {
	struct worker *worker, *heavy;
	struct cache *cache;
	struct table_sink sink;
	struct hmap requests; /* by 1 + cookie */
	unsigned long made;
};

static void request_free(struct request *request)
{
	if (!request)
		return;
	if (request->fd >= 0)
		close(request->fd);
	packer_free(request->packer);
	free(request);
}
DEFINE_FREEP(request)

static struct request *get_request(const struct lookup *lookup, uint64_t cookie)
{
	return hmap_get(&lookup->requests, cookie + 1);
}

void lookup_free(struct lookup *lookup)
{
	struct request *request;

	if (!lookup)
		return;
	for (size_t i = 0; (request = hmap_next(&lookup->requests, &i));)
		request_free(request);
	hmap_free(&lookup->requests);
	free(lookup);
}

static void finish(struct lookup *lookup, struct request *request, int err,
		   const struct table_answer *answer)
{
	uint64_t cookie = request->cookie;

	request_free(hmap_remove(&lookup->requests, cookie + 1));
	lookup->sink.done(lookup->sink.arg, cookie, err, answer);
}

static void give_up(struct lookup *lookup, struct request *request, int err)
{
	static const struct table_answer nothing;

	error_clear();
	finish(lookup, request, err, &nothing);
}

static int hash_ranges(struct request *request, const struct read_list *list)
{
	return worker_submit_hash(request->worker, GIVE_FD(request->fd), request->cookie,
				  list);
}

static void make(struct lookup *lookup, struct request *request)
{
	int err = worker_submit_noted_table(request->worker, GIVE_FD(request->fd),
					    request->cookie);

	if (err)
		give_up(lookup, request, err);
}

/* The ends are known: is there an entry that would fit? */
static void prove(struct lookup *lookup, struct request *request)
{
	AUTO_FREE struct read_list *list = cache_find(lookup->cache, &request->ends);
	int err;

	if (!list) {
		make(lookup, request);
		return;
	}
	err = hash_ranges(request, list);
	if (err)
		give_up(lookup, request, err);
}

static void deliver(struct lookup *lookup, struct request *request,
		    const struct cached_table *table)
{
	const struct table_sink *sink = &lookup->sink;
	struct table_answer answer = {
		.head = table->pages[0].head,
		.stats = table->stats,
	};
	uint32_t n;

	for (uint32_t at = 0; at < table->n_pages; at += n) {
		n = table->n_pages - at;
		if (n > PAGES_AT_ONCE)
			n = PAGES_AT_ONCE;
		sink->pages(sink->arg, request->cookie, at, table->pages + at, n);
	}
	finish(lookup, request, 0, &answer);
}

static void on_hashed(void *arg, uint64_t cookie, int err, const struct hash *hash,
		      int fd)
{
	struct lookup *lookup = arg;
	struct request *request = get_request(lookup, cookie);
	struct cached_table table;

	if (!request) {
		close(fd);
		return;
	}
	request->fd = fd;
	if (err) {
		make(lookup, request);
	} else if (!request->knows_ends) {
		request->knows_ends = true;
		request->ends = *hash;
		prove(lookup, request);
	} else if (cache_load(lookup->cache, &request->ends, hash, &table)) {
		deliver(lookup, request, &table);
		free(table.pages);
	} else {
		make(lookup, request);
	}
}

static void pack(struct request *request, uint32_t first, const union unwind_page *pages,
		 uint32_t n)
{
	if (!first) {
		packer_free(GIVE(request->packer));
		if (packer_new(&request->packer, pages[0].head.n_pages, ENTRY_BYTES_MAX))
			error_clear();
	}
	if (request->packer)
		packer_add(request->packer, pages, n);
}

static void on_pages(void *arg, uint64_t cookie, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
	struct lookup *lookup = arg;
	struct request *request = get_request(lookup, cookie);

	if (!request)
		return;
	/* first who waits for it */
	lookup->sink.pages(lookup->sink.arg, cookie, first, pages, n);
	if (lookup->cache && request->knows_ends)
		pack(request, first, pages, n);
}

static void on_done(void *arg, uint64_t cookie, int err,
		    const struct table_answer *answer)
{
	struct lookup *lookup = arg;
	struct request *request = get_request(lookup, cookie);
	struct packer *packer;

	if (!request)
		return;
	lookup->made += !err;
	packer = request->packer;
	if (!err && lookup->cache && request->knows_ends)
		cache_keep(lookup->cache,
			   &(struct cache_new_table){
				   .ends = &request->ends,
				   .stats = &answer->stats,
				   .reads = answer->reads,
				   .hash = &answer->hash,
				   .n_pages = answer->head.n_pages,
				   .packed = packer ? packer_end(packer) : NULL,
			   });
	finish(lookup, request, err, answer);
}

int lookup_new(struct lookup **ret, struct worker *worker, struct worker *heavy,
	       struct cache *cache, const struct table_sink *sink)
{
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	struct table_sink own = { lookup, on_pages, on_done, on_hashed };

	if (!lookup)
		return fail(-ENOMEM, "no memory for the unwind tables");
	lookup->worker = worker;
	lookup->heavy = heavy ? heavy : worker;
	lookup->cache = cache;
	lookup->sink = *sink;
	worker_set_table_sink(worker, &own);
	worker_set_table_sink(lookup->heavy, &own);
	*ret = lookup;
	return 0;
}

static int submit(struct lookup *lookup, struct request *request)
{
	struct read_list ends;
	struct stat st;

	if (fstat(request->fd, &st))
		return fail_errno(-errno, "cannot look at a file");
	request->worker = st.st_size > HEAVY_BYTES ? lookup->heavy : lookup->worker;
	if (!lookup->cache)
		return worker_submit_table(request->worker, GIVE_FD(request->fd),
					   request->cookie);
	reads_of_ends(&ends, (uint64_t)st.st_size);
	return hash_ranges(request, &ends);
}

int lookup_begin(struct lookup *lookup, int fd, uint64_t cookie)
{
	AUTO(request) request = calloc(1, sizeof(*request));
	int err;

	if (!request) {
		close(fd);
		return fail(-ENOMEM, "no memory for an unwind table");
	}
	request->fd = fd;
	request->cookie = cookie;
	err = hmap_put(&lookup->requests, cookie + 1, request);
	if (!err)
		err = submit(lookup, request);
	if (err) {
		hmap_remove(&lookup->requests, cookie + 1);
		return err;
	}
	GIVE(request);
	return 0;
}

void lookup_count(const struct lookup *lookup, struct lookup_counts *ret)
{
	*ret = (struct lookup_counts){ .made = lookup->made };
	if (lookup->cache)
		cache_count(lookup->cache, &ret->cache);
}
