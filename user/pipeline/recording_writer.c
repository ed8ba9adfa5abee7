// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/recording_writer.h"

#include "base/error.h"
#include "base/log.h"
#include "base/outfile.h"

#include <errno.h>

struct recording_writer {
	struct outfile *file;
	struct stream *stream;
	struct profile_builder *builder;
	struct aggregator *aggregator;
	const char *path;
	int err; /* the first that writing met */
	struct error_kept why;
};

int recording_writer_new(struct recording_writer **ret, const struct writer *writer,
			 const char *path, struct profile_builder *builder,
			 struct aggregator *aggregator)
{
	AUTO(recording_writer) s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "no memory to save");
	s->builder = builder;
	s->aggregator = aggregator;
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

void recording_writer_free(struct recording_writer *s)
{
	if (!s)
		return;
	stream_free(s->stream);
	outfile_free(s->file);
	free(s);
}

static int note(struct recording_writer *s, int err)
{
	if (!err || err == -ENOMEM)
		return err;
	s->err = err;
	error_keep(&s->why);
	error_clear();
	log_warn("%s: weft saves nothing more", s->why.sentence);
	return 0;
}

int recording_writer_update(struct recording_writer *s)
{
	int err = profile_builder_update(s->builder);

	if (!err)
		err = timeline_flush(&s->aggregator->timeline);
	if (err || s->err)
		return err;
	return note(s, s->stream->add(s->stream, profile_builder_profile(s->builder),
				      &s->aggregator->timeline));
}

int recording_writer_finish(struct recording_writer *s)
{
	int err;

	if (!s->err) {
		err = s->stream->end(s->stream, profile_builder_profile(s->builder));
		if (err == -ENOMEM)
			return err;
		note(s, err);
	}
	err = outfile_finish(s->file);
	if (err || !s->err)
		return err;
	error_restore(&s->why);
	return fail_hint(s->err, "%s holds what was saved before", s->path);
}

uint64_t recording_writer_bytes(const struct recording_writer *s)
{
	return s->stream->bytes(s->stream);
}
