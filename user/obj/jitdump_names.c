// SPDX-License-Identifier: BSD-2-Clause
/*
 * A question to a jitdump has a place and the times at which it was sampled first and
 * last. It has a name if one code lay there from before the first until after the last.
 * One pass over the records finds that code, a second one the names of codes that moved.
 *
 * A JIT may lay thousands of codes at one place, and be asked as often about it. So a
 * record is noted at one question for each place that it covers, the next one after it,
 * and those behind that inherit it when all were read.
 */
#include "obj/names.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "base/str.h"
#include "obj/demangle.h"
#include "obj/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTES_MAX     (1u << 26) /* notes: in a made-up dump all records cover all */
#define NAME_READ_MAX (64u << 10)
#define NEVER	      UINT64_MAX

/* The last of each place is nobody's, at the end of all times. */
struct question {
	uint64_t addr, first_ns, last_ns;
	size_t index;
	/* of the records between the question before and this one */
	uint64_t changed_ns;	    /* the first of them */
	struct jitdump_record code; /* the last one; then, what lay there; end: 0: none */
};

struct questions {
	struct question *items; /* by address and time */
	size_t n;
	size_t *places; /* where each address begins; one more at the end */
	size_t n_places;
	uint64_t work;
	uint64_t read_ns; /* no record that was read is later */
	bool is_cut;
};

static int by_addr_and_time(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

/* Each place's last one, behind the others; then all in their order. */
static void add_last_ones(struct questions *all)
{
	size_t n = all->n;

	qsort(all->items, n, sizeof(*all->items), by_addr_and_time);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || all->items[i + 1].addr != all->items[i].addr)
			all->items[all->n++] =
				(struct question){ .addr = all->items[i].addr,
						   .first_ns = NEVER,
						   .last_ns = NEVER,
						   .changed_ns = NEVER };
	qsort(all->items, all->n, sizeof(*all->items), by_addr_and_time);
	for (size_t i = 0; i < all->n; i++)
		if (!i || all->items[i - 1].addr != all->items[i].addr)
			all->places[all->n_places++] = i;
	all->places[all->n_places] = all->n;
}

static uint64_t before_never(uint64_t time_ns)
{
	return time_ns < NEVER ? time_ns : NEVER - 1;
}

static int take_questions(struct questions *all, const uint64_t *words, size_t n_words)
{
	size_t n = n_words / JITDUMP_QUESTION_WORDS;

	all->items = calloc(2 * n + 1, sizeof(*all->items));
	all->places = calloc(n + 1, sizeof(*all->places));
	if (!all->items || !all->places)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	for (; all->n < n; words += JITDUMP_QUESTION_WORDS) {
		uint64_t first = before_never(words[1]), last = before_never(words[2]);

		all->items[all->n] =
			(struct question){ .addr = words[0],
					   .first_ns = first,
					   .last_ns = last > first ? last : first,
					   .index = all->n * JITDUMP_QUESTION_WORDS,
					   .changed_ns = NEVER };
		all->n++;
	}
	add_last_ones(all);
	return 0;
}

static void free_questions(struct questions *all)
{
	free(all->items);
	free(all->places);
}

static void note(struct question *q, const struct jitdump_record *record)
{
	if (record->time_ns < q->changed_ns)
		q->changed_ns = record->time_ns;
	if (!q->code.end || record->time_ns >= q->code.time_ns)
		q->code = *record;
}

/* From its time on this lies at [start, end). Of one time, the one written later. */
static void lay(struct questions *all, const struct jitdump_record *record,
		uint64_t start, uint64_t end)
{
	const size_t *places = all->places;
	size_t i = LOWER_BOUND(all->n_places, k, all->items[places[k]].addr < start);

	for (; i < all->n_places && all->items[places[i]].addr < end; i++) {
		struct question *of_place = &all->items[places[i]];
		size_t n = places[i + 1] - places[i];

		if (all->work++ > NOTES_MAX) {
			all->is_cut = true;
			return;
		}
		n = LOWER_BOUND(n - 1, k, of_place[k].first_ns < record->time_ns);
		note(&of_place[n], record);
	}
}

/* From what was noted between the questions to what holds for each; one that is not sure
 * has no code. Behind what was read there may be more that changes it. */
static void settle(struct questions *all)
{
	uint64_t changes_ns = NEVER;

	for (size_t i = 1; i < all->n; i++)
		if (all->items[i - 1].addr == all->items[i].addr &&
		    !all->items[i].code.end)
			all->items[i].code = all->items[i - 1].code;
	for (size_t i = all->n; i-- > 0;) {
		struct question *q = &all->items[i];

		if (q->first_ns == NEVER) /* another place */
			changes_ns = NEVER;
		if (q->last_ns >= changes_ns || q->first_ns == NEVER ||
		    (all->is_cut && q->last_ns >= all->read_ns))
			q->code = (struct jitdump_record){ 0 };
		if (q->changed_ns < changes_ns)
			changes_ns = q->changed_ns;
	}
}

static int read_codes(struct questions *all, struct jitdump *dump)
{
	struct jitdump_record record;
	int more = 0;

	while (!all->is_cut && (more = jitdump_next(dump, &record)) > 0) {
		struct jitdump_record none = { .time_ns = record.time_ns,
					       .end = record.end };

		if (record.time_ns > all->read_ns)
			all->read_ns = record.time_ns;
		if (record.kind == JITDUMP_MOVE)
			lay(all, &none, record.old_start,
			    record.old_start + (record.end - record.start));
		lay(all, &record, record.start, record.end);
	}
	all->is_cut |= dump->is_cut;
	settle(all);
	return more < 0 ? more : 0;
}

static int by_code(const void *a, const void *b)
{
	const struct question *x = *(struct question *const *)a;
	const struct question *y = *(struct question *const *)b;

	return (x->code.code > y->code.code) - (x->code.code < y->code.code);
}

/* Codes that moved before they were sampled have their names where they were loaded. */
static void name_moved(struct questions *all, const struct jitdump_record *load,
		       struct question **moved, size_t n)
{
	size_t i = LOWER_BOUND(n, k, moved[k]->code.code < load->code);

	for (; i < n && moved[i]->code.code == load->code; i++) {
		if (all->work++ > NOTES_MAX)
			return;
		if (load->time_ns > moved[i]->code.time_ns)
			continue;
		moved[i]->code.name = load->name;
		moved[i]->code.name_room = load->name_room;
	}
}

static int find_moved(struct questions *all, struct jitdump *dump)
{
	AUTO_FREE struct question **moved = calloc(all->n + 1, sizeof(*moved));
	struct jitdump_record record;
	size_t n = 0;
	int more;

	if (!moved)
		return fail(-ENOMEM, "no memory for %zu addresses", all->n);
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].code.end && all->items[i].code.kind == JITDUMP_MOVE)
			moved[n++] = &all->items[i];
	if (!n)
		return 0;
	qsort(moved, n, sizeof(*moved), by_code);
	more = jitdump_open(dump, dump->fd);
	while (!more && (more = jitdump_next(dump, &record)) > 0) {
		if (record.kind == JITDUMP_LOAD)
			name_moved(all, &record, moved, n);
		more = 0;
		if (all->work > NOTES_MAX)
			break;
	}
	return more;
}

static int deliver(int fd, const struct question *q, name_sink sink, void *arg)
{
	size_t room =
		q->code.name_room < NAME_READ_MAX ? q->code.name_room : NAME_READ_MAX;
	AUTO_FREE char *raw = malloc(room + 1);
	AUTO_STR name = { 0 };
	ssize_t got;

	if (!raw)
		return fail(-ENOMEM, "no memory for a name");
	got = pread(fd, raw, room, (off_t)q->code.name);
	if (got <= 0)
		return 0;
	demangle(&name, raw, strnlen(raw, (size_t)got));
	if (name.failed)
		return str_error(&name);
	return name.n ? sink(arg, q->index, name.s, q->code.start) : 0;
}

static int answer(struct questions *all, struct jitdump *dump, name_sink sink, void *arg)
{
	int err = read_codes(all, dump);

	if (!err)
		err = find_moved(all, dump);
	for (size_t i = 0; !err && i < all->n; i++)
		if (all->items[i].code.name_room)
			err = deliver(dump->fd, &all->items[i], sink, arg);
	return err;
}

int jitdump_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_FREE struct jitdump *dump = malloc(sizeof(*dump));
	struct questions all = { 0 };
	int err =
		dump ? jitdump_open(dump, fd) : fail(-ENOMEM, "no memory for a jitdump");

	if (!err)
		err = take_questions(&all, addrs, n);
	if (!err)
		err = answer(&all, dump, sink, arg);
	free_questions(&all);
	return err < 0 ? err : 0;
}
