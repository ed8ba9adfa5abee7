// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that make a profiler's life hard. Each burns CPU until it is killed,
 * but for the storm.
 *
 *	target map OFFSET BYTES FILE…    in code of each FILE by turns, at OFFSET, from
 *	                                 where it returns; the file need not be an ELF
 *	                                 file at all, and is cut to BYTES (0: is not)
 *	                                 after it was mapped
 *	target jit [MAP TEXT]            in generated code; TEXT is written into its
 *	                                 perf map MAP, %s being address and size
 *	target name NAME…                in a thread of each NAME by turns
 *	target deep FRAMES               below so many frames
 *	target storm RATE MS PROGRAM     starts PROGRAM so often a second, and ends;
 *	                                 says how many there were
 *
 * A line on stdout says that it is on its way.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JIT_BYTES 4096
#define FILES_MAX 64

#ifdef __aarch64__
static const unsigned char endless[] = { 0x00, 0x00, 0x00, 0x14 }; /* b . */
#else
static const unsigned char endless[] = { 0xeb, 0xfe }; /* jmp . */
#endif

extern char **environ;

static int stop(const char *what)
{
	perror(what);
	exit(1);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void call(void *code)
{
	void (*function)(void);

	memcpy(&function, &code, sizeof(function));
	function();
}

static char *map_file(const char *path, uint64_t offset, off_t cut)
{
	int fd = open(path, O_RDWR);
	struct stat st;
	char *file;

	if (fd < 0 || fstat(fd, &st) || offset >= (uint64_t)st.st_size)
		stop(path);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || (cut && ftruncate(fd, cut)))
		stop(path);
	close(fd);
	return file + offset;
}

static int target_map(char **args)
{
	char *codes[FILES_MAX];
	int n = 0;

	for (; args[0] && args[1] && args[2 + n] && n < FILES_MAX; n++)
		codes[n] =
			map_file(args[2 + n], strtoull(args[0], NULL, 0), atol(args[1]));
	if (!n)
		return stop("target map");
	ready();
	for (int i = 0;; i = (i + 1) % n)
		call(codes[i]);
}

static int target_jit(char **args)
{
	char *code = mmap(NULL, JIT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char where[64], line[512];
	int n, fd;

	if (code == MAP_FAILED)
		return stop("target jit");
	memcpy(code, endless, sizeof(endless));
	if (args[0] && args[1]) {
		snprintf(where, sizeof(where), "%llx %x",
			 (unsigned long long)(uintptr_t)code, JIT_BYTES);
		n = snprintf(line, sizeof(line), args[1], where);
		fd = open(args[0], O_WRONLY | O_CREAT | O_APPEND, 0644);
		if (fd < 0 || write(fd, line, (size_t)n) != n)
			return stop(args[0]);
	}
	ready();
	call(code);
	return 0;
}

static int target_name(char **args)
{
	ready();
	for (int i = 0; args[0]; i = args[i + 1] ? i + 1 : 0) {
		prctl(PR_SET_NAME, args[i]);
		for (volatile int k = 0; k < 1000000; k++)
			;
	}
	return stop("target name");
}

__attribute__((noinline)) static int deeper(int frames)
{
	volatile int above = frames ? deeper(frames - 1) : 0;

	while (!frames)
		;
	return above + 1;
}

static int target_deep(char **args)
{
	ready();
	return deeper(args[0] ? atoi(args[0]) : 0);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What could not be started in time is not made up for. */
static int target_storm(char **args)
{
	uint64_t pace = 1000000000 / (args[0] ? (uint64_t)atoi(args[0]) : 1);
	uint64_t next = now_ns(), end;
	long n = 0;

	if (!args[0] || !args[1] || !args[2])
		return stop("target storm");
	end = next + 1000000 * (uint64_t)atol(args[1]);
	while (next < end) {
		struct timespec due = { (time_t)(next / 1000000000),
					(long)(next % 1000000000) };
		char *argv[] = { args[2], "0", NULL };
		pid_t pid;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		if (posix_spawn(&pid, args[2], NULL, NULL, argv, environ))
			return stop(args[2]);
		waitpid(pid, NULL, 0);
		n++;
		next += pace;
		if (next < now_ns())
			next = now_ns();
	}
	printf("%ld\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **args);
	} targets[] = {
		{ "map", target_map },	   { "jit", target_jit },
		{ "name", target_name },   { "deep", target_deep },
		{ "storm", target_storm },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(targets) / sizeof(*targets); i++)
		if (!strcmp(targets[i].name, argv[1]))
			return targets[i].run(argv + 2);
	fprintf(stderr, "usage: target map|jit|name|deep|storm …\n");
	return 2;
}
