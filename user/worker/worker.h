/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parse worker: a process of our own, forked before anything privileged is
 * open, without capabilities, bounded in memory, that is handed open files and
 * reads them. A file that crashes or stalls it costs that file its names and a
 * count; the worker is started anew.
 */
#ifndef WEFT_WORKER_WORKER_H
#define WEFT_WORKER_WORKER_H

#include "base/cleanup.h"
#include "obj/byte_ranges.h"
#include "obj/elf_scan.h"
#include "obj/inlines.h"
#include "obj/names.h"
#include "unwind/unwind_table.h"

struct worker;

struct worker_counts {
	unsigned long requests;
	unsigned long failed;	/* files that could not be parsed */
	unsigned long restarts; /* crashes and missed deadlines */
};

int worker_new(struct worker **ret);

/* Its files may take 20 s instead of 5: 20 MB of code that nothing tells of are read in
 * 4, on a fast machine that does nothing else. */
void worker_be_patient(struct worker *worker);
void worker_free(struct worker *worker); /* ends the process; NULL is fine */
DEFINE_FREEP(worker)

/*
 * Queues a scan; fd is taken over (closed when done). Answers come through
 * worker_collect() with the cookie, in order.
 */
int worker_submit_scan(struct worker *worker, int fd, uint64_t cookie);

/* What the making of a table came to. */
struct table_answer {
	struct unwind_head head;
	struct unwind_stats stats;
	struct byte_ranges
		*byte_ranges; /* what it was made from; NULL: not asked, or not told */
	struct hash hash;     /* of that */
};

/*
 * Receives unwind tables. Pages come as they arrive, from within any call that
 * takes a worker; the first message begins with the head page, so that it tells
 * n_pages. done comes from worker_collect(), in order with the scans' answers,
 * also for a table of which some pages came and then an error. pages may not use
 * the worker; the others may submit more.
 */
struct table_sink {
	void *arg;

	/* Pages [first, first + n). */
	void (*pages)(void *arg, uint64_t cookie, uint32_t first,
		      const union unwind_page *pages, uint32_t n);

	/* err: as for a scan; -ENODATA: the file has no call frame information.
	 * answer: zero unless err is 0. */
	void (*done)(void *arg, uint64_t cookie, int err,
		     const struct table_answer *answer);

	/* The answer to worker_submit_hash(); comes as done does. The file is the
	 * sink's again. */
	void (*hashed)(void *arg, uint64_t cookie, int err, const struct hash *hash,
		       int fd);

	/* NULL, or told before each of these and before the answer to a scan: about how
	 * much CPU time that took. */
	void (*took)(void *arg, uint64_t cookie, uint64_t cpu_ns);

	/* NULL, or asked when something is submitted: shall it be read behind everybody
	 * else? It is given up soon once others wait for it. */
	bool (*is_behind)(void *arg, uint64_t cookie);
};

/* Before the first worker_submit_table(); sink is copied. */
void worker_set_table_sink(struct worker *worker, const struct table_sink *sink);

/* Queues the making of an unwind table; otherwise as worker_submit_scan(). */
int worker_submit_table(struct worker *worker, int fd, uint64_t cookie);

/* The same; the answer says what it was made from. */
int worker_submit_recorded_table(struct worker *worker, int fd, uint64_t cookie);

/* Queues the hashing of these ranges; the list is copied. */
int worker_submit_hash(struct worker *worker, int fd, uint64_t cookie,
		       const struct byte_ranges *list);

/* Readable when an answer may be there; -1 while none is due, since a worker
 * that died idle would be readable for ever. Changes when it restarts. */
int worker_fd(const struct worker *worker);

/* err: 0, or the scan's negative errno (-ETIMEDOUT, -EPIPE: it died of it). */
typedef void (*scan_sink)(void *arg, uint64_t cookie, int err,
			  const struct elf_info *info);

/*
 * Delivers what is there and sends what waits; returns how many scans and tables
 * are still under way, or a negative errno. wait_ms: how long to wait for all of
 * them; 0 does not block.
 */
int worker_collect(struct worker *worker, int wait_ms, scan_sink sink, void *arg);

/* What is under way is of no use any more: nobody waits for it, not even the next who
 * asks for names. Its sinks are told -ECANCELED by worker_collect(). */
void worker_drop_scans(struct worker *worker);

/* What its parser keeps of files is to take no memory any more: another one takes its
 * place, unless it reads something. 0 or a negative errno. */
int worker_let_go(struct worker *worker);

struct name_request {
	enum name_source source;
	int fd;		       /* borrowed */
	const uint64_t *addrs; /* n of them */
	size_t n;
	int deadline_ms;
};

/*
 * As the functions of obj/names.h, in the worker; blocks, at most until the
 * deadline. Scans that are under way are finished first. The sink must not use the
 * worker.
 */
int worker_names(struct worker *worker, const struct name_request *request,
		 name_sink sink, void *arg);

/* How much of its parsers' time worker_names() and worker_locations() took so far. */
uint64_t worker_names_ns(const struct worker *worker);

/* As elf_inlines() of obj/inlines.h, else as worker_names(). What came before a
 * deadline stays. */
int worker_locations(struct worker *worker, const struct name_request *request,
		     const struct inline_files *files, inline_sink sink, void *arg);

const struct worker_counts *worker_counts(const struct worker *worker);

#endif
