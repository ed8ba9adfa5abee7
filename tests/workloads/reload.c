// SPDX-License-Identifier: BSD-2-Clause
/*
 * Other code at the same place, all the time: as a plugin that is closed, where the next
 * one is opened. Two pages of this file take turns there. Their functions begin at the
 * same bytes, and have frames of different sizes.
 *
 *	reload MS
 *
 * Thread:  main;turns;enter_1;leaf_1  or  main;turns;enter_2;leaf_2, which keeps a return
 *          address that nobody goes back to where the other one's would be
 */
#include "work.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096
#define ROUNDS	   400000

extern const char pages[];
void *stale; /* what leaf_2 keeps */

typedef void enter(unsigned long rounds, void *kept);

#define BEGIN(name) ".type " name ", %function\n" name ":\n.cfi_startproc\n"
#define END(name)   "ret\n.cfi_endproc\n.size " name ", . - " name "\n"
#define DEEPER(by)  ".cfi_adjust_cfa_offset " by "\n"
#define ROUND	    "1: dec %rdi\njnz 1b\n"
#define AS_DEEP	    ".balign 64\n" /* on both pages */

__asm__(".pushsection .text\n.globl pages\n.p2align 12\npages:\n"
	/* the first one's */
	BEGIN("enter_1") "push %rbp\n" DEEPER(
		"8") "call leaf_1\n"
		     "pop %rbp\n" DEEPER("-8") END("enter_1") AS_DEEP BEGIN("leaf_1")
			     ROUND END("leaf_1")
	/* and the second one's */
	".p2align 12\n" BEGIN("enter_2") "push %rbp\n" DEEPER(
		"8") "call leaf_2\n"
		     "pop %rbp\n" DEEPER("-8") END("enter_2")
			     AS_DEEP BEGIN("leaf_2") "sub $0xe8, %rsp\n" DEEPER(
				     "0xe8") "mov %rsi, (%rsp)\n" ROUND
					     "add $0xe8, %rsp\n" DEEPER("-0xe8")
						     END("leaf_2") ".p2align "
								   "12\n.popsection\n");

FN void keeps_address(void)
{
	stale = __builtin_return_address(0);
	AFTER();
}

FN void calls_once(void)
{
	keeps_address();
	AFTER();
}

/* Where the pages are in this file. */
static int find_offset(struct dl_phdr_info *info, size_t bytes, void *ret)
{
	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t into =
			(uintptr_t)pages - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    into < info->dlpi_phdr[i].p_filesz)
			*(off_t *)ret = (off_t)(info->dlpi_phdr[i].p_offset + into);
	}
	return 1; /* the program itself is first */
}

FN void turns(int fd, off_t offset, void *place)
{
	for (int n = 0;; n = !n) {
		if (mmap(place, PAGE_BYTES, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, offset + n * PAGE_BYTES) != place)
			_exit(3);
		((enter *)place)(ROUNDS, stale);
	}
}

int main(int argc, char **argv)
{
	void *place =
		mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t offset = 0;

	if (argc < 2)
		return work_usage("reload", "MS");
	dl_iterate_phdr(find_offset, &offset);
	if (place == MAP_FAILED || fd < 0 || !offset)
		return 1;
	calls_once();
	work_lifetime(argv[1]);
	work_ready();
	turns(fd, offset, place);
	return 0;
}
