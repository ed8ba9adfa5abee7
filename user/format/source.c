// SPDX-License-Identifier: BSD-2-Clause
#include "format/source.h"

#include "base/error.h"
#include "base/name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES SOURCE_HEAD_BYTES

struct source {
	gzFile gz;
	const char *name;
	size_t at, n; /* in buffer */
	bool ended, was_cut;
	int err;
	char *buffer; /* BUFFER_BYTES */
};

void source_free(struct source *source)
{
	if (!source)
		return;
	if (source->gz)
		gzclose(source->gz);
	free(source->buffer);
	free(source);
}

static int make(struct source **ret, const char *name)
{
	AUTO(source) source = calloc(1, sizeof(*source));

	if (source)
		source->buffer = malloc(BUFFER_BYTES);
	if (!source || !source->buffer)
		return fail(-ENOMEM, "no memory to read %s", name);
	source->name = name;
	*ret = GIVE(source);
	return 0;
}

int source_new(struct source **ret, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	AUTO_CLOSE int fd =
		is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	AUTO(source) source = NULL;
	int err = 0;

	if (fd < 0)
		return fail_errno(-errno, "cannot read %s", is_stdin ? "stdin" : path);
	err = make(&source, is_stdin ? "stdin" : path);
	if (err)
		return err;
	source->gz = gzdopen(fd, "rb");
	if (!source->gz)
		return fail(-ENOMEM, "no memory to read %s", source->name);
	fd = -1;
	*ret = GIVE(source);
	return 0;
}

static void note_end(struct source *source)
{
	int code = Z_OK;

	source->ended = true;
	gzerror(source->gz, &code);
	if (code == Z_ERRNO)
		source->err = errno ? -errno : -EIO;
	else if (code != Z_OK && code != Z_STREAM_END)
		source->was_cut = true;
}

/* More behind what is there; false: nothing came. */
static bool fill(struct source *source)
{
	int got;

	if (source->ended)
		return false;
	if (source->at == source->n)
		source->at = source->n = 0;
	if (source->n == BUFFER_BYTES)
		return false;
	got = gzread(source->gz, source->buffer + source->n,
		     (unsigned int)(BUFFER_BYTES - source->n));
	if (got <= 0) {
		note_end(source);
		return false;
	}
	source->n += (size_t)got;
	return true;
}

const char *source_head(struct source *source, size_t *ret_n)
{
	while (source->n < SOURCE_HEAD_BYTES && fill(source))
		;
	*ret_n = source->n < SOURCE_HEAD_BYTES ? source->n : SOURCE_HEAD_BYTES;
	return source->buffer;
}

size_t source_read(struct source *source, void *bytes, size_t n)
{
	size_t done = 0;

	while (done < n && (source->at < source->n || fill(source))) {
		size_t some = source->n - source->at;

		if (some > n - done)
			some = n - done;
		memcpy((char *)bytes + done, source->buffer + source->at, some);
		source->at += some;
		done += some;
	}
	return done;
}

/* What a line has beyond what is read of it. */
struct rest {
	struct hasher hasher;
	bool any;
};

static void add_rest(struct rest *rest, const char *bytes, size_t n)
{
	if (!n)
		return;
	if (!rest->any)
		hash_begin(&rest->hasher);
	rest->any = true;
	hash_add(&rest->hasher, bytes, n);
}

static void add_mark(struct str *line, struct rest *rest)
{
	struct hash hash;

	if (!rest->any)
		return;
	hash_end(&rest->hasher, &hash);
	name_add_mark(line, &hash);
}

bool source_line(struct source *source, struct str *ret, size_t most)
{
	struct rest rest = { .any = false };
	bool any = false;

	str_clear(ret);
	while (source->at < source->n || fill(source)) {
		const char *start = source->buffer + source->at;
		const char *end = memchr(start, '\n', source->n - source->at);
		size_t some = end ? (size_t)(end - start) : source->n - source->at;
		size_t room = most - ret->n, taken = some < room ? some : room;

		str_add_bytes(ret, start, taken);
		add_rest(&rest, start + taken, some - taken);
		source->at += some + !!end;
		any = true;
		if (end)
			break;
	}
	add_mark(ret, &rest);
	return any;
}

int source_error(const struct source *source)
{
	return source->err ? fail_errno(source->err, "cannot read %s", source->name) : 0;
}

bool source_was_cut(const struct source *source)
{
	return source->was_cut;
}

size_t source_packed_bytes(const struct source *source)
{
	z_off_t at = gzoffset(source->gz);

	return at > 0 ? (size_t)at : 0;
}

const char *source_name(const struct source *source)
{
	return source->name;
}
