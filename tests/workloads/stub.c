/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system call that is its function's last instruction, as in stubs that never return:
 * where the thread would go on lies in the next function, which has another name, another
 * frame, and below that frame an address that a call ends before.
 *
 *	stub MS
 *
 * Threads:  main;write_last  drain;sys_call
 */
#include "work.h"

#include <sys/mman.h>

/* Takes longer to write than the process lives, however fast its reader is. */
#define WRITE_BYTES 0x7ffff000UL
#define READ_BYTES  256

int ends[2];

void write_last(int fd, const void *from, size_t bytes) __attribute__((noreturn));

#if defined(__x86_64__)
__asm__(".pushsection .text.stub, \"ax\", @progbits\n"
	".type write_last, %function\n"
	"write_last:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"sub $48, %rsp\n"
	"lea after_call(%rip), %rax\n"
	"mov %rax, (%rsp)\n"
	"mov $1, %eax\n"
	"syscall\n"
	".cfi_endproc\n"
	".size write_last, . - write_last\n"
	".type never_runs, %function\n"
	"never_runs:\n"
	".cfi_startproc\n"
	"ud2\n"
	"call never_runs\n"
	"after_call:\n"
	"ud2\n"
	".cfi_endproc\n"
	".size never_runs, . - never_runs\n"
	".popsection\n");
#else
__asm__(".pushsection .text.stub, \"ax\", @progbits\n"
	".type write_last, %function\n"
	"write_last:\n"
	".cfi_startproc\n"
	"stp x29, x30, [sp, #-48]!\n"
	".cfi_def_cfa_offset 48\n"
	".cfi_offset x29, -48\n"
	".cfi_offset x30, -40\n"
	"mov x29, sp\n"
	"adr x30, after_call\n"
	"mov x8, #64\n"
	"svc #0\n"
	".cfi_endproc\n"
	".size write_last, . - write_last\n"
	".type never_runs, %function\n"
	"never_runs:\n"
	".cfi_startproc\n"
	"udf #0\n"
	"bl never_runs\n"
	"after_call:\n"
	"udf #0\n"
	".cfi_endproc\n"
	".size never_runs, . - never_runs\n"
	".popsection\n");
#endif

FN void *drain(void *arg)
{
	char bytes[READ_BYTES];

	for (;;)
		sys_call(SYS_read, ends[0], (long)bytes, sizeof(bytes), 0, 0);
	return arg;
}

int main(int argc, char **argv)
{
	void *zeroes;

	if (argc < 2)
		return work_usage(argv[0], "MS");
	/* never written, so none of it takes memory */
	zeroes = mmap(NULL, WRITE_BYTES, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (zeroes == MAP_FAILED || pipe(ends))
		return 1;
	work_lifetime(argv[1]);
	work_thread(drain, NULL);
	work_ready();
	write_last(ends[1], zeroes, WRITE_BYTES);
}
