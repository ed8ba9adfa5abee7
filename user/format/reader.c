// SPDX-License-Identifier: BSD-2-Clause
#include "format/reader.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

#define X(name) &name##_reader,
static const struct reader *const readers[] = { READERS(X) NULL };
#undef X

static int unknown(const struct source *source, bool is_perf_data)
{
	AUTO_STR known = { 0 };
	int err;

	for (size_t i = 0; readers[i]; i++)
		str_addf(&known, "%s%s", i ? ", " : "", readers[i]->name);
	err = fail(-EBADMSG, "%s is in no format that weft reads", source_name(source));
	if (is_perf_data)
		return fail_hint(err, "it is perf's: perf script -i %s | weft report -",
				 source_name(source));
	return fail_hint(err, "weft reads: %s", known.s ? known.s : "");
}

/* Folded stacks of nothing are no bytes. */
static int read_nothing(struct profile **ret)
{
	AUTO(profile) profile = NULL;
	int err = profile_new(&profile);

	if (!err)
		err = profile_finish(profile);
	if (err)
		return err;
	*ret = GIVE(profile);
	return 0;
}

static int read_source(struct source *source, struct profile **ret)
{
	AUTO(profile) profile = NULL;
	size_t n;
	const char *head = source_head(source, &n);
	int err = source_error(source);

	for (size_t i = 0; !err && readers[i]; i++) {
		if (!readers[i]->accepts(head, n))
			continue;
		err = profile_new(&profile);
		if (!err)
			err = readers[i]->read(source, profile);
		if (!err)
			err = source_error(source);
		if (!err)
			err = profile_finish(profile);
		if (err)
			return err;
		profile->was_cut |= source_was_cut(source);
		*ret = GIVE(profile);
		return 0;
	}
	if (err)
		return err;
	return n ? unknown(source, n >= 8 && !memcmp(head, "PERFILE2", 8))
		 : read_nothing(ret);
}

int reader_read(const char *path, struct profile **ret)
{
	AUTO(source) source = NULL;
	int err = source_new(&source, path);

	return err ? err : read_source(source, ret);
}
