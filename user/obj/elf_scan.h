/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sampler must know of an ELF file before any sample falls into it:
 * where its segments lie, its build id, and where it keeps async keys. Runs in
 * the parse worker, on bytes that anyone may have made: every offset is
 * checked, nothing is mapped, memory is bounded.
 */
#ifndef WEFT_OBJ_ELF_SCAN_H
#define WEFT_OBJ_ELF_SCAN_H

#include "shared/knobs.h"

#include <stdbool.h>
#include <stdint.h>

#define BUILD_ID_MAX  20 /* bytes; longer ones are cut, as pprof and perf do */
#define FILE_KEYS_MAX 16 /* candidates; a process's ticks look at KEYS_MAX */
#define SEGMENTS_MAX  16 /* executable and data PT_LOADs that are kept */

struct elf_segment {
	uint64_t offset; /* in the file */
	uint64_t vaddr;	 /* as linked */
	uint64_t file_bytes;
	uint64_t memory_bytes;
	uint32_t flags; /* PF_X, PF_W, PF_R */
	uint32_t reserved;
};

enum elf_libc { LIBC_UNKNOWN, LIBC_GLIBC, LIBC_MUSL };

/* Plain data: it crosses the worker's socket as bytes. Addresses as linked. */
struct elf_info {
	uint32_t n_segments;
	uint32_t n_keys;
	uint64_t key_vaddrs[FILE_KEYS_MAX]; /* from symbols and from our ELF note,
					   without duplicates */
	uint64_t metadata_cookie_vaddr;	    /* 0 = none */
	uint64_t suspended_cookie_vaddr;
	uint64_t hotspot_vaddr;	      /* of HOTSPOT_SYMBOL */
	uint64_t hotspot_types_vaddr; /* of HOTSPOT_TYPES_SYMBOL */
	uint32_t specific_offset;     /* third u32 of _thread_db_pthread_specific */
	uint32_t libc;		      /* enum elf_libc: is, or links statically */
	uint32_t keys_left_out;	      /* candidates beyond FILE_KEYS_MAX */
	uint32_t build_id_bytes;
	uint8_t build_id[BUILD_ID_MAX];
	uint16_t machine;			    /* EM_X86_64, EM_AARCH64, … */
	uint16_t type;				    /* ET_EXEC, ET_DYN, … */
	uint64_t fde_index_offset, fde_index_vaddr; /* .eh_frame_hdr; 0: none */
	uint8_t is_64bit;
	struct tls_variable
		context;   /* of THREAD_CONTEXT_SYMBOL, as process_info has it */
	uint8_t hides_key; /* it holds folly's async stacks (or libunifex's), no key */
	struct elf_segment segments[SEGMENTS_MAX];
};

/* 0; -ENOEXEC: not an ELF file of this machine's class; -EBADMSG: garbage;
 * -errno of a read. fd is borrowed and read with pread(2). */
int elf_scan(int fd, struct elf_info *ret);

/* Of bytes that anyone may have sent: can it be one? */
bool elf_info_holds(const struct elf_info *info);

/* The address as linked of a file offset, by its PT_LOAD. False: in none. */
bool elf_vaddr_of_offset(const struct elf_info *info, uint64_t offset,
			 uint64_t *ret_vaddr);

/*
 * The same for the offset of an executable mapping, which begins with its page:
 * that may lie in front of the code and in another segment's end (lld lays files
 * out so, and addresses are not offsets there).
 */
bool elf_vaddr_of_mapping(const struct elf_info *info, uint64_t pgoff,
			  uint64_t *ret_vaddr);

/* Where an address as linked lies in a process that maps the file so; 0: not. */
uint64_t elf_address(const struct elf_info *info, uint64_t start, uint64_t pgoff,
		     uint64_t vaddr);

#endif
