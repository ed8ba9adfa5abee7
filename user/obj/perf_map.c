// SPDX-License-Identifier: BSD-2-Clause
/*
 * A JIT appends to its map for as long as it runs, and reuses addresses: the
 * later line wins, and of a map that is too large the end is read. Names are
 * read again when they are delivered, so that none is held meanwhile.
 */
#include "obj/names.h"

#include "base/error.h"
#include "obj/candidates.h"
#include "obj/demangle.h"
#include "obj/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP_BYTES_MAX	(256u << 20)
#define NAME_READ_BYTES (1u << 20)

static void take_line(struct candidates *batch, struct line *line, uint64_t number)
{
	struct candidate symbol = { .order = number, .sized = true };
	uint64_t size;

	if (!line_take_hex(line, &symbol.start) || !line_take_hex(line, &size) ||
	    !line->n || symbol.start + size < symbol.start)
		return;
	symbol.end = symbol.start + size;
	symbol.name = line->offset;
	candidates_cover(batch, &symbol);
}

static int read_map(int fd, uint64_t bytes, struct candidates *batch)
{
	uint64_t skip = bytes > MAP_BYTES_MAX ? bytes - MAP_BYTES_MAX : 0;
	AUTO_LINES lines = { 0 };
	struct line line;
	int more = lines_open(&lines, fd, skip, MAP_BYTES_MAX);

	if (more < 0)
		return more;
	for (uint64_t i = 1; (more = lines_next(&lines, &line)) > 0; i++)
		take_line(batch, &line, i);
	return more;
}

/* What is beyond NAME_READ_BYTES is left out, and where the name lies stands in its
 * place, so that it is still no other's. */
static void read_name(int fd, uint64_t first, struct str *ret)
{
	char piece[1024];
	size_t n;

	do {
		ssize_t got = pread(fd, piece, sizeof(piece), (off_t)(first + ret->n));

		n = 0;
		while (got > 0 && n < (size_t)got && piece[n] != '\n' && piece[n] != '\r')
			n++;
		str_add_bytes(ret, piece, n);
	} while (n == sizeof(piece) && ret->n < NAME_READ_BYTES);
	if (n == sizeof(piece))
		str_addf(ret, "+0x%" PRIx64, first);
}

static int deliver(int fd, const struct query *query, const struct candidate *best,
		   name_sink sink, void *arg)
{
	AUTO_STR raw = { 0 };
	AUTO_STR name = { 0 };

	read_name(fd, best->name, &raw);
	if (!raw.failed)
		demangle(&name, raw.s, raw.n);
	if (raw.failed || name.failed)
		return str_error(raw.failed ? &raw : &name);
	return name.n ? sink(arg, query->index, name.s, best->start) : 0;
}

int perf_map_names(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_CANDIDATES batch = { 0 };
	struct stat st;
	int err = candidates_new(&batch, n);

	if (err)
		return err;
	if (fstat(fd, &st))
		return fail_errno(-errno, "cannot stat perf map");
	if (!S_ISREG(st.st_mode))
		return fail(-EBADMSG, "perf map is not a regular file");
	for (size_t i = 0; i < n; i++)
		candidates_add(&batch, addrs[i], i);
	candidates_sort(&batch);
	err = read_map(fd, (uint64_t)st.st_size, &batch);
	for (size_t i = 0; err >= 0 && i < n; i++) {
		const struct candidate *best = candidates_best(&batch, i);

		if (best)
			err = deliver(fd, &batch.items[i], best, sink, arg);
	}
	return err < 0 ? err : 0;
}
