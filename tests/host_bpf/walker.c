// SPDX-License-Identifier: BSD-2-Clause
#include "walker.h"

#include "process.bpf.h"
#include "slot.bpf.h"
#include "splice.bpf.h"
#include "table.bpf.h"
#include "words.bpf.h"

#include <string.h>

static struct scratch the_scratch;
static const struct sampled *sampled;
static const union unwind_page *lent;
static __u32 n_lent;
struct knobs knobs;
bool fp_gives_sp;

struct scratch *scratch(__u32 hook)
{
	return hook == HOOK_ONCPU ? &the_scratch : NULL;
}

struct bounds_table *bounds_table(__u32 hook)
{
	static struct bounds_table the_bounds;

	return &the_bounds;
}

struct vma_list *vma_list(__u32 hook)
{
	return sampled->vmas;
}

const struct hotspot *hotspot_of(__u32 tgid)
{
	return sampled->hotspot;
}

/* In the place of process.bpf.c: this incarnation of the process was published. */
int process_begin(__u32 hook)
{
	const struct process_info *pub = &sampled->process_info;
	struct known_process known = { .mapping_table = pub->mapping_table,
				       .n_mappings = pub->n_mappings,
				       .generation = pub->generation };
	struct scratch *s = scratch(hook);

	s->has_keys = 1;
	s->has_hotspot = sampled->hotspot != NULL;
	take_mapping_table(s, &known);
	s->by_vmas = sampled->vmas != NULL;
	return 0;
}

/* Where the made-up thread began lies all that it walks but what a case says. */
int process_find_base(__u32 hook)
{
	if (scratch(hook)->sp - sampled->elsewhere < ELSEWHERE_BYTES)
		return BASE_AWAY;
	return sampled->near_base ? BASE_NEAR : BASE_BELIEVED;
}

int process_has_alternate(__u32 hook)
{
	return !sampled->no_alternate;
}

int process_maps_more(__u32 hook)
{
	return sampled->code_bytes > sampled->process_info.code_bytes;
}

bool find_g(struct scratch *s)
{
	s->go_g = sampled->g;
	return !fp_gives_sp || read_user(&s->go_g, sizeof(s->go_g),
					 sampled->tp + (__s64)s->rule.cfa_offset);
}

/* In the place of uprobes.bpf.c: nothing is probed. */
int uprobes_find_pc(__u32 hook)
{
	return 0;
}

const union unwind_page *unwind_page(__u32 n)
{
	return n < n_lent ? &lent[n] : NULL;
}

void walker_lend_pages(const union unwind_page *pages, __u32 n)
{
	lent = pages;
	n_lent = n;
}

/* In the place of slot.bpf.c: the slots of the thread were found. */
int slot_find_roots(__u32 hook)
{
	struct scratch *s = scratch(hook);

	for (int k = 0; k < KEYS_MAX; k++) {
		struct root_cursor *cursor = &s->root_cursors[s->n_root_cursors];
		__u64 at = sampled->roots[k];

		if (!at || at & 7 || !read_user(&cursor->root, sizeof(cursor->root), at))
			continue;
		cursor->root.top &= knobs.addr_mask;
		cursor->root.next &= knobs.addr_mask;
		cursor->root.fp &= knobs.addr_mask;
		cursor->addr = at;
		s->n_root_cursors++;
	}
	s->metadata_cookie = sampled->metadata_cookie;
	s->suspended_cookie = sampled->suspended_cookie;
	return 0;
}

const struct sample_rec *walker_sample(const struct sampled *at)
{
	static struct {
		struct sample_rec rec;
		__u64 words[RECORD_WORDS_MAX];
	} out;
	struct scratch *s = &the_scratch;

	sampled = at;
	memset(&s->rec, 0, sizeof(s->rec));
	splice_begin(s);
	for (__u32 i = 0; i < at->n_kernel; i++)
		emit_word(s, 0xffffffff81000000 + i);
	s->rec.n_kernel = at->n_kernel;
	s->pc = at->pc & knobs.addr_mask & FRAME_ADDR_MASK;
	s->sp = at->sp & knobs.addr_mask;
	s->fp = FP_OF(at->fp);
	s->lr = at->lr & knobs.addr_mask;
	s->x24 = at->x24;
	s->in_syscall = at->in_syscall;
	memcpy(s->regs, at->regs, sizeof(s->regs));
	splice_user_stack(HOOK_ONCPU);

	s->rec.n_words = s->n_words;
	out.rec = s->rec;
	memcpy(out.words, s->words, sizeof(out.words));
	return &out.rec;
}

bool walker_ended(void)
{
	return the_scratch.phase == PHASE_DONE;
}

void walker_forget(int byte)
{
	memset(&the_scratch, byte, sizeof(the_scratch));
}

void walker_default_knobs(void)
{
	fp_gives_sp = true;
	knobs = (struct knobs){
		.parts = PARTS_ALL,
		.max_frames = FRAMES_DEFAULT,
		.page_bytes = 4096,
		.addr_mask = ~0ULL,
	};
}
