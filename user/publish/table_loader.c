// SPDX-License-Identifier: BSD-2-Clause
#include "publish/table_loader.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hmap.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* To read a table may take a disk's time, in which nobody reads the rings. While it is
 * started, nothing else is to do; later no program with many files is to have it all. */
#define RECALLED_MAX   32
#define RECALL_PACE_NS 50000000ULL

#define LARGE_FILE_BYTES (8 << 20) /* of a file whose table takes longer than a tick */

/* A table on its way. Its file's ends are hashed; then what the entry that was
 * found by them is of; then it is made. */
struct request {
	uint64_t cookie;
	struct worker *worker;
	int fd; /* -1 while the worker has it */
	bool keep, knows_ends;
	struct hash ends;
	struct file_stamp stamp;     /* before anything was read of it */
	struct cache_writer *writer; /* of the table that is being made, if it is kept */
};

struct table_loader {
	struct worker *worker, *large_file_worker;
	struct cache *cache;
	struct table_sink sink;
	struct hmap requests; /* by 1 + cookie */
	bool is_paced;
	uint64_t paced_ns; /* since when n_recalled counts */
	unsigned int n_recalled;
	unsigned long made;
};

static void request_free(struct request *request)
{
	if (!request)
		return;
	if (request->fd >= 0)
		close(request->fd);
	cache_writer_free(request->writer);
	free(request);
}
DEFINE_FREEP(request)

static struct request *get_request(const struct table_loader *loader, uint64_t cookie)
{
	return hmap_get(&loader->requests, cookie + 1);
}

void table_loader_free(struct table_loader *loader)
{
	struct request *request;

	if (!loader)
		return;
	for (size_t i = 0; (request = hmap_next(&loader->requests, &i));)
		request_free(request);
	hmap_free(&loader->requests);
	free(loader);
}

static void finish(struct table_loader *loader, struct request *request, int err,
		   const struct table_answer *answer)
{
	uint64_t cookie = request->cookie;

	request_free(hmap_remove(&loader->requests, cookie + 1));
	loader->sink.done(loader->sink.arg, cookie, err, answer);
}

static void give_up(struct table_loader *loader, struct request *request, int err)
{
	static const struct table_answer nothing;

	error_clear();
	finish(loader, request, err, &nothing);
}

static int hash_ranges(struct request *request, const struct byte_ranges *list)
{
	return worker_submit_hash(request->worker, GIVE_FD(request->fd), request->cookie,
				  list);
}

static void make(struct table_loader *loader, struct request *request)
{
	int err = worker_submit_recorded_table(request->worker, GIVE_FD(request->fd),
					       request->cookie);

	if (err)
		give_up(loader, request, err);
}

/* The ends are known: is there an entry that would fit? */
static void prove(struct table_loader *loader, struct request *request)
{
	AUTO_FREE struct byte_ranges *list = cache_find(loader->cache, &request->ends);
	int err;

	if (!list) {
		make(loader, request);
		return;
	}
	err = hash_ranges(request, list);
	if (err)
		give_up(loader, request, err);
}

/* Who gets a table that comes out of the cache. */
struct addressee {
	const struct table_sink *sink;
	uint64_t cookie;
};

static void deliver_pages(void *arg, uint32_t first, const union unwind_page *pages,
			  uint32_t n)
{
	const struct addressee *to = arg;

	to->sink->pages(to->sink->arg, to->cookie, first, pages, n);
}

static void deliver_rest(struct table_loader *loader, struct request *request,
			 const struct cached_table *table)
{
	const struct table_answer answer = { .head = table->head, .stats = table->stats };

	finish(loader, request, 0, &answer);
}

/* Does the cache have the table of a file with these bytes? */
static bool load(struct table_loader *loader, struct request *request,
		 const struct hash *hash)
{
	struct addressee to = { &loader->sink, request->cookie };
	const struct entry_sink sink = { deliver_pages, &to };
	const struct known_file file = { request->stamp, request->ends, *hash };
	struct cached_table table;

	if (!cache_load(loader->cache, &file, &sink, &table))
		return false;
	cache_remember(loader->cache, request->fd, &file);
	deliver_rest(loader, request, &table);
	return true;
}

/* Or of a file that was not changed since this was known? */
static bool recall(struct table_loader *loader, struct request *request)
{
	struct addressee to = { &loader->sink, request->cookie };
	const struct entry_sink sink = { deliver_pages, &to };
	struct cached_table table;

	if (!cache_recall(loader->cache, request->fd, &sink, &request->stamp, &table))
		return false;
	deliver_rest(loader, request, &table);
	return true;
}

static void on_hashed(void *arg, uint64_t cookie, int err, const struct hash *hash,
		      int fd)
{
	struct table_loader *loader = arg;
	struct request *request = get_request(loader, cookie);

	if (!request) {
		close(fd);
		return;
	}
	request->fd = fd;
	if (err) {
		make(loader, request);
	} else if (!request->knows_ends) {
		request->knows_ends = true;
		request->ends = *hash;
		prove(loader, request);
	} else if (!load(loader, request, hash)) {
		make(loader, request);
	}
}

/* It may begin anew, with another parser. */
static void keep(struct table_loader *loader, struct request *request, uint32_t first,
		 const union unwind_page *pages, uint32_t n)
{
	if (!first) {
		cache_writer_free(GIVE(request->writer));
		request->writer =
			cache_begin(loader->cache, &request->ends, pages[0].head.n_pages);
	}
	cache_add(loader->cache, request->writer, pages, n);
}

static void on_pages(void *arg, uint64_t cookie, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
	struct table_loader *loader = arg;
	struct request *request = get_request(loader, cookie);

	if (!request)
		return;
	/* first who waits for it */
	loader->sink.pages(loader->sink.arg, cookie, first, pages, n);
	if (loader->cache && request->knows_ends)
		keep(loader, request, first, pages, n);
}

static void on_done(void *arg, uint64_t cookie, int err,
		    const struct table_answer *answer)
{
	struct table_loader *loader = arg;
	struct request *request = get_request(loader, cookie);

	if (!request)
		return;
	loader->made += !err;
	if (!err && request->writer)
		cache_keep(loader->cache, GIVE(request->writer),
			   &(struct cache_new_table){
				   .stats = &answer->stats,
				   .byte_ranges = answer->byte_ranges,
				   .hash = &answer->hash,
			   });
	finish(loader, request, err, answer);
}

static void on_took(void *arg, uint64_t cookie, uint64_t cpu_ns)
{
	struct table_loader *loader = arg;

	if (loader->sink.took)
		loader->sink.took(loader->sink.arg, cookie, cpu_ns);
}

static bool is_behind(void *arg, uint64_t cookie)
{
	struct table_loader *loader = arg;

	return loader->sink.is_behind && loader->sink.is_behind(loader->sink.arg, cookie);
}

int table_loader_new(struct table_loader **ret, struct worker *worker,
		     struct worker *large_file_worker, struct cache *cache,
		     const struct table_sink *sink)
{
	struct table_loader *loader = calloc(1, sizeof(*loader));
	struct table_sink own = {
		loader, on_pages, on_done, on_hashed, on_took, is_behind
	};

	if (!loader)
		return fail(-ENOMEM, "no memory for the unwind tables");
	loader->worker = worker;
	loader->large_file_worker = large_file_worker ? large_file_worker : worker;
	loader->cache = cache;
	loader->sink = *sink;
	worker_set_table_sink(worker, &own);
	worker_set_table_sink(loader->large_file_worker, &own);
	*ret = loader;
	return 0;
}

bool lookup_is_large(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_size > LARGE_FILE_BYTES;
}

void table_loader_start(struct table_loader *loader)
{
	loader->is_paced = true;
}

static bool may_recall(struct table_loader *loader)
{
	uint64_t now;

	if (!loader->cache || !loader->is_paced)
		return loader->cache;
	now = clock_now_ns();
	if (now - loader->paced_ns >= RECALL_PACE_NS) {
		loader->paced_ns = now;
		loader->n_recalled = 0;
	}
	return loader->n_recalled++ < RECALLED_MAX;
}

static int submit(struct table_loader *loader, struct request *request)
{
	struct byte_ranges ends;
	struct stat st;

	if (request->keep && may_recall(loader) && recall(loader, request))
		return 0;
	if (fstat(request->fd, &st))
		return fail_errno(-errno, "cannot stat a file");
	request->worker = st.st_size > LARGE_FILE_BYTES ? loader->large_file_worker
							: loader->worker;
	if (!loader->cache || !request->keep)
		return worker_submit_table(request->worker, GIVE_FD(request->fd),
					   request->cookie);
	byte_ranges_of_ends(&ends, (uint64_t)st.st_size);
	return hash_ranges(request, &ends);
}

int table_loader_begin(struct table_loader *loader, int fd, uint64_t cookie, bool keep)
{
	AUTO(request) request = calloc(1, sizeof(*request));
	int err;

	if (!request) {
		close(fd);
		return fail(-ENOMEM, "no memory for an unwind table");
	}
	request->fd = fd;
	request->cookie = cookie;
	request->keep = keep;
	err = hmap_put(&loader->requests, cookie + 1, request);
	if (!err)
		err = submit(loader, request);
	if (err) {
		hmap_remove(&loader->requests, cookie + 1);
		return err;
	}
	GIVE(request); /* which may be answered, and freed, by now */
	return 0;
}

void table_loader_count(const struct table_loader *loader,
			struct table_loader_counts *ret)
{
	*ret = (struct table_loader_counts){ .made = loader->made };
	if (loader->cache)
		cache_count(loader->cache, &ret->cache);
}
