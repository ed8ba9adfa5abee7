// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/saving.h"

#include "base/error.h"
#include "base/log.h"
#include "base/outfile.h"

#include <errno.h>
#include <stdio.h>

struct saving {
	struct outfile *file;
	struct stream *stream;
	struct gather *gather;
	struct profile *profile;
	const char *path;
	int err; /* the first that writing met */
	char sentence[512];
};

int saving_new(struct saving **ret, const struct writer *writer, const char *path,
	       struct gather *gather, struct profile *profile)
{
	AUTO(saving) s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "no memory to save");
	s->gather = gather;
	s->profile = profile;
	s->path = path;
	err = outfile_new(&s->file, path);
	if (!err)
		err = writer->stream(&s->stream, s->file);
	if (err)
		return err;
	outfile_keep_when_cut(s->file);
	*ret = GIVE(s);
	return 0;
}

void saving_free(struct saving *s)
{
	if (!s)
		return;
	stream_free(s->stream);
	outfile_free(s->file);
	free(s);
}

static int note(struct saving *s, int err)
{
	if (!err || err == -ENOMEM)
		return err;
	s->err = err;
	snprintf(s->sentence, sizeof(s->sentence), "%s", error_sentence());
	error_clear();
	log_warn("%s: nothing more is saved", s->sentence);
	return 0;
}

int saving_more(struct saving *s)
{
	int err = gather_more(s->gather);

	if (!err)
		err = timeline_flush(&s->profile->timeline);
	if (err || s->err)
		return err;
	return note(s, s->stream->add(s->stream, gather_reading(s->gather),
				      &s->profile->timeline));
}

int saving_finish(struct saving *s)
{
	int err;

	if (!s->err) {
		err = s->stream->end(s->stream, gather_reading(s->gather));
		if (err == -ENOMEM)
			return err;
		note(s, err);
	}
	err = outfile_finish(s->file);
	if (err || !s->err)
		return err;
	fail(s->err, "%s", s->sentence);
	return fail_hint(s->err, "%s holds what was measured until then", s->path);
}

uint64_t saving_bytes(const struct saving *s)
{
	return s->stream->bytes(s->stream);
}
