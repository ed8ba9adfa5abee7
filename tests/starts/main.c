// SPDX-License-Identifier: BSD-2-Clause
/*
 * starts FIRST FILE[=SYMBOLS]…   where functions start, beside readelf's symbols; in TAP
 *
 * FIRST: the number before the first line's. Each function that readelf lists in
 * SYMBOLS (else in the file itself) is asked for by the byte in its middle and by its
 * last one. function_starts() looks at no symbol; what it says has to be where some
 * symbol starts. Two kinds of difference are counted apart, since the FDE says so and
 * nothing but a symbol knows better: a start inside the function that the byte is in (it
 * has several FDEs), and one in the padding before it.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "obj/elf_scan.h"
#include "obj/names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASKED_AT_ONCE 65536
/* Of what has an answer. Assembly has entries in the middle of what one FDE covers. */
#define LEAST_RIGHT 0.999

struct span {
	uint64_t start, bytes;
};

struct file {
	VEC(struct span) functions;
	VEC(uint64_t) starts; /* of all symbols of code, ascending */
	struct elf_info info;
	uint64_t addrs[ASKED_AT_ONCE]; /* offsets in the file */
	uint64_t vaddrs[ASKED_AT_ONCE];
	size_t n;
	unsigned long asked, right, wrong;
	/* of what is wrong, what FDEs say that assembly wrote by hand */
	unsigned long inside, padded;
};

/* Functions are aligned by no more. */
#define MOST_PADDING 15

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Functions have aliases. */
static void once_each(struct file *file)
{
	size_t n = 0;

	if (file->functions.n)
		qsort(file->functions.items, file->functions.n, sizeof(struct span),
		      by_number);
	for (size_t i = 0; i < file->functions.n; i++)
		if (!n ||
		    file->functions.items[n - 1].start != file->functions.items[i].start)
			file->functions.items[n++] = file->functions.items[i];
	file->functions.n = n;
}

static void read_symbols(struct file *file, const char *path)
{
	char command[4096], line[8192], type[16];
	uint64_t start, bytes;
	FILE *f;

	snprintf(command, sizeof(command), "readelf -sW '%s' 2>/dev/null", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*u: %" SCNx64 " %" SCNi64 " %15s", &start, &bytes,
			   type) != 3 ||
		    !start ||
		    (strcmp(type, "FUNC") && strcmp(type, "IFUNC") &&
		     strcmp(type, "NOTYPE")))
			continue;
		vec_push(&file->starts, start);
		if (bytes && strcmp(type, "NOTYPE"))
			vec_push(&file->functions, ((struct span){ start, bytes }));
	}
	if (f)
		pclose(f);
	if (file->starts.n)
		qsort(file->starts.items, file->starts.n, sizeof(uint64_t), by_number);
	once_each(file);
}

static bool is_start(const struct file *file, uint64_t vaddr)
{
	return bsearch(&vaddr, file->starts.items, file->starts.n, sizeof(vaddr),
		       by_number);
}

/* A false start: is the byte in a function that the start, too, is in, or just before? */
static void classify(struct file *file, uint64_t asked, uint64_t start)
{
	for (size_t i = 0; i < file->functions.n; i++) {
		const struct span *span = &file->functions.items[i];

		if (asked - span->start >= span->bytes)
			continue;
		if (start > span->start && start <= asked) {
			file->inside++;
			return;
		}
		if (start < span->start && span->start - start <= MOST_PADDING) {
			file->padded++;
			return;
		}
	}
}

static int on_start(void *arg, size_t index, const char *name, uint64_t start)
{
	struct file *file = arg;
	uint64_t vaddr = strtoull(name, NULL, 16);
	bool is_right = is_start(file, vaddr) && vaddr <= file->vaddrs[index] &&
			file->addrs[index] - start == file->vaddrs[index] - vaddr;

	file->right += is_right;
	file->wrong += !is_right;
	if (!is_right)
		classify(file, file->vaddrs[index], vaddr);
	if (!is_right && getenv("VERBOSE"))
		printf("# %" PRIx64 " starts at %s\n", file->vaddrs[index], name);
	return 0;
}

static int ask(struct file *file, int fd)
{
	int err = function_starts(fd, file->addrs, file->n, on_start, file);

	file->asked += file->n;
	file->n = 0;
	return err;
}

static int ask_at(struct file *file, int fd, uint64_t vaddr)
{
	for (uint32_t i = 0; i < file->info.n_segments; i++) {
		const struct elf_segment *segment = &file->info.segments[i];

		if (vaddr - segment->vaddr >= segment->file_bytes ||
		    !(segment->flags & 1))
			continue;
		file->addrs[file->n] = vaddr - segment->vaddr + segment->offset;
		file->vaddrs[file->n++] = vaddr;
		break;
	}
	return file->n == ASKED_AT_ONCE ? ask(file, fd) : 0;
}

static int ask_all(struct file *file, const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -1 : elf_scan(fd, &file->info);

	for (size_t i = 0; !err && i < file->functions.n; i++) {
		const struct span *span = &file->functions.items[i];

		err = ask_at(file, fd, span->start + span->bytes / 2);
		if (!err)
			err = ask_at(file, fd, span->start + span->bytes - 1);
	}
	return err ? err : ask(file, fd);
}

/* Is all well with it? Adds to the sum. */
static bool check(unsigned int number, char *argument, struct file *sum)
{
	struct file *file = calloc(1, sizeof(*file));
	char *symbols = strchr(argument, '=');
	bool is_good;

	if (symbols)
		*symbols++ = '\0';
	read_symbols(file, symbols ? symbols : argument);
	is_good = !ask_all(file, argument);
	error_clear();
	/* a file of few functions may have a single odd one */
	is_good &= file->wrong - file->inside - file->padded <=
		   2 + (1 - LEAST_RIGHT) * (double)file->asked;
	is_good &= !symbols || file->right >= 0.9 * (double)file->asked;
	printf("%s %u - %s: %lu of %lu known, %lu wrong (%lu inside, %lu in padding)\n",
	       is_good ? "ok" : "not ok", number, argument, file->right, file->asked,
	       file->wrong, file->inside, file->padded);
	sum->asked += file->asked;
	sum->right += file->right;
	sum->wrong += file->wrong;
	vec_free(&file->functions);
	vec_free(&file->starts);
	free(file);
	return is_good;
}

int main(int argc, char **argv)
{
	unsigned int number = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	static struct file sum;
	bool is_good = true;

	for (int i = 2; i < argc; i++)
		is_good &= check(++number, argv[i], &sum);
	printf("# %lu of %lu answers right (%.4f %%), %lu asked\n", sum.right,
	       sum.right + sum.wrong,
	       100.0 * (double)sum.right / (double)(sum.right + sum.wrong + !sum.right),
	       sum.asked);
	is_good &= sum.right > 0 &&
		   (double)sum.right >= LEAST_RIGHT * (double)(sum.right + sum.wrong);
	printf("%s %u - all of them\n1..%u\n", is_good ? "ok" : "not ok", number + 1,
	       number + 1);
	return !is_good;
}
