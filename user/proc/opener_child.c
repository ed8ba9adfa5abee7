// SPDX-License-Identifier: BSD-2-Clause
/*
 * The opener itself: it has our privileges, holds nothing, and may wait. What it can't
 * hand over as it is, it copies and closes before it answers, so whoever holds up even
 * that is seen to.
 */
#include "base/clock.h"
#include "base/error.h"
#include "proc/maps_text.h"
#include "proc/open_code.h"
#include "proc/open_context.h"
#include "proc/open_copy.h"
#include "proc/open_environ.h"
#include "proc/open_image.h"
#include "proc/opener_parts.h"
#include "proc/payer.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <string.h>

/* Less than weft waits (opener.c), so who is slow is not taken for one who holds us. What
 * the kernel makes up is bounded by itself. */
#define COPY_NS 150000000ULL

static int read_hotspot_names(const struct opener_request *request, int *ret_fd)
{
	if (request->n > HOTSPOT_NAMES_MAX)
		return fail(-EPROTO, "too many addresses");
	return open_hotspot_names(request->pid, &request->hotspot.view,
				  request->hotspot.addrs, request->n, ret_fd);
}

static int open_one(const struct opener_request *request, uint32_t *ret_place,
		    int *ret_fd)
{
	const struct mapping map = { .start = request->start, .end = request->end };
	const struct module module = {
		.kind = MODULE_FILE,
		.maj = request->maj,
		.min = request->min,
		.ino = request->ino,
		.path = request->path,
	};

	switch (request->kind) {
	case OPENER_MAPPED:
		return open_mapped_or_image(request->pid, &map, &module, ret_fd);
	case OPENER_PERF_MAP:
		return open_perf_map(request->pid, &request->kept, request->max_bytes,
				     ret_fd);
	case OPENER_DEBUG:
		return open_debug(&request->debug, request->path, ret_place, ret_fd);
	case OPENER_ENVIRON:
		return open_environ(request->pid, request->path, ret_fd);
	case OPENER_CONTEXT:
		return open_context(request->pid, ret_fd);
	case OPENER_HOTSPOT_NAMES:
		return read_hotspot_names(request, ret_fd);
	case OPENER_CODE:
		return open_code(request->pid, request->start, request->end, ret_fd);
	case OPENER_MAPS:
	case OPENER_LONG_MAPS:
	case OPENER_PLACES:
	case OPENER_PAYER:
	case OPENER_STAT:
	case OPENER_WORDS:
	case OPENER_HOTSPOT:
	case OPENER_HOTSPOT_VIEW:
		break;
	}
	return fail(-EPROTO, "no such request");
}

/* The file itself is closed when this returns. */
static int open_for_others(const struct opener_request *request, uint32_t *ret_place,
			   int *ret_fd)
{
	uint64_t until = clock_now_ns() + COPY_NS;
	AUTO_CLOSE int fd = -1;
	int err = open_one(request, ret_place, &fd);

	if (err)
		return err;
	if (!open_can_wait(fd, request->pid)) {
		*ret_fd = GIVE_FD(fd);
		return 0;
	}
	return open_copy(fd, until, ret_fd);
}

static int query_places(const struct opener_request *request, struct task_stat *ret_stats)
{
	if (request->n > MAP_PLACES_MAX)
		return fail(-EPROTO, "too many places");
	return map_query(request->pid, request->places, request->n, ret_stats);
}

static int read_words(const struct opener_request *request, struct str *ret)
{
	struct open_word words[OPEN_WORDS_MAX];

	if (request->n > OPEN_WORDS_MAX)
		return fail(-EPROTO, "too many words");
	open_words(request->pid, request->addrs, request->n, words);
	str_add_bytes(ret, (const char *)words, request->n * sizeof(*words));
	return str_error(ret);
}

static int read_hotspot(const struct opener_request *request, struct str *ret)
{
	struct hotspot vm;
	int err = open_hotspot(request->pid, request->addrs[0], &vm);

	if (!err)
		str_add_bytes(ret, (const char *)&vm, sizeof(vm));
	return err ? err : str_error(ret);
}

static int read_hotspot_view(const struct opener_request *request, struct str *ret)
{
	struct hotspot_view view;
	int err = open_hotspot_view(request->pid, &request->symbols, &view);

	if (!err)
		str_add_bytes(ret, (const char *)&view, sizeof(view));
	return err ? err : str_error(ret);
}

static int copy_maps(const struct opener_request *request, uint32_t *ret_is_a_part,
		     int *ret_fd)
{
	AUTO_STR text = { 0 };
	int err = maps_text_of(request->pid, opener_long, &text);

	*ret_is_a_part = err == -E2BIG;
	return err && err != -E2BIG ? err : open_copy_bytes(text.s, text.n, ret_fd);
}

static int do_it(const struct opener_request *request, struct opener_answer *answer,
		 struct str *text, int *ret_fd)
{
	switch (request->kind) {
	case OPENER_MAPS:
		return maps_text_of(request->pid, opener_short, text);
	case OPENER_LONG_MAPS:
		return copy_maps(request, &answer->number, ret_fd);
	case OPENER_PLACES:
		return query_places(request, answer->stats);
	case OPENER_WORDS:
		return read_words(request, text);
	case OPENER_HOTSPOT:
		return read_hotspot(request, text);
	case OPENER_HOTSPOT_VIEW:
		return read_hotspot_view(request, text);
	case OPENER_PAYER:
		answer->number = payer_of(request->pid, request->kept.uid);
		return 0;
	case OPENER_STAT:
		return task_stat_read(request->pid, &answer->stats[0])
			       ? 0
			       : fail(-ESRCH, "no stat of %d", (int)request->pid);
	default:
		return open_for_others(request, &answer->number, ret_fd);
	}
}

static int answer_one(int sock, struct str *text)
{
	struct opener_request request = { 0 };
	static struct opener_message message;
	struct opener_answer *answer = &message.answer;
	AUTO_CLOSE int fd = -1;

	if (protocol_recv(sock, &request, sizeof(request) - 1, NULL, 0) <= 0)
		return -EPIPE;
	str_clear(text);
	*answer = (struct opener_answer){ 0 };
	answer->err = do_it(&request, answer, text, &fd);
	if (answer->err) {
		strncpy(answer->why, error_sentence(), sizeof(answer->why) - 1);
		str_clear(text);
	}
	if (text->n)
		memcpy(message.text, text->s, text->n);
	error_clear();
	return protocol_send(sock, &message, sizeof(*answer) + text->n, fd, 0);
}

void opener_run(int sock)
{
	AUTO_STR text = { 0 };

	opener_sandbox();
	while (!answer_one(sock, &text))
		;
	_exit(0);
}
