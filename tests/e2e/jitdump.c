// SPDX-License-Identifier: BSD-2-Clause
/*
 *	jitdump FOLDER [KIND [PID]]   a JIT: every 100 us other code at one place
 *
 * By turns the code is called jit_even, is called by run_even() and calls spin_even(),
 * or odd in place of even: a false name of a frame contradicts the two around it. Its
 * dump lies in FOLDER. KIND "counter": it has the flag that its times are of a CPU's
 * counter. PID: the one that its name says, in place of its own.
 * Runs until it is killed; a line on stdout says that it is on its way.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define TURN 40000 /* of a loop: some 100 us */

static const unsigned char call_rax[] = {
	0x55,			      /* push %rbp */
	0x48, 0x89, 0xe5,	      /* mov %rsp,%rbp */
	0xb9, 0x00, 0x20, 0x00, 0x00, /* mov $0x2000,%ecx */
	0xff, 0xc9,		      /* 1: dec %ecx */
	0x75, 0xfc,		      /* jnz 1b */
	0x48, 0xb8,		      /* movabs $FUNCTION,%rax */
};
static const unsigned char after[] = { 0xff, 0xd0, 0x5d, 0xc3 }; /* call; pop; ret */

#define CODE_BYTES (sizeof(call_rax) + 8 + sizeof(after))

static unsigned char *code;
static int dump;

static void stop(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void put(const void *bytes, size_t n)
{
	if (write(dump, bytes, n) != (ssize_t)n)
		stop("write");
}

static void begin_dump(const char *folder, int has_counter, int pid)
{
	const struct {
		uint32_t magic, version, bytes, machine, pad, pid;
		uint64_t time_ns, flags;
	} head = { 0x4A695444, 1, 40, 62, 0, (uint32_t)getpid(), now_ns(), has_counter };
	char path[4096];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, pid);
	dump = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (dump < 0)
		stop(path);
	put(&head, sizeof(head));
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		stop("mmap");
}

static void generate(const char *name, void (*callee)(void))
{
	static uint64_t number;
	struct {
		uint32_t id, bytes;
		uint64_t time_ns;
		uint32_t pid, tid;
		uint64_t vma, start, code_bytes, number;
		char name[16]; /* as it is: 9 bytes with its NUL */
	} record = { .id = 0, .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid() };
	const size_t n = offsetof(__typeof__(record), name) + strlen(name) + 1;

	memcpy(code, call_rax, sizeof(call_rax));
	memcpy(code + sizeof(call_rax), &callee, 8);
	memcpy(code + sizeof(call_rax) + 8, after, sizeof(after));
	record.bytes = (uint32_t)(n + CODE_BYTES);
	record.vma = record.start = (uintptr_t)code;
	record.code_bytes = CODE_BYTES;
	record.number = number++;
	strcpy(record.name, name);
	record.time_ns = now_ns();
	put(&record, n);
	put(code, CODE_BYTES);
}

__attribute__((noinline)) static void spin_even(void)
{
	for (volatile int i = 0; i < TURN; i++)
		;
}

__attribute__((noinline)) static void spin_odd(void)
{
	for (volatile int i = 0; i < TURN; i++)
		;
}

static void call_code(void)
{
	void (*function)(void);

	memcpy(&function, &code, sizeof(function));
	function();
}

__attribute__((noinline)) static void run_even(void)
{
	generate("jit_even", spin_even);
	call_code();
}

__attribute__((noinline)) static void run_odd(void)
{
	generate("jit_odd", spin_odd);
	call_code();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		stop("mmap");
	begin_dump(argv[1], argc > 2 && !strcmp(argv[2], "counter"),
		   argc > 3 ? atoi(argv[3]) : getpid());
	puts("ready");
	fflush(stdout);
	for (;;) {
		run_even();
		run_odd();
	}
}
