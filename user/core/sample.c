// SPDX-License-Identifier: BSD-2-Clause
#include "core/sample.h"

#include "base/error.h"
#include "shared/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Frames and what lies between them; nothing that counts words of its own. */
static bool is_plain(uint64_t word)
{
	switch (FRAME_KIND(word)) {
	case FRAME_USER:
	case FRAME_SYSCALL:
	case FRAME_UNPROVEN:
	case FRAME_CALLER:
	case FRAME_LAUNCH:
	case FRAME_RESUMER:
	case FRAME_METHOD:
	case FRAME_BOTTOM:
	case FRAME_ASYNC:
	case FRAME_LABEL:
	case FRAME_ROOT:
	case FRAME_GAP:
		return true;
	default:
		return false;
	}
}

/* The thread's words, then segments, each as long as it says. */
static bool words_fit(const struct sample_rec *rec)
{
	unsigned int plain = rec->n_thread, n = sample_stack_words(rec);

	for (unsigned int i = rec->n_kernel; i < n; i++) {
		if (plain) {
			if (!is_plain(rec->words[i]))
				return false;
			plain--;
			continue;
		}
		if (FRAME_KIND(rec->words[i]) != FRAME_SEGMENT ||
		    SEGMENT_ENDING(rec->words[i]) >= N_ENDINGS)
			return false;
		plain = SEGMENT_COUNT(rec->words[i]);
	}
	return !plain;
}

/* What lies behind the words of its stacks. */
static bool context_fits(const struct sample_rec *rec)
{
	unsigned int n = rec->flags & SAMPLE_TRACED ? TRACE_WORDS : 0;

	if (rec->flags & SAMPLE_ATTRIBUTED) {
		if (!rec->n_words ||
		    ATTRIBUTES_BYTES(rec->words[rec->n_words - 1]) > ATTRIBUTES_BYTES_MAX)
			return false;
		n += sample_attributes_words(rec);
	}
	return n <= rec->n_words;
}

int sample_check(const struct sample_rec *rec, size_t bytes)
{
	if (bytes < SAMPLE_HEADER_BYTES)
		return fail(-EBADMSG, "a sample of %zu bytes", bytes);
	/* the ring rounds a record up to 8 bytes, never more */
	if (rec->n_words > RECORD_WORDS_MAX ||
	    bytes < SAMPLE_HEADER_BYTES + 8 * (size_t)rec->n_words)
		return fail(-EBADMSG, "a sample of %zu bytes for %u words", bytes,
			    rec->n_words);
	if (!context_fits(rec))
		return fail(-EBADMSG, "a sample of %u words without its context",
			    rec->n_words);
	if (rec->n_kernel + rec->n_thread > sample_stack_words(rec))
		return fail(-EBADMSG,
			    "a sample of %u words with %u kernel, %u thread words",
			    rec->n_words, rec->n_kernel, rec->n_thread);
	if (rec->ending >= N_ENDINGS)
		return fail(-EBADMSG, "a sample with ending %u", rec->ending);
	if (rec->hook >= N_HOOKS)
		return fail(-EBADMSG, "a sample of hook %u", rec->hook);
	if (rec->weight_ns > SAMPLE_WEIGHT_MAX_NS)
		return fail(-EBADMSG, "a sample that stands for %" PRIu64 " ns",
			    (uint64_t)rec->weight_ns);
	if (!memchr(rec->comm, 0, sizeof(rec->comm)))
		return fail(-EBADMSG, "a sample whose thread name is not terminated");
	if (!words_fit(rec))
		return fail(-EBADMSG, "a sample whose segments don't fit its words");
	return 0;
}
