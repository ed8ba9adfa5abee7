// SPDX-License-Identifier: BSD-2-Clause
#include "format/reader.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>

static const struct reader *const readers[] = {
	&weft_reader, &perf_reader, &folded_reader, &pprof_reader, NULL,
};

static int unknown(const struct source *source)
{
	AUTO_STR known = { 0 };
	int err;

	for (size_t i = 0; readers[i]; i++)
		str_addf(&known, "%s%s", i ? ", " : "", readers[i]->name);
	err = fail(-EBADMSG, "%s is nothing that weft knows", source_name(source));
	return fail_hint(err, "it can be: %s", known.s ? known.s : "");
}

/* Folded stacks of nothing are no bytes. */
static int read_nothing(struct reading **ret)
{
	AUTO(reading) reading = NULL;
	int err = reading_new(&reading);

	if (!err)
		err = reading_finish(reading);
	if (err)
		return err;
	*ret = GIVE(reading);
	return 0;
}

static int read_source(struct source *source, struct reading **ret)
{
	AUTO(reading) reading = NULL;
	size_t n;
	const char *head = source_head(source, &n);
	int err = source_error(source);

	for (size_t i = 0; !err && readers[i]; i++) {
		if (!readers[i]->accepts(head, n))
			continue;
		err = reading_new(&reading);
		if (!err)
			err = readers[i]->read(source, reading);
		if (!err)
			err = source_error(source);
		if (!err)
			err = reading_finish(reading);
		if (err)
			return err;
		reading->was_cut |= source_was_cut(source);
		*ret = GIVE(reading);
		return 0;
	}
	if (err)
		return err;
	return n ? unknown(source) : read_nothing(ret);
}

int reader_read(const char *path, struct reading **ret)
{
	AUTO(source) source = NULL;
	int err = source_new(&source, path);

	return err ? err : read_source(source, ret);
}
