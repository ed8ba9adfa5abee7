// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_code.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "proc/open_copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

#define CODE_AT 4096 /* in the file; a page */
#define NO_CODE 0xcc /* int3; no instruction of arm64's begins so */

struct headers {
	Elf64_Ehdr file;
	Elf64_Phdr segment;
	Elf64_Shdr sections[2]; /* the first is none */
};

_Static_assert(sizeof(struct headers) <= CODE_AT, "the code lies behind them");

static struct headers headers_of(uint64_t begin, size_t n)
{
	return (struct headers){
		.file = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				       ELFDATA2LSB, EV_CURRENT, ELFOSABI_STANDALONE },
			  .e_type = ET_DYN,
			  .e_machine = MACHINE,
			  .e_version = EV_CURRENT,
			  .e_phoff = offsetof(struct headers, segment),
			  .e_shoff = offsetof(struct headers, sections),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 2 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = CODE_AT,
			     .p_vaddr = begin,
			     .p_paddr = begin,
			     .p_filesz = n,
			     .p_memsz = n,
			     .p_align = CODE_AT },
		.sections[1] = { .sh_type = SHT_PROGBITS,
				 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				 .sh_addr = begin,
				 .sh_offset = CODE_AT,
				 .sh_size = n },
	};
}

/* How many bytes came. A page that is not there, or no more, is filled with what ends any
 * code. By this file pages are read as well that only their own process may not read. */
static size_t read_pages(int memory, uint64_t begin, uint8_t *bytes, size_t n)
{
	size_t came = 0;

	for (size_t at = 0, some; at < n; at += some) {
		ssize_t got = pread(memory, bytes + at, n - at, (off_t)(begin + at));

		some = got > 0 ? (size_t)got : CODE_AT - (begin + at) % CODE_AT;
		some = some < n - at ? some : n - at;
		if (got > 0)
			came += some;
		else
			memset(bytes + at, NO_CODE, some);
	}
	return came;
}

static int read_memory(pid_t pid, uint64_t begin, uint8_t *bytes, size_t n)
{
	AUTO_CLOSE int memory = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0 && (errno == ENOENT || errno == ESRCH))
		return fail(-ESRCH, "pid %d is gone", pid);
	if (memory < 0)
		return fail(-EPERM, "the memory of pid %d can't be read", pid);
	return read_pages(memory, begin, bytes, n)
		       ? 0
		       : fail(-EFAULT, "pid %d has no memory where it says", pid);
}

int open_code(pid_t pid, uint64_t begin, uint64_t end, int *ret_fd)
{
	size_t n = end - begin;
	const struct headers headers = headers_of(begin, n);
	AUTO_FREE uint8_t *bytes = NULL;
	int err;

	if (end <= begin || n > OPEN_CODE_MAX)
		return fail(-EINVAL, "no %zu bytes of code are copied", n);
	bytes = calloc(1, CODE_AT + n);
	if (!bytes)
		return fail(-ENOMEM, "no memory for %zu bytes of code", n);
	memcpy(bytes, &headers, sizeof(headers));
	err = read_memory(pid, begin, bytes + CODE_AT, n);
	return err ? err : open_copy_bytes(bytes, CODE_AT + n, ret_fd);
}
