// SPDX-License-Identifier: BSD-2-Clause
#include "proc/hotspot_layout.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "proc/open_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VM_ENTRIES_MAX	   4096 /* JDK 25 has 585, JDK 17 801 */
#define VM_ENTRIES_AT_ONCE 256
#define VM_NAMES_BYTES_MAX (4u << 20) /* what lies between the first name and the last */
#define NAME_LONGEST	   64
#define OFFSET_MOST	   4096

/* VMStructEntry of vmStructs.hpp, JDK 6 to 25 */
struct vm_entry {
	uint64_t type, field, kind; /* text */
	uint32_t is_static, reserved;
	uint64_t offset, address;
};

_Static_assert(sizeof(struct vm_entry) == 48, "as HotSpot has it");

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
	{ "CodeBlob", "_name", BLOB_NAME },
	{ "CodeBlob", "_size", BLOB_BYTES },
	{ "nmethod", "_method", METHOD },
	{ "CompiledMethod", "_method", METHOD }, /* JDK 9 to 22 */
	{ "Method", "_constMethod", CONST_METHOD },
	{ "ConstMethod", "_constants", CONSTANTS },
	{ "ConstMethod", "_name_index", NAME_INDEX },
	{ "ConstMethod", "_signature_index", SIGNATURE_INDEX },
	{ "ConstantPool", "_pool_holder", HOLDER },
	{ "Klass", "_name", CLASS_NAME },
	{ "Symbol", "_length", TEXT_LENGTH },
	{ "Symbol", "_body", TEXT },
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

static void take_entry(struct hotspot_layout *layout, const struct vm_names *text,
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

static bool has_all(const struct hotspot_layout *layout)
{
	for (enum place i = 0; i < BLOB_NAME; i++)
		if (!layout->has[i] && i != HEAPS_AT && i != HEAP_AT && i != LENGTH &&
		    i != DATA && i != CODE_BEGIN && i != CODE_OFFSET)
			return false;
	return (layout->has[HEAP_AT] ||
		(layout->has[HEAPS_AT] && layout->has[LENGTH] && layout->has[DATA])) &&
	       (layout->has[CODE_BEGIN] || layout->has[CODE_OFFSET]);
}

int hotspot_layout_read(const struct hotspot_memory *memory, uint64_t vm_structs,
			struct hotspot_layout *ret)
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
	*ret = (struct hotspot_layout){ 0 };
	for (size_t i = 0; i < n; i++)
		take_entry(ret, &text, &entries[i]);
	return has_all(ret) ? 0 : not_known("no code heaps that are known");
}

static int read_process(const struct hotspot_memory *memory, uint64_t addr, void *into,
			size_t least, size_t n)
{
	int err = open_memory(memory->pid, addr, (struct iovec){ into, n }, least);

	return err == -EFAULT ? fail(err, "a JVM's structures are not where it says")
			      : err;
}

struct hotspot_memory hotspot_memory_of(pid_t pid)
{
	return (struct hotspot_memory){ read_process, pid };
}

uint64_t hotspot_look_at(struct hotspot_look *look, uint64_t addr, size_t bytes)
{
	uint64_t value = 0;

	if (!look->err)
		look->err = look->memory->read(look->memory, addr, &value, bytes, bytes);
	return look->err ? 0 : value;
}

uint64_t hotspot_look_field(struct hotspot_look *look, uint64_t object, enum place field,
			    size_t bytes)
{
	return object ? hotspot_look_at(look, object + look->layout->of[field], bytes)
		      : 0;
}

/* VMTypeEntry of vmStructs.hpp */
struct vm_type {
	uint64_t type, super; /* text */
	uint32_t is_oop, is_integer, is_unsigned, reserved;
	uint64_t bytes;
};

_Static_assert(sizeof(struct vm_type) == 40, "as HotSpot has it");

static bool is_called(const struct hotspot_memory *memory, uint64_t at, const char *name)
{
	char got[NAME_LONGEST] = "";
	size_t n = strlen(name) + 1;

	return !memory->read(memory, at, got, n, n) && !memcmp(got, name, n);
}

int hotspot_size_read(const struct hotspot_memory *memory, uint64_t vm_types,
		      const char *type, uint64_t *ret)
{
	struct vm_type entry = { 0 };
	uint64_t at = 0;
	int err = memory->read(memory, vm_types, &at, sizeof(at), sizeof(at));

	for (size_t i = 0; !err && i < VM_ENTRIES_MAX; i++, at += sizeof(entry)) {
		err = memory->read(memory, at, &entry, sizeof(entry), sizeof(entry));
		if (err || !entry.type)
			break;
		if (!is_called(memory, entry.type, type))
			continue;
		*ret = entry.bytes;
		return entry.bytes < OFFSET_MOST ? 0 : not_known("too large structures");
	}
	return err ? err : not_known("no types that are known");
}
