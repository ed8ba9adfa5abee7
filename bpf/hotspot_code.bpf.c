// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "hotspot_code.bpf.h"

#define SEGMENT_HOPS 16 /* to the beginning of a block: of 250 to 500 KB */

/* In which of its heaps this code is, into s->low; HOTSPOT_HEAPS: in none. verifier: what
 * is in a map value it does not know, so there is one way to go on from here. */
static __always_inline void find_heap(struct scratch *s, const struct hotspot *vm,
				      __u64 at)
{
	s->low = HOTSPOT_HEAPS;
	for (int i = 0; i < HOTSPOT_HEAPS; i++)
		if (at - vm->heaps[i].low < vm->heaps[i].high - vm->heaps[i].low)
			s->low = i;
	REREAD();
}

__noinline int hotspot_find_block(__u32 hook, __u64 at)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);
	const struct hotspot_heap *heap;
	const struct hotspot *vm;
	__u64 segment;
	__u8 back = 0;

	if (!s)
		return 0;
	s->found_block = 0;
	vm = hotspot_of(s->rec.tgid);
	if (!vm)
		return 0;
	find_heap(s, vm, at);
	if (s->low >= HOTSPOT_HEAPS)
		return 0;
	heap = &vm->heaps[s->low & (HOTSPOT_HEAPS - 1)];
	segment = heap->segments + ((at - heap->low) >> (heap->segment_shift & 63));
	if (s->hops_left < SEGMENT_HOPS)
		return 0;
	for (int i = 0; i < SEGMENT_HOPS; i++) {
		s->hops_left--;
		if (!read_user(&back, sizeof(back), segment))
			return 0;
		if (!back || back == HOTSPOT_SEGMENT_FREE)
			break;
		segment -= back;
	}
	if (back)
		return 0;
	s->found_block =
		heap->low + ((segment - heap->segments) << (heap->segment_shift & 63));
	return 1;
}

/* Is that another method's code? */
static __always_inline bool is_other_method(const struct hotspot *vm, __u64 block,
					    __u64 own)
{
	return block && vm->name.bytes && vm->method.bytes &&
	       read_field(vm->name, block) == read_field(vm->name, own) &&
	       read_field(vm->method, block) != read_field(vm->method, own);
}

__noinline int hotspot_ask_call(__u32 hook, __u64 ra)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);
	const struct hotspot *vm;
	__u64 target;
	bool is_java;

	if (!s)
		return CALLED_ELSEWHERE;
	vm = hotspot_of(s->rec.tgid);
	if (!vm)
		return CALLED_ELSEWHERE;
	find_heap(s, vm, ra);
	is_java = s->low < HOTSPOT_HEAPS;
	/* C calls stubs, and methods by way of one */
	if (!is_java && s->java_bytes)
		return CALLED_ELSEWHERE;
	/* the interpreter returns where no call is */
	if (!find_target(ra, &target))
		return is_java || is_called(ra) ? CALLED_PERHAPS : CALLED_ELSEWHERE;
	if (target - s->java_block <= s->pc - s->java_block)
		return CALLED_THERE;
	if (!is_java)
		return CALLED_PERHAPS;
	hotspot_find_block(hook, target);
	if (s->low >= HOTSPOT_HEAPS || is_other_method(vm, s->found_block, s->java_block))
		return CALLED_ELSEWHERE;
	return s->found_block == s->java_block ? CALLED_THERE : CALLED_PERHAPS;
}
