/* SPDX-License-Identifier: BSD-2-Clause */
/* A JVM's own description of its structures, in memory that is made up, as several JDKs
 * have it. */
#ifndef WEFT_TESTS_HOTSPOT_MADE_H
#define WEFT_TESTS_HOTSPOT_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "proc/hotspot_names.h"

#define BASE  0x7f0000000000ULL
#define BYTES 32768

/* Where things lie in it. */
#define VARIABLE   (BASE + 8)	/* gHotSpotVMStructs */
#define ENTRIES	   (BASE + 256) /* what it says */
#define STATICS	   (BASE + 3072)
#define LIST	   (BASE + 3200)
#define DATA	   (BASE + 3264)
#define CODE_HEAPS (BASE + 3328)
#define QUEUE	   (BASE + 3904)
#define NAMES	   (BASE + 4096)

#define HEAPS_VARIABLE (STATICS + 0)
#define QUEUE_VARIABLE (STATICS + 8)
#define CALL_VARIABLE  (STATICS + 16)

static struct {
	unsigned char bytes[BYTES];
	unsigned int n_entries;
	size_t n_names;
} made;

static inline void put(uint64_t addr, uint64_t value, size_t n)
{
	memcpy(made.bytes + (addr - BASE), &value, n);
}

static inline uint64_t put_name(const char *name)
{
	uint64_t at = NAMES + made.n_names;

	assert_true(NAMES - BASE + made.n_names + strlen(name) + 1 < BYTES);
	strcpy((char *)made.bytes + (at - BASE), name);
	made.n_names += strlen(name) + 1;
	return at;
}

static inline void put_entry(const char *type, const char *field, const char *kind,
			     uint64_t offset, uint64_t address)
{
	uint64_t at = ENTRIES + 48ULL * made.n_entries++;

	assert_true(at + 48 < STATICS);
	put(at, put_name(type), 8);
	put(at + 8, put_name(field), 8);
	put(at + 16, kind ? put_name(kind) : 0, 8);
	put(at + 24, address != 0, 4);
	put(at + 32, offset, 8);
	put(at + 40, address, 8);
}

static inline int read_made(const struct hotspot_memory *memory, uint64_t addr,
			    void *into, size_t least, size_t n)
{
	uint64_t left = BASE + BYTES - addr;

	if (addr < BASE || addr >= BASE + BYTES || left < least)
		return fail(-EFAULT, "not there");
	memcpy(into, made.bytes + (addr - BASE), n < left ? n : left);
	return 0;
}

static const struct hotspot_memory memory = { .read = read_made };

static inline void put_heap(unsigned int n, uint64_t low, uint64_t high,
			    uint64_t segments)
{
	uint64_t at = CODE_HEAPS + 256ULL * n;

	put(DATA + 8ULL * n, at, 8);
	put(at + 8, low, 8); /* its memory */
	put(at + 16, high, 8);
	put(at + 120, segments, 8); /* its segment map */
	put(at + 256 - 8, 7, 4);
}

/* Where fields lie does not matter, but for what is said of them. */
static inline void put_jdk(int version)
{
	memset(&made, 0, sizeof(made));
	put(VARIABLE, ENTRIES, 8);
	put_entry("Other", "_len", "int", 3, 0);
	if (version < 9)
		put_entry("CodeCache", "_heap", "CodeHeap*", 0, HEAPS_VARIABLE);
	else
		put_entry("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0,
			  HEAPS_VARIABLE);
	put_entry(version < 16 ? "GenericGrowableArray" : "GrowableArrayBase", "_len",
		  "int", 4, 0);
	put_entry("GrowableArray<int>", "_data", "int*", 8, 0);
	put_entry("CodeHeap", "_memory", "VirtualSpace", 8, 0);
	put_entry("CodeHeap", "_segmap", "VirtualSpace", 120, 0);
	put_entry("CodeHeap", "_log2_segment_size", "int", 248, 0);
	put_entry("VirtualSpace", "_low_boundary", "char*", 0, 0);
	put_entry("VirtualSpace", "_high_boundary", "char*", 8, 0);
	put_entry("HeapBlock::Header", "_used", "bool", version < 25 ? 8 : 4, 0);
	put_entry("CodeBlob", "_frame_size", "int", 28, 0);
	put_entry("CodeBlob", "_frame_complete_offset", version < 25 ? "int" : "int16_t",
		  54, 0);
	put_entry("CodeBlob",
		  version >= 9 && version < 23 ? "_code_begin" : "_code_offset",
		  "address", 36, 0);
	put_entry("AbstractInterpreter", "_code", "StubQueue*", 0, QUEUE_VARIABLE);
	put_entry("StubQueue", "_stub_buffer", "address", 8, 0);
	put_entry("StubQueue", "_buffer_limit", "int", 20, 0);
	put_entry("StubRoutines", "_call_stub_return_address", "address", 0,
		  CALL_VARIABLE);
	put_entry("CodeBlob", "_name", "const char*", 8, 0);
	put_entry("CodeBlob", "_size", "int", 20, 0);
	put_entry(version >= 9 && version < 23 ? "CompiledMethod" : "nmethod", "_method",
		  "Method*", 64, 0);
	put_entry("Method", "_constMethod", "ConstMethod*", 8, 0);
	put_entry("ConstMethod", "_constants", "ConstantPool*", 8, 0);
	put_entry("ConstMethod", "_name_index", "u2", 34, 0);
	put_entry("ConstMethod", "_signature_index", "u2", 36, 0);
	put_entry("ConstantPool", "_pool_holder", "InstanceKlass*", 24, 0);
	put_entry("Klass", "_name", "Symbol*", 16, 0);
	put_entry("Symbol", "_length", "unsigned short", 0, 0);
	put_entry("Symbol", "_body", NULL, 6, 0);

	put_heap(0, 0x1000000, 0x2000000, 0x5000000);
	put_heap(1, 0x2000000, 0x3000000, 0x6000000);
	put(LIST + 4, 2, 4);
	put(LIST + 8, DATA, 8);
	put(HEAPS_VARIABLE, version < 9 ? CODE_HEAPS : LIST, 8);
	put(QUEUE_VARIABLE, QUEUE, 8);
	put(QUEUE + 8, 0x1000400, 8);
	put(QUEUE + 20, 0x20000, 4);
	put(CALL_VARIABLE, 0x1000123, 8);
}

#endif
