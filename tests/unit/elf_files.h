/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real ELF files for tests, made by whatever compilers are there, in a folder
 * that goes away. What binutils say of a file is the truth to compare with.
 */
#ifndef WEFT_TESTS_ELF_FILES_H
#define WEFT_TESTS_ELF_FILES_H

#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#define UNUSED __attribute__((unused))

static char files_dir[64];

static inline int files_setup(void **state)
{
	strcpy(files_dir, "/tmp/weft-test-XXXXXX");
	return mkdtemp(files_dir) && !chdir(files_dir) ? 0 : -1;
}

static inline int files_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "cd / && rm -rf '%s'", files_dir);
	return system(command);
}

static inline UNUSED int shell(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
static inline UNUSED int shell(const char *fmt, ...)
{
	char command[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

static inline UNUSED bool has_tool(const char *tool)
{
	return !shell("command -v %s >/dev/null 2>&1", tool);
}

static inline UNUSED void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static inline UNUSED unsigned char *read_file(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "r");
	unsigned char *bytes;
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	*ret_n = (size_t)st.st_size;
	return bytes;
}

static inline UNUSED int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("cannot open %s", path);
	return fd;
}

/* An anonymous file with these bytes. */
static inline UNUSED int bytes_fd(const void *bytes, size_t n)
{
	int fd = memfd_create("weft-test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

/* The value that nm gives a symbol, 0 if it has none. */
static inline UNUSED uint64_t nm_value(const char *nm_options, const char *path,
				       const char *symbol)
{
	unsigned long value = 0;
	char command[256], line[512], name[256], type;
	FILE *f;

	snprintf(command, sizeof(command), "nm %s %s", nm_options, path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long v;

		if (sscanf(line, "%lx %c %255s", &v, &type, name) == 3 &&
		    !strcmp(name, symbol))
			value = v;
	}
	pclose(f);
	return value;
}

/* As sstrip leaves a file: loaded as before, and no section headers. */
static inline UNUSED void cut_sections(const char *from, const char *to)
{
	size_t n;
	unsigned char *bytes = read_file(from, &n);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;

	memset(bytes + header->e_shoff, 0, header->e_shnum * sizeof(Elf64_Shdr));
	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	write_file(to, bytes, n);
	free(bytes);
}

/* Of CPU, since the machine may be busy with other things. */
static inline UNUSED double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The same numbers on every run. */
static inline UNUSED uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
