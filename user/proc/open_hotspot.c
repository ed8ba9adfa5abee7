// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_hotspot.h"

#include "base/error.h"

#include <errno.h>

#define HEAP_BYTES_MAX (4ULL << 30) /* HotSpot's own limit is 2 GB */
#define FIELD_MOST     512	    /* into a blob */
#define SHIFT_LEAST    4
#define SHIFT_MOST     12

static void look_at_heap(struct hotspot_look *look, uint64_t object,
			 struct hotspot_heap *ret)
{
	const uint64_t *of = look->layout->of;

	ret->low = hotspot_look_at(look, object + of[MEMORY] + of[LOW], 8);
	ret->high = hotspot_look_at(look, object + of[MEMORY] + of[HIGH], 8);
	ret->segments = hotspot_look_at(look, object + of[SEGMENTS] + of[LOW], 8);
	ret->segment_shift = hotspot_look_at(look, object + of[SHIFT], 4);
}

static void look_at_heaps(struct hotspot_look *look, struct hotspot *ret)
{
	const struct hotspot_layout *layout = look->layout;
	uint64_t list, data, heap, n;

	if (!layout->has[HEAPS_AT]) {
		heap = hotspot_look_at(look, layout->of[HEAP_AT], 8);
		if (heap)
			look_at_heap(look, heap, &ret->heaps[0]);
		return;
	}
	list = hotspot_look_at(look, layout->of[HEAPS_AT], 8);
	n = hotspot_look_field(look, list, LENGTH, 4);
	data = hotspot_look_field(look, list, DATA, 8);
	if (n > HOTSPOT_HEAPS || !data)
		return;
	for (uint64_t i = 0; i < n; i++) {
		heap = hotspot_look_at(look, data + 8 * i, 8);
		if (heap)
			look_at_heap(look, heap, &ret->heaps[i]);
	}
}

static struct hotspot_field field_of(const struct hotspot_layout *layout,
				     unsigned int blob, enum place place,
				     unsigned int bytes)
{
	struct hotspot_field field = { (unsigned short)(blob + layout->of[place]),
				       (unsigned short)bytes };

	return layout->has[place] ? field : (struct hotspot_field){ 0, 0 };
}

static void take_fields(const struct hotspot_layout *layout, struct hotspot *ret)
{
	/* a block's header is filled up to words */
	unsigned int blob = (unsigned int)(layout->of[USED] + 8) & ~7U;
	enum place code = layout->has[CODE_BEGIN] ? CODE_BEGIN : CODE_OFFSET;

	ret->blob_at = blob;
	ret->frame_words = field_of(layout, blob, FRAME_WORDS, 4);
	ret->frame_complete =
		field_of(layout, blob, FRAME_COMPLETE, layout->complete_bytes);
	ret->code = field_of(layout, blob, code, code == CODE_BEGIN ? 8 : 4);
	ret->name = field_of(layout, blob, BLOB_NAME, 8);
	ret->method = field_of(layout, blob, METHOD, 8);
}

/* Are fields where ticks can say that they are? */
static bool has_room(const struct hotspot_layout *layout)
{
	static const enum place fields[] = { FRAME_WORDS, FRAME_COMPLETE, CODE_BEGIN,
					     CODE_OFFSET, BLOB_NAME,	  METHOD };

	if (layout->of[USED] > 64)
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (layout->has[fields[i]] && layout->of[fields[i]] > FIELD_MOST)
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
			return fail(-ENOTSUP, "its JVM has code heaps that can't be");
	}
	if (!n || !vm->interpreter || !vm->interpreter_bytes || !vm->call_stub_return)
		return fail(-EAGAIN, "its JVM has not made its code yet");
	return vm->interpreter_bytes > HEAP_BYTES_MAX
		       ? fail(-ENOTSUP, "its JVM has an interpreter that can't be")
		       : 0;
}

int hotspot_take(const struct hotspot_memory *memory, const struct hotspot_layout *layout,
		 struct hotspot *ret)
{
	struct hotspot_look look = { memory, layout, 0 };
	uint64_t queue;

	*ret = (struct hotspot){ 0 };
	if (!has_room(layout))
		return fail(-ENOTSUP, "its JVM has structures of an unknown shape");
	take_fields(layout, ret);
	look_at_heaps(&look, ret);
	queue = hotspot_look_at(&look, layout->of[QUEUE_AT], 8);
	ret->interpreter = hotspot_look_field(&look, queue, QUEUE_BUFFER, 8);
	ret->interpreter_bytes = hotspot_look_field(&look, queue, QUEUE_LIMIT, 4);
	ret->call_stub_return =
		hotspot_look_at(&look, layout->of[CALL_STUB_RETURN_AT], 8);
	return look.err ? look.err : hotspot_check(ret);
}

int hotspot_read(const struct hotspot_memory *memory, uint64_t vm_structs,
		 struct hotspot *ret)
{
	struct hotspot_layout layout;
	int err = hotspot_layout_read(memory, vm_structs, &layout);

	return err ? err : hotspot_take(memory, &layout, ret);
}

int open_hotspot(pid_t pid, uint64_t vm_structs, struct hotspot *ret)
{
	const struct hotspot_memory memory = hotspot_memory_of(pid);

	return hotspot_read(&memory, vm_structs, ret);
}
