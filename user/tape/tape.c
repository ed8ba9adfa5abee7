// SPDX-License-Identifier: BSD-2-Clause
#include "tape/tape.h"

#include "base/error.h"
#include "base/outfile.h"

#include <errno.h>
#include <string.h>

/* The last byte is the version of everything inside. */
static const char magic[8] = { 'w', 'e', 'f', 't', 't', 'a', 'p', 4 };

#define ITEM_MAX (1u << 20)

struct item_head {
	uint32_t item, bytes;
};

struct tape_writer {
	struct outfile *file; /* NULL: it could not be written */
	char *path;
	int err;
	size_t n;
	char buf[64 << 10];
};

void tape_writer_free(struct tape_writer *tape)
{
	if (!tape)
		return;
	outfile_free(tape->file);
	free(tape->path);
	free(tape);
}

/* What is not whole goes at once: the disk may be needed for the profile. */
static void add(struct tape_writer *tape, const void *bytes, size_t n)
{
	if (!tape->err)
		tape->err = outfile_add(tape->file, bytes, n);
	if (tape->err)
		outfile_free(GIVE(tape->file));
}

static void put(struct tape_writer *tape, const void *bytes, size_t n)
{
	if (n > sizeof(tape->buf) - tape->n) {
		add(tape, tape->buf, tape->n);
		tape->n = 0;
	}
	if (n > sizeof(tape->buf)) {
		add(tape, bytes, n);
	} else if (n) {
		memcpy(tape->buf + tape->n, bytes, n);
		tape->n += n;
	}
}

int tape_writer_new(struct tape_writer **ret, const char *path)
{
	AUTO(tape_writer) tape = calloc(1, sizeof(*tape));
	int err;

	if (!tape || !(tape->path = strdup(path)))
		return fail(-ENOMEM, "no memory for the tape");
	err = outfile_new(&tape->file, path);
	if (err)
		return err;
	outfile_keep_when_cut(tape->file);
	add(tape, magic, sizeof(magic)); /* at once: so it is a tape, though cut */
	*ret = GIVE(tape);
	return 0;
}

void tape_write(struct tape_writer *tape, enum tape_item item, const void *bytes,
		size_t n)
{
	struct item_head head = { item, (uint32_t)n };

	put(tape, &head, sizeof(head));
	put(tape, bytes, n);
}

void tape_write_name(struct tape_writer *tape, uint32_t frame, const char *name)
{
	struct item_head head = { TAPE_NAME, (uint32_t)(sizeof(frame) + strlen(name)) };

	put(tape, &head, sizeof(head));
	put(tape, &frame, sizeof(frame));
	put(tape, name, strlen(name));
}

void tape_flush(struct tape_writer *tape)
{
	add(tape, tape->buf, tape->n);
	tape->n = 0;
}

int tape_writer_finish(struct tape_writer *tape)
{
	tape_write(tape, TAPE_END, NULL, 0);
	tape_flush(tape);
	if (tape->err)
		return fail_errno(tape->err, "cannot write the tape %s", tape->path);
	return outfile_finish(tape->file);
}

static int play_name(const struct tape_events *events, const char *bytes, size_t n)
{
	uint32_t frame;

	if (n < sizeof(frame))
		return fail(-EBADMSG, "a name of %zu bytes", n);
	memcpy(&frame, bytes, sizeof(frame));
	return events->name(events->arg, frame, bytes + sizeof(frame));
}

static int play_bad_return(const struct tape_events *events, const char *bytes, size_t n,
			   enum tape_item why)
{
	uint32_t frame;

	if (n != sizeof(frame))
		return fail(-EBADMSG, "a frame id of %zu bytes", n);
	memcpy(&frame, bytes, sizeof(frame));
	return events->bad_return(events->arg, frame, why);
}

static int play_misled(const struct tape_events *events, const char *bytes, size_t n)
{
	uint32_t pair[2];

	if (n != sizeof(pair))
		return fail(-EBADMSG, "a pair of frames of %zu bytes", n);
	memcpy(pair, bytes, sizeof(pair));
	return events->misled(events->arg, pair);
}

static int play_numbers(const struct tape_events *events, uint32_t item,
			const void *bytes, size_t n)
{
	uint64_t numbers[TAPE_TOTALS_MAX] = { 0 };

	if (n < sizeof(*numbers) || n > sizeof(numbers) || n % sizeof(*numbers))
		return fail(-EBADMSG, "numbers of %zu bytes", n);
	memcpy(numbers, bytes, n);
	if (item == TAPE_ADVANCE)
		return events->advance(events->arg, numbers[0]);
	if (item == TAPE_CODE)
		return events->code(events->arg, (uint32_t)numbers[0], numbers[1]);
	if (item == TAPE_REPLACED)
		return events->replaced(events->arg, (uint32_t)numbers[0], &numbers[1]);
	if (item == TAPE_SETTLED)
		return events->settled(events->arg, (uint32_t)numbers[0], numbers[1]);
	return events->totals(events->arg, numbers, n / sizeof(*numbers));
}

/* bytes is followed by a NUL. */
static int play_item(const struct tape_events *events, uint32_t item, const char *bytes,
		     size_t n)
{
	switch (item) {
	case TAPE_SAMPLE:
		return events->sink.sample(events->sink.arg, bytes, n);
	case TAPE_SIDEBAND:
		return events->sink.sideband(events->sink.arg, bytes, n);
	case TAPE_NAME:
		return play_name(events, bytes, n);
	case TAPE_UNCALLED:
	case TAPE_MADE:
	case TAPE_SWITCHES:
	case TAPE_COPY:
		return play_bad_return(events, bytes, n, (enum tape_item)item);
	case TAPE_MISLED:
		return play_misled(events, bytes, n);
	case TAPE_ADVANCE:
	case TAPE_CODE:
	case TAPE_REPLACED:
	case TAPE_SETTLED:
	case TAPE_TOTALS:
		return play_numbers(events, item, bytes, n);
	default:
		return fail(-EBADMSG, "an item of unknown kind %u", item);
	}
}

static int play_all(FILE *f, const struct tape_events *events, char *bytes)
{
	struct item_head head;
	int err = 0;

	while (!err) {
		if (fread(&head, sizeof(head), 1, f) != 1)
			return TAPE_CUT;
		if (head.item == TAPE_END)
			return 0;
		if (head.bytes > ITEM_MAX)
			return fail(-EBADMSG, "an item of %u bytes", head.bytes);
		if (head.bytes && fread(bytes, head.bytes, 1, f) != 1)
			return TAPE_CUT;
		bytes[head.bytes] = '\0';
		err = play_item(events, head.item, bytes, head.bytes);
	}
	return err;
}

int tape_play(const char *path, const struct tape_events *events)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *bytes = malloc(ITEM_MAX + 1);
	char head[sizeof(magic)] = { 0 };
	struct error_kept why;
	int err;

	if (!f)
		return fail_errno(-errno, "cannot read the tape %s", path);
	if (!bytes)
		return fail(-ENOMEM, "no memory for the tape");
	if (fread(head, sizeof(head), 1, f) != 1 ||
	    memcmp(head, magic, sizeof(magic) - 1))
		return fail(-EBADMSG, "%s is not a tape of weft", path);
	if (head[7] != magic[7]) {
		fail(-EBADMSG, "the tape %s is of version %d, this weft reads %d", path,
		     head[7], magic[7]);
		return fail_hint(-EBADMSG, "use the weft that recorded it");
	}
	err = play_all(f, events, bytes);
	if (err != -EBADMSG)
		return err;
	error_keep(&why);
	return fail(err, "the tape %s is damaged at byte %ld: %s", path, ftell(f),
		    why.sentence);
}
