// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From a thread to the trace and the span that it works for, and to attributes of that,
 * by the variable that its process exports (shared/thread_context.h), or by what a chain
 * of async frames carries. Six words are followed at most, and twice 640 bytes read,
 * whatever they hold.
 */
#include "compat.bpf.h"
#include "context.bpf.h"
#include "words.bpf.h"

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

/* What the head of a record says. False: it is not valid, or can't be read, which the
 * sample then says. */
static __always_inline bool read_head(struct scratch *s, __u64 record,
				      struct thread_context *ret)
{
	if (read_user(ret, sizeof(*ret), record))
		return ret->valid == THREAD_CONTEXT_VALID;
	s->rec.flags |= SAMPLE_NO_CONTEXT;
	return false;
}

/* Where the record lies that the variable of this thread points to; 0: nowhere. */
static __always_inline __u64 find_threads_own(struct scratch *s)
{
	const struct process_info *pub = bpf_map_lookup_elem(&processes, &s->rec.tgid);
	__u64 at = pub ? find_variable(&pub->context) : 0, record = 0;

	if (at && !read_user(&record, sizeof(record), at))
		s->rec.flags |= SAMPLE_NO_CONTEXT;
	return record & knobs.addr_mask;
}

/* The thread's own, else that of the chain which it works for. */
static __always_inline __u64 find_record(struct scratch *s, struct thread_context *ret)
{
	__u64 record = s->has_context ? find_threads_own(s) : 0;

	if (record && read_head(s, record, ret))
		return record;
	record = s->chains_context;
	return record && read_head(s, record, ret) ? record : 0;
}

static __always_inline void add_ids(struct scratch *s, const struct trace_ids *ids)
{
	__u64 words[TRACE_WORDS];

	__builtin_memcpy(words, ids, sizeof(words));
	if (!has_ids(words))
		return;
	for (int i = 0; i < TRACE_WORDS; i++)
		emit_word(s, words[i]);
	s->rec.flags |= SAMPLE_TRACED;
}

/* Of more bytes than there may be, the first. */
static __always_inline void add_attributes(struct scratch *s, __u64 from, __u32 said)
{
	__u32 bytes = said, n = s->n_words, last;

	if (!said)
		return;
	if (bytes > ATTRIBUTES_BYTES_MAX)
		bytes = ATTRIBUTES_BYTES_MAX;
	last = n + ATTRIBUTES_WORDS(bytes) - 2;
	s->words[last & (RECORD_WORDS_MAX - 1)] = 0; /* behind the bytes */
	KEEP(n);
	KEEP(bytes);
	/* verifier: the budgets add up to less */
	if (n > RECORD_WORDS_MAX - ATTRIBUTES_WORDS_MAX || bytes > ATTRIBUTES_BYTES_MAX)
		return;
	if (!read_user(&s->words[n], bytes, from)) {
		s->rec.flags |= SAMPLE_NO_CONTEXT;
		return;
	}
	s->n_words = last + 1;
	emit_word(s, ATTRIBUTES_WORD(bytes, said));
	s->rec.flags |= SAMPLE_ATTRIBUTED;
}

int context_add(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct thread_context context;
	__u64 record;

	if (!s)
		return 0;
	record = find_record(s, &context);
	if (!record)
		return 0;
	if (knobs.trace_ids)
		add_ids(s, &context.ids);
	if (knobs.attributes)
		add_attributes(s, record + sizeof(context),
			       context.attributes_bytes[0] | context.attributes_bytes[1]
								     << 8);
	return 1;
}
