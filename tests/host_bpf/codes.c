// SPDX-License-Identifier: BSD-2-Clause
#include "codes.h"

size_t record_codes(const struct sample_rec *rec, uint32_t *codes)
{
	size_t n = STACK_HEAD;

	codes[STACK_COMM] = 0;
	codes[STACK_HOOK] = rec->hook;
	codes[STACK_ENDING] = rec->ending;
	codes[STACK_KERNEL] = rec->n_kernel;
	codes[STACK_THREAD] = rec->n_thread;
	for (uint32_t i = 0; i < rec->n_words; i++) {
		uint64_t word = rec->words[i];

		switch (FRAME_KIND(word)) {
		case FRAME_ROOT:
			codes[n++] = CODE_ROOT | ROOT_NUMBER(word);
			break;
		case FRAME_GAP:
			codes[n++] = CODE_GAP | GAP_ENDING(word);
			break;
		case FRAME_SEGMENT:
			codes[n++] = CODE_SEGMENT | SEGMENT_KIND(word) << 16 |
				     SEGMENT_ENDING(word) << 8 | SEGMENT_ROOT(word);
			codes[n++] = SEGMENT_TARGET(word) << 16 | SEGMENT_COUNT(word);
			break;
		case FRAME_LABEL:
			codes[n++] = CODE_LABEL | CODE_LABEL_MORE;
			break;
		case FRAME_RESUMER:
			codes[n++] = CODE_RESUMER | i;
			break;
		default:
			codes[n++] = CODE_FRAME | i;
		}
	}
	return n;
}
