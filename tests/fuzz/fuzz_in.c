// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything that weft report reads, from hostile bytes: the first byte says
 * whether the rest is a file or, past its checksum, a batch of a recording. What
 * was read must be a profile that holds what core/profile.h promises, and be
 * written by every writer.
 */
#include "base/error.h"
#include "base/outfile.h"
#include "core/filter.h"
#include "core/merge.h"
#include "format/reader.h"
#include "format/weft/weft_read_batch.h"
#include "format/text/text.h"
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_stacks(const struct profile *r)
{
	for (size_t i = 1; i < r->nodes.n; i++) {
		uint32_t code = profile_code(r, (uint32_t)i);

		require(profile_parent(r, (uint32_t)i) < i);
		require(!PROFILE_IS_FRAME(code) || code < r->frames.n);
	}
	for (size_t i = 0; i < r->stacks.n; i++)
		require(r->stacks.items[i].node[0] < r->nodes.n &&
			r->stacks.items[i].node[1] < r->nodes.n);
	for (size_t i = 0; i < r->frames.n; i++)
		require(r->frames.items[i].name < intern_count(r->strings) &&
			r->frames.items[i].module < r->modules.n &&
			r->frames.items[i].file < intern_count(r->strings));
}

static void check_uses(const struct profile *r)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	uint64_t total = 0, sum = 0;

	for (size_t i = 0; i < r->timeline.sample_keys.n; i++) {
		require(r->timeline.sample_keys.items[i].a < r->stacks.n &&
			r->timeline.sample_keys.items[i].b < r->threads.n);
		total += r->timeline.counts.items[i];
	}
	while (timeline_next(&r->timeline, &at, &sample)) {
		require(sample.sample_key < r->timeline.sample_keys.n);
		sum += sample.count;
	}
	require(total == r->timeline.total && sum == total - r->timeline.undated);
	for (size_t i = 0; i < r->threads.n; i++)
		require(r->threads.items[i].process < r->processes.n);
}

static void write_all(struct profile *r, uint8_t which)
{
	struct writer_options options = { .view = which & 1 };
	struct text_options text = { .view = which & 1, .top = 5, .invert = which & 2 };
	AUTO(outfile) out = NULL;

	require(!outfile_new(&out, "/dev/null"));
	for (size_t i = 0; writers[i]; i++)
		if ((which >> 2) % 8 == i)
			writers[i]->write(out, r, &options);
	if ((which >> 2) % 8 == 7)
		text_write(out, r, &text);
}

static int read_batch(const uint8_t *data, size_t n, struct profile **ret)
{
	AUTO(profile) r = NULL;
	struct batch_reader batch = { 0 };
	int err = profile_new(&r);

	batch.profile = r;
	if (!err && batch_apply(&batch, data, n) >= 0)
		batch_apply(&batch, data, n); /* and once more, on what is there */
	if (!err)
		err = profile_finish(r);
	*ret = GIVE(r);
	return err;
}

/* As weft report reads a file, one that lies in memory. */
static int read_file(const uint8_t *data, size_t n, struct profile **ret)
{
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("weft-fuzz", MFD_CLOEXEC);
	require(pwrite(fd, data, n, 0) == (ssize_t)n && !ftruncate(fd, (off_t)n));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return reader_read(path, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO(profile) r = NULL;
	AUTO(profile) sum = NULL;
	int err;

	if (n < 2)
		return 0;
	if (data[0] & 1)
		err = read_batch(data + 2, n - 2, &r);
	else
		err = read_file(data + 2, n - 2, &r);
	error_clear();
	if (err || !r)
		return 0;
	check_stacks(r);
	check_uses(r);
	write_all(r, data[1]);
	if (!(data[0] & 2))
		return 0;
	require(!profile_new(&sum));
	if (!profile_merge(sum, r) && !profile_merge(sum, r) && !profile_finish(sum)) {
		check_stacks(sum);
		check_uses(sum);
	}
	return 0;
}
