/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles out of bytes and back; within cmocka's tests. */
#ifndef TESTS_UNIT_READ_BACK_H
#define TESTS_UNIT_READ_BACK_H

#include "format/reader.h"
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct bytes {
	char *s;
	size_t n;
};

static inline struct bytes slurp(const char *path)
{
	struct bytes bytes = { malloc(1 << 20), 0 };
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	assert_non_null(bytes.s);
	bytes.n = fread(bytes.s, 1, (1 << 20) - 1, f);
	bytes.s[bytes.n] = '\0';
	fclose(f);
	return bytes;
}

static inline struct bytes written(const struct writer *writer, const struct profile *r,
				   enum view view)
{
	const struct writer_options options = { .view = view };
	char path[] = "/tmp/test_profile.XXXXXX";
	AUTO(outfile) out = NULL;
	struct bytes bytes;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(outfile_new(&out, path), 0);
	assert_int_equal(writer->write(out, r, &options), 0);
	assert_int_equal(outfile_finish(out), 0);
	bytes = slurp(path);
	unlink(path);
	return bytes;
}

static inline struct profile *read_back(const struct bytes *bytes)
{
	AUTO_CLOSE int fd = memfd_create("read-back", MFD_CLOEXEC);
	struct profile *r = NULL;
	char path[64];

	assert_int_equal(write(fd, bytes->s, bytes->n), bytes->n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return reader_read(path, &r) ? NULL : r;
}

static inline void is_folded(const struct profile *r, enum view view, const char *want)
{
	struct bytes bytes = written(&folded_writer, r, view);

	assert_string_equal(bytes.s, want);
	free(bytes.s);
}

#endif
