// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/exporter.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#define WAIT_MOST_S  300
#define HALVED_MAX   10	  /* into how many halves of halves */
#define ASKED_MOST_S 3600 /* by Retry-After */

enum state { IDLE, SENDING, WAITING };

struct exporter {
	const char *name;
	struct spool *spool;
	struct sender *sender;
	enum state state;
	uint64_t due_ns;     /* WAITING */
	unsigned int failed; /* tries in a row */
	bool is_held;
	uint64_t sequence; /* of what was tried last; while it waits, it may be dropped */
	/* of that: all of it, or part `part` of 2^halved */
	unsigned int halved, part;
	bool part_refused;
	struct exporter_counts counts;
};

int exporter_new(struct exporter **ret, const char *name, struct spool *spool,
		 struct sender *sender)
{
	struct exporter *exporter = calloc(1, sizeof(*exporter));

	if (!exporter) {
		spool_free(spool);
		sender_free(sender);
		return fail(-ENOMEM, "no memory for receiver %s", name);
	}
	exporter->name = name;
	exporter->sequence = UINT64_MAX;
	exporter->spool = spool;
	exporter->sender = sender;
	*ret = exporter;
	return 0;
}

void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	sender_free(exporter->sender);
	spool_free(exporter->spool);
	free(exporter);
}

struct spool *exporter_spool(struct exporter *exporter)
{
	return exporter->spool;
}

/* Half of it at least, and at most all. */
static uint64_t with_jitter(uint64_t ns)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = 0;
	return ns / 2 + ns / 2 * (random >> 16) / 65536;
}

static void wait_for_a_try(struct exporter *exporter, uint32_t asked_s, const char *why)
{
	unsigned int doubled = exporter->failed < 9 ? exporter->failed : 9;
	uint64_t s = 1ULL << doubled < WAIT_MOST_S ? 1ULL << doubled : WAIT_MOST_S;
	uint64_t wait = with_jitter(s * SECOND_NS);

	if (asked_s)
		wait = (asked_s < ASKED_MOST_S ? asked_s : ASKED_MOST_S) * SECOND_NS;
	/* the first time, and then now and then */
	if (!(exporter->failed & (exporter->failed - 1)))
		log_warn("receiver %s: try %u failed, the next is in %.1f s; %" PRIu64
			 " profiles wait: %s",
			 exporter->name, exporter->failed + 1, (double)wait / SECOND_NS,
			 spool_counts(exporter->spool)->items, why);
	exporter->failed++;
	exporter->counts.is_troubled = true;
	exporter->state = WAITING;
	exporter->due_ns = clock_now_ns() + wait;
}

static void submit(struct exporter *exporter)
{
	const struct spool_item *item = spool_oldest(exporter->spool);
	AUTO_CLOSE int fd = spool_hold(exporter->spool);
	struct send_order order;

	if (fd < 0) { /* somebody took it away, or made it what it can't be */
		log_warn("receiver %s: cannot open %s: %s", exporter->name, item->name,
			 strerror(-fd));
		exporter->counts.refused++;
		spool_remove(exporter->spool);
		return;
	}
	exporter->counts.tries++;
	if (item->sequence != exporter->sequence) {
		exporter->sequence = item->sequence;
		exporter->halved = exporter->part = 0;
		exporter->part_refused = false;
	}
	order = (struct send_order){
		.fd = fd,
		.id = item->name,
		.is_second = strstr(item->name, EXPORTER_SECOND "."),
		.part = { exporter->part, 1U << exporter->halved },
	};
	if (sender_submit(exporter->sender, &order)) {
		spool_let(exporter->spool);
		wait_for_a_try(exporter, 0, error_sentence());
		error_clear();
		return;
	}
	exporter->state = SENDING;
}

/* The next part, or all of it has an answer. */
static void end_part(struct exporter *exporter, const struct send_answer *answer)
{
	if (answer->outcome != SEND_TAKEN) {
		exporter->part_refused = true;
		log_warn("receiver %s: %s%s was refused for good: %s", exporter->name,
			 exporter->halved ? "a part of " : "",
			 spool_oldest(exporter->spool)->name, answer->text);
	}
	exporter->part++;
	while (exporter->halved && !(exporter->part & 1)) {
		exporter->part /= 2;
		exporter->halved--;
	}
	if (exporter->halved)
		return;
	if (exporter->part_refused)
		exporter->counts.refused++;
	else
		exporter->counts.delivered++;
	exporter->sequence = UINT64_MAX;
	spool_remove(exporter->spool);
}

static void on_answer(struct exporter *exporter, const struct send_answer *answer)
{
	exporter->state = IDLE;
	if (answer->outcome == SEND_LATER) {
		spool_let(exporter->spool);
		wait_for_a_try(exporter, answer->retry_after_s, answer->text);
		return;
	}
	if (exporter->failed && answer->outcome == SEND_TAKEN)
		log_warn("receiver %s: takes profiles again", exporter->name);
	exporter->failed = 0;
	exporter->counts.is_troubled = false;
	spool_let(exporter->spool);
	if (answer->outcome == SEND_IN_PARTS && exporter->halved < HALVED_MAX) {
		exporter->halved++;
		exporter->part *= 2;
		return;
	}
	end_part(exporter, answer);
}

bool exporter_step(struct exporter *exporter, uint64_t now_ns)
{
	struct send_answer answer;

	spool_trim(exporter->spool);
	if (exporter->state == SENDING && !sender_collect(exporter->sender, &answer))
		on_answer(exporter, &answer);
	if (exporter->state == WAITING && now_ns >= exporter->due_ns)
		exporter->state = IDLE;
	while (exporter->state == IDLE && !exporter->is_held &&
	       spool_oldest(exporter->spool))
		submit(exporter);
	return exporter->state != IDLE;
}

void exporter_hurry(struct exporter *exporter)
{
	if (exporter->state == WAITING)
		exporter->state = IDLE;
}

bool exporter_is_done(struct exporter *exporter)
{
	return exporter->state == WAITING ||
	       (exporter->state == IDLE && !spool_oldest(exporter->spool));
}

void exporter_hold(struct exporter *exporter, bool is_held)
{
	exporter->is_held = is_held;
}

bool exporter_is_sending(const struct exporter *exporter)
{
	return exporter->state == SENDING;
}

int exporter_fd(const struct exporter *exporter)
{
	return sender_fd(exporter->sender);
}

struct exporter_counts exporter_counts(const struct exporter *exporter)
{
	return exporter->counts;
}
