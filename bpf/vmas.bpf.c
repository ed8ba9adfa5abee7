// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The mappings of a process that nothing was published of yet, or which has got more
 * since: read from the kernel's own tree of them. A table belongs to a file,
 * so where the same file ran before, its table is there. All files must be known, and be
 * without async keys: what is not known might have some, and its async callers would be
 * missing, untold.
 *
 * The tree is read without its lock, for which a tick can't wait, as the kernel's own
 * page faults do. What is read may be anything, were it to change meanwhile or to look
 * otherwise in another kernel; so it is only believed if each mapping says that it is
 * this process's, and all of its code is there, which the kernel counts (exec_vm).
 *
 * It takes some us, and only who would be cut pays for it, once a tick.
 */
#include "compat.bpf.h"
#include "process.bpf.h"
#include "vmas.bpf.h"
#include "words.bpf.h"

/* include/linux/mm.h */
#define VM_WRITE     2
#define VM_EXEC	     4
#define VM_GROWSDOWN 0x100

/* include/linux/maple_tree.h: what a pointer to a node says beside its address */
#define MAPLE_NODE_MASK	 255ULL
#define MAPLE_TYPE(node) ((node) >> 3 & 15)
#define MAPLE_LEAF_64	 1
#define MAPLE_ARANGE_64	 3
#define MAPLE_IS_NODE	 4

#define MAPLE_LEVELS 6 /* 10 to the 5th leaves */

/* struct maple_range_64 and maple_arange_64, in words: pivots, then slots, one more */
#define PIVOTS_AT      1
#define LEAF_PIVOTS    15
#define LEAF_SLOTS_AT  (PIVOTS_AT + LEAF_PIVOTS)
#define INNER_PIVOTS   9
#define INNER_SLOTS_AT (PIVOTS_AT + INNER_PIVOTS)

#define LEAVES_MAX 32 /* that are looked at, of up to 16 mappings each */

static __always_inline __u64 node_word(const struct vma_list *list, __u32 n)
{
	return list->node[n & (MAPLE_WORDS - 1)];
}

/* From an inner node to the one below that list->next lies in. */
static __always_inline void go_down(struct vma_list *list)
{
	__u32 slot = INNER_PIVOTS;
	__u64 pivot;

	for (__u32 i = 0; i < INNER_PIVOTS; i++) {
		pivot = node_word(list, PIVOTS_AT + i);
		if (pivot && pivot < list->next)
			continue;
		if (pivot && pivot < list->last)
			list->last = pivot;
		slot = i;
		break;
	}
	list->at = node_word(list, INNER_SLOTS_AT + slot);
}

/* Reads the node at hand. 1: it is a leaf; 0: another was, and the one below is at hand;
 * -1: it is no node. verifier: a function, since a loop calls it */
__noinline int vmas_read_node(__u32 hook)
{
	struct vma_list *list = vma_list(hook);

	if (!list || !HAS_MAPPING_TREE || !(list->at & MAPLE_IS_NODE) ||
	    bpf_probe_read_kernel(list->node, sizeof(list->node),
				  (const void *)(list->at & ~MAPLE_NODE_MASK)))
		return -1;
	if (MAPLE_TYPE(list->at) == MAPLE_LEAF_64)
		return 1;
	if (MAPLE_TYPE(list->at) != MAPLE_ARANGE_64)
		return -1;
	go_down(list);
	return 0;
}

/* The leaf that holds list->next into list->node. */
static __always_inline bool find_leaf(struct vma_list *list, __u32 hook)
{
	const struct mm_struct *mm = (const void *)list->mm;
	int is = 0;

	list->at = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	list->last = ~0ULL;
	for (int level = 0; !is && level < MAPLE_LEVELS; level++)
		is = vmas_read_node(hook);
	return is == 1;
}

/* By which table a mapping's code is walked; false: that is not known. */
static __always_inline bool find_table(struct vma_list *list,
				       struct unwind_mapping *mapping, __u64 offset,
				       const struct inode *inode)
{
	const struct unwind_file *file;

	list->key.ino = BPF_CORE_READ(inode, i_ino);
	list->key.device = BPF_CORE_READ(inode, i_sb, s_dev);
	file = bpf_map_lookup_elem(&unwind_files, &list->key);
	if (!file || file->bytes != (__u64)BPF_CORE_READ(inode, i_size) ||
	    file->written_ns != inode_written_ns(inode))
		return false;
	for (int i = 0; i < UNWIND_FILE_TEXTS; i++) {
		const struct unwind_file_text *text = &file->texts[i];

		if (offset < text->begin || offset >= text->end)
			continue;
		mapping->bias = mapping->start - offset - text->shift;
		mapping->table = file->table;
		mapping->flags = file->flags;
		return true;
	}
	return false;
}

/*
 * An entry of a leaf. 0: it is none of this process's mappings, or of its file nothing is
 * known. What is of no file is kept as awaited. verifier: a function, as is what takes a
 * leaf, since loops call them.
 */
__noinline int vmas_take(__u32 hook, __u64 entry)
{
	const struct vm_area_struct *vma = (const void *)entry;
	struct vma_list *list = vma_list(hook);
	struct unwind_mapping *mapping;
	const struct file *file;
	__u64 flags;
	__u32 n;

	if (!list || !HAS_MAPPING_TREE || (__u64)BPF_CORE_READ(vma, vm_mm) != list->mm)
		return 0;
	flags = BPF_CORE_READ(vma, vm_flags);
	if (!(flags & VM_EXEC))
		return 1;
	n = list->n;
	if (n >= VMAS_MAX)
		return 0;
	/* verifier: kernels before 6.12 forget the bound where it was spilled, and clang
	 * the mask where it knows the bound */
	KEEP(n);
	mapping = &list->of[n & (VMAS_MAX - 1)];
	mapping->start = BPF_CORE_READ(vma, vm_start);
	mapping->end = BPF_CORE_READ(vma, vm_end);
	mapping->table = 0;
	mapping->flags = 0;
	list->n++;
	if (!(flags & (VM_WRITE | VM_GROWSDOWN)))
		list->code_bytes += mapping->end - mapping->start;
	file = BPF_CORE_READ(vma, vm_file);
	return !file ||
	       find_table(list, mapping, BPF_CORE_READ(vma, vm_pgoff) * knobs.page_bytes,
			  BPF_CORE_READ(file, f_inode));
}

/* All of the leaf that holds list->next, which is behind it then; 0: as above. */
__noinline int vmas_take_leaf(__u32 hook)
{
	struct vma_list *list = vma_list(hook);
	__u64 pivot, entry;

	if (!list || !HAS_MAPPING_TREE || !find_leaf(list, hook))
		return 0;
	for (__u32 i = 0; i <= LEAF_PIVOTS; i++) {
		pivot = i < LEAF_PIVOTS ? node_word(list, PIVOTS_AT + i) : 0;
		entry = node_word(list, LEAF_SLOTS_AT + i);
		if (entry && !vmas_take(hook, entry))
			return 0;
		if (!pivot || pivot >= list->last)
			break;
	}
	list->next = list->last + 1;
	return 1;
}

int vmas_ask(__u32 hook)
{
	struct vma_list *list = vma_list(hook);
	const struct scratch *s = scratch(hook);

	if (!list || !s || !HAS_MAPPING_TREE)
		return 0;
	list->mm = s->mm;
	list->n = 0;
	list->next = 0;
	list->code_bytes = 0;
	for (int i = 0; i < LEAVES_MAX; i++) {
		if (!vmas_take_leaf(hook))
			return 0;
		if (!list->next) /* that was the last */
			break;
	}
	return list->code_bytes == (__u64)s->code_pages * knobs.page_bytes;
}
