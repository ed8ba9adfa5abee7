// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From a thread to the trace and the span that it works for, by the variable that its
 * process exports (shared/thread_context.h). Six words are followed at most, and 28
 * bytes read, whatever they hold.
 */
#include "compat.bpf.h"
#include "context.bpf.h"

static __always_inline bool has_ids(const __u64 words[TRACE_WORDS])
{
	return (words[0] | words[1]) && words[2];
}

/*
 * glibc's table of a thread's blocks of thread-local variables: entries of two words by
 * module, the first of which is the block's address; in the one before number 0 it says
 * how many there are. A thread gets a block when it first uses a variable of it.
 */
#define DTV_ENTRY_BYTES 16
#define DTV_UNALLOCATED (~0ULL)

/* What tells an offset from an address: on x86-64 a thread's variables lie below the
 * thread pointer, on arm64 next above it, and no memory is mapped at its first pages. */
#if defined(__TARGET_ARCH_x86)
#define DTV_FROM_TP	8
#define IS_OFFSET(word) ((__s64)(word) < 0)
#else
#define DTV_FROM_TP	0
#define IS_OFFSET(word) ((word) < 65536)
#endif

struct module_variable {
	__u64 module, offset;
};

static __always_inline __u64 find_in_module(__u64 tp, const struct module_variable *of)
{
	__u64 dtv = 0, n = 0, block = 0;

	if (!read_user(&dtv, sizeof(dtv), tp + DTV_FROM_TP) ||
	    !read_user(&n, sizeof(n), dtv - DTV_ENTRY_BYTES) || !of->module ||
	    of->module > n ||
	    !read_user(&block, sizeof(block), dtv + DTV_ENTRY_BYTES * of->module) ||
	    block == DTV_UNALLOCATED || !block)
		return 0;
	return block + of->offset;
}

/* By words that the dynamic linker sets; 0 until it has. */
static __always_inline __u64 find_by_words(__u64 tp, const struct tls_variable *variable)
{
	struct module_variable of = { 0 };

	if (!read_user(&of, sizeof(of), variable->at))
		return 0;
	if (variable->access == TLS_BY_WORD)
		return of.module ? tp + of.module : 0;
	if (variable->access == TLS_BY_DESCRIPTOR) {
		__u64 word = of.offset;

		if (!word)
			return 0;
		if (IS_OFFSET(word))
			return tp + word;
		if (!read_user(&of, sizeof(of), word))
			return 0;
	}
	return find_in_module(tp, &of);
}

/* Where the variable of the current thread lies; 0: it has none. */
static __always_inline __u64 find_variable(const struct tls_variable *variable)
{
	__u64 tp = thread_pointer();

	if (!tp)
		return 0;
	if (variable->access == TLS_BY_OFFSET)
		return tp + variable->at;
	return find_by_words(tp, variable);
}

/* 0: nothing is attached, or it can't be read, which the record then says. */
static __always_inline bool read_context(struct scratch *s,
					 const struct tls_variable *variable,
					 struct thread_context *ret)
{
	__u64 at = find_variable(variable), record = 0;

	if (!at)
		return false;
	if (read_user(&record, sizeof(record), at)) {
		record &= knobs.addr_mask;
		if (!record)
			return false;
		if (read_user(ret, sizeof(*ret), record))
			return ret->valid == THREAD_CONTEXT_VALID;
	}
	s->rec.flags |= SAMPLE_NO_CONTEXT;
	return false;
}

int context_add(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct process_info *pub;
	struct thread_context context;
	__u64 words[TRACE_WORDS];
	__u32 n;

	if (!s)
		return 0;
	pub = bpf_map_lookup_elem(&processes, &s->rec.tgid);
	if (!pub || !read_context(s, &pub->context, &context))
		return 0;
	__builtin_memcpy(words, &context.ids, sizeof(words));
	n = s->n_words;
	/* verifier: the budgets add up to less */
	if (!has_ids(words) || n > RECORD_WORDS_MAX - TRACE_WORDS)
		return 0;
	for (int i = 0; i < TRACE_WORDS; i++)
		s->words[(n + i) & (RECORD_WORDS_MAX - 1)] = words[i];
	s->n_words = n + TRACE_WORDS;
	s->rec.flags |= SAMPLE_TRACED;
	return 1;
}
