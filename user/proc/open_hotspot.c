// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_hotspot.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define VM_ENTRIES_MAX	   4096 /* JDK 25 has 585, JDK 17 801 */
#define VM_ENTRIES_AT_ONCE 256
#define VM_NAMES_BYTES_MAX (4u << 20) /* what lies between the first name and the last */
#define NAME_LONGEST	   64
#define OFFSET_MOST	   4096
#define HEAP_BYTES_MAX	   (4ULL << 30) /* HotSpot's own limit is 2 GB */
#define SHIFT_LEAST	   4
#define SHIFT_MOST	   12

/* VMStructEntry of vmStructs.hpp, JDK 6 to 25 */
struct vm_entry {
	uint64_t type, field, kind; /* text */
	uint32_t is_static, reserved;
	uint64_t offset, address;
};

_Static_assert(sizeof(struct vm_entry) == 48, "as HotSpot has it");

/* What is looked for: where fields lie in their structures, and variables in memory. */
enum place {
	HEAPS_AT, /* the first two: variables, of which one is there */
	HEAP_AT,
	LENGTH,
	DATA,
	MEMORY,
	SEGMENTS,
	SHIFT,
	LOW,
	HIGH,
	USED,
	FRAME_WORDS,
	FRAME_COMPLETE,
	CODE_BEGIN, /* one of these two */
	CODE_OFFSET,
	QUEUE_AT,
	QUEUE_BUFFER,
	QUEUE_LIMIT,
	CALL_STUB_RETURN_AT,
	N_PLACES
};

static const struct {
	const char *type, *field;
	enum place place;
} wanted[] = {
	{ "CodeCache", "_heaps", HEAPS_AT },
	{ "CodeCache", "_heap", HEAP_AT }, /* JDK 8 */
	{ "GrowableArrayBase", "_len", LENGTH },
	{ "GenericGrowableArray", "_len", LENGTH }, /* before JDK 16 */
	{ "GrowableArray<int>", "_data", DATA },
	{ "CodeHeap", "_memory", MEMORY },
	{ "CodeHeap", "_segmap", SEGMENTS },
	{ "CodeHeap", "_log2_segment_size", SHIFT },
	{ "VirtualSpace", "_low_boundary", LOW },
	{ "VirtualSpace", "_high_boundary", HIGH },
	{ "HeapBlock::Header", "_used", USED },
	{ "CodeBlob", "_frame_size", FRAME_WORDS },
	{ "CodeBlob", "_frame_complete_offset", FRAME_COMPLETE },
	{ "CodeBlob", "_code_begin", CODE_BEGIN },
	{ "CodeBlob", "_code_offset", CODE_OFFSET }, /* JDK 8, and from JDK 23 on */
	{ "AbstractInterpreter", "_code", QUEUE_AT },
	{ "StubQueue", "_stub_buffer", QUEUE_BUFFER },
	{ "StubQueue", "_buffer_limit", QUEUE_LIMIT },
	{ "StubRoutines", "_call_stub_return_address", CALL_STUB_RETURN_AT },
};

struct layout {
	uint64_t of[N_PLACES];
	bool has[N_PLACES];
	unsigned char complete_bytes; /* of FRAME_COMPLETE */
};

/* Its names, as they lie in memory. */
struct vm_names {
	uint64_t begin, end; /* of where names begin */
	char *bytes;
	size_t n;
};

static int not_known(const char *what)
{
	return fail(-ENOTSUP, "its JVM has %s", what);
}

/* Names are constants, which lie next to each other. */
static void widen_text(struct vm_names *text, uint64_t name)
{
	if (!name)
		return;
	if (!text->end || name < text->begin)
		text->begin = name;
	if (name > text->end)
		text->end = name;
}

/* All entries; *ret_n of them. */
static int read_entries(const struct hotspot_memory *memory, uint64_t at,
			struct vm_entry *entries, size_t *ret_n)
{
	size_t n = 0;
	int err;

	for (; n < VM_ENTRIES_MAX; n += VM_ENTRIES_AT_ONCE) {
		memset(entries + n, 0, VM_ENTRIES_AT_ONCE * sizeof(*entries));
		err = memory->read(memory, at + n * sizeof(*entries), entries + n,
				   sizeof(*entries),
				   VM_ENTRIES_AT_ONCE * sizeof(*entries));
		if (err)
			return err;
		for (size_t i = n; i < n + VM_ENTRIES_AT_ONCE; i++)
			if (!entries[i].type) {
				*ret_n = i;
				return 0;
			}
	}
	return not_known("more structures than are read");
}

static int read_text(const struct hotspot_memory *memory, const struct vm_entry *entries,
		     size_t n, struct vm_names *ret)
{
	uint64_t bytes;

	for (size_t i = 0; i < n; i++) {
		widen_text(ret, entries[i].type);
		widen_text(ret, entries[i].field);
		widen_text(ret, entries[i].kind);
	}
	bytes = ret->end - ret->begin;
	if (!n || bytes >= VM_NAMES_BYTES_MAX)
		return not_known("no names of structures where they should be");
	/* zeroes end the last one */
	ret->n = bytes + NAME_LONGEST;
	ret->bytes = calloc(1, ret->n + 1);
	if (!ret->bytes)
		return fail(-ENOMEM, "no memory for names of structures");
	return memory->read(memory, ret->begin, ret->bytes, bytes + 1, ret->n);
}

static const char *name_at(const struct vm_names *text, uint64_t name)
{
	return name - text->begin < text->n ? text->bytes + (name - text->begin) : "";
}

static void take_entry(struct layout *layout, const struct vm_names *text,
		       const struct vm_entry *entry)
{
	const char *type = name_at(text, entry->type);
	const char *field = name_at(text, entry->field);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		enum place place = wanted[i].place;

		if (strcmp(type, wanted[i].type) != 0 ||
		    strcmp(field, wanted[i].field) != 0)
			continue;
		layout->has[place] = entry->is_static || entry->offset < OFFSET_MOST;
		layout->of[place] = entry->is_static ? entry->address : entry->offset;
		if (place == FRAME_COMPLETE)
			layout->complete_bytes =
				strcmp(name_at(text, entry->kind), "int16_t") ? 4 : 2;
		return;
	}
}

static bool has_all(const struct layout *layout)
{
	for (enum place i = 0; i < N_PLACES; i++)
		if (!layout->has[i] && i != HEAPS_AT && i != HEAP_AT && i != LENGTH &&
		    i != DATA && i != CODE_BEGIN && i != CODE_OFFSET)
			return false;
	return (layout->has[HEAP_AT] ||
		(layout->has[HEAPS_AT] && layout->has[LENGTH] && layout->has[DATA])) &&
	       (layout->has[CODE_BEGIN] || layout->has[CODE_OFFSET]);
}

static int read_layout(const struct hotspot_memory *memory, uint64_t vm_structs,
		       struct layout *ret)
{
	AUTO_FREE struct vm_entry *entries = calloc(VM_ENTRIES_MAX, sizeof(*entries));
	AUTO_FREE char *bytes = NULL;
	struct vm_names text = { 0 };
	uint64_t at = 0;
	size_t n = 0;
	int err = entries ? 0 : fail(-ENOMEM, "no memory for a JVM's structures");

	if (!err)
		err = memory->read(memory, vm_structs, &at, sizeof(at), sizeof(at));
	if (!err)
		err = at ? read_entries(memory, at, entries, &n)
			 : fail(-EAGAIN, "its JVM has not been linked yet");
	if (!err)
		err = read_text(memory, entries, n, &text);
	bytes = text.bytes;
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		take_entry(ret, &text, &entries[i]);
	return has_all(ret) ? 0 : not_known("no code heaps that are known");
}

/* Reads on until something fails. */
struct vm_look {
	const struct hotspot_memory *memory;
	const struct layout *layout;
	int err;
};

static uint64_t look_at(struct vm_look *look, uint64_t addr, size_t bytes)
{
	uint64_t value = 0;

	if (!look->err)
		look->err = look->memory->read(look->memory, addr, &value, bytes, bytes);
	return look->err ? 0 : value;
}

/* A field of what lies there; not while nothing does. */
static uint64_t look_field(struct vm_look *look, uint64_t object, enum place field,
			   size_t bytes)
{
	return object ? look_at(look, object + look->layout->of[field], bytes) : 0;
}

static void look_at_heap(struct vm_look *look, uint64_t object, struct hotspot_heap *ret)
{
	const uint64_t *of = look->layout->of;

	ret->low = look_at(look, object + of[MEMORY] + of[LOW], 8);
	ret->high = look_at(look, object + of[MEMORY] + of[HIGH], 8);
	ret->segments = look_at(look, object + of[SEGMENTS] + of[LOW], 8);
	ret->segment_shift = look_at(look, object + of[SHIFT], 4);
}

static void look_at_heaps(struct vm_look *look, struct hotspot *ret)
{
	const struct layout *layout = look->layout;
	uint64_t list, data, heap, n;

	if (!layout->has[HEAPS_AT]) {
		heap = look_at(look, layout->of[HEAP_AT], 8);
		if (heap)
			look_at_heap(look, heap, &ret->heaps[0]);
		return;
	}
	list = look_at(look, layout->of[HEAPS_AT], 8);
	n = look_field(look, list, LENGTH, 4);
	data = look_field(look, list, DATA, 8);
	if (n > HOTSPOT_HEAPS || !data)
		return;
	for (uint64_t i = 0; i < n; i++) {
		heap = look_at(look, data + 8 * i, 8);
		if (heap)
			look_at_heap(look, heap, &ret->heaps[i]);
	}
}

static void take_fields(const struct layout *layout, struct hotspot *ret)
{
	/* a block's header is filled up to words */
	unsigned int blob = (unsigned int)(layout->of[USED] + 8) & ~7U;
	enum place code = layout->has[CODE_BEGIN] ? CODE_BEGIN : CODE_OFFSET;

	ret->blob_at = (unsigned char)blob;
	ret->frame_words =
		(struct hotspot_field){ (unsigned char)(blob + layout->of[FRAME_WORDS]),
					4 };
	ret->frame_complete = (struct hotspot_field){
		(unsigned char)(blob + layout->of[FRAME_COMPLETE]), layout->complete_bytes
	};
	ret->code = (struct hotspot_field){ (unsigned char)(blob + layout->of[code]),
					    code == CODE_BEGIN ? 8 : 4 };
}

/* Are fields where ticks can say that they are? */
static bool has_room(const struct layout *layout)
{
	static const enum place fields[] = { FRAME_WORDS, FRAME_COMPLETE, CODE_BEGIN,
					     CODE_OFFSET };

	if (layout->of[USED] > 64)
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (layout->has[fields[i]] && layout->of[fields[i]] > 128)
			return false;
	return true;
}

int hotspot_check(const struct hotspot *vm)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < HOTSPOT_HEAPS; i++) {
		const struct hotspot_heap *heap = &vm->heaps[i];

		if (!heap->low && !heap->high)
			continue;
		n++;
		if (!heap->low || !heap->segments)
			return fail(-EAGAIN, "its JVM has not made its code heaps yet");
		if (heap->high <= heap->low || heap->high - heap->low > HEAP_BYTES_MAX ||
		    heap->segment_shift < SHIFT_LEAST || heap->segment_shift > SHIFT_MOST)
			return not_known("code heaps that can't be");
	}
	if (!n || !vm->interpreter || !vm->interpreter_bytes || !vm->call_stub_return)
		return fail(-EAGAIN, "its JVM has not made its code yet");
	return vm->interpreter_bytes > HEAP_BYTES_MAX
		       ? not_known("an interpreter that can't be")
		       : 0;
}

int hotspot_read(const struct hotspot_memory *memory, uint64_t vm_structs,
		 struct hotspot *ret)
{
	struct layout layout = { 0 };
	struct vm_look look = { memory, &layout, 0 };
	uint64_t queue;
	int err = read_layout(memory, vm_structs, &layout);

	*ret = (struct hotspot){ 0 };
	if (err)
		return err;
	if (!has_room(&layout))
		return not_known("structures of an unknown shape");
	take_fields(&layout, ret);
	look_at_heaps(&look, ret);
	queue = look_at(&look, layout.of[QUEUE_AT], 8);
	ret->interpreter = look_field(&look, queue, QUEUE_BUFFER, 8);
	ret->interpreter_bytes = look_field(&look, queue, QUEUE_LIMIT, 4);
	ret->call_stub_return = look_at(&look, layout.of[CALL_STUB_RETURN_AT], 8);
	return look.err ? look.err : hotspot_check(ret);
}

static int read_process(const struct hotspot_memory *memory, uint64_t addr, void *into,
			size_t least, size_t n)
{
	struct iovec here = { into, n };
	struct iovec there = { (void *)(uintptr_t)addr, n };
	ssize_t got = process_vm_readv(memory->pid, &here, 1, &there, 1, 0);

	if (got < 0 && errno == ESRCH)
		return fail(-ESRCH, "pid %d is gone", memory->pid);
	if (got < 0 && errno == EPERM)
		return fail(-EPERM, "the memory of pid %d can't be read", memory->pid);
	return got >= (ssize_t)least
		       ? 0
		       : fail(-EFAULT, "a JVM's structures are not where it says");
}

int open_hotspot(pid_t pid, uint64_t vm_structs, struct hotspot *ret)
{
	const struct hotspot_memory memory = { read_process, pid };

	return hotspot_read(&memory, vm_structs, ret);
}
