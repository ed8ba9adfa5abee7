// SPDX-License-Identifier: BSD-2-Clause
#include "core/sample.h"

#include "base/error.h"
#include "shared/knobs.h"

#include <errno.h>
#include <string.h>

int sample_check(const struct sample_rec *rec, size_t bytes)
{
	if (bytes < SAMPLE_HEADER_BYTES)
		return fail(-EBADMSG, "a sample of %zu bytes", bytes);
	/* the ring rounds a record up to 8 bytes, never more */
	if (rec->n_words > RECORD_WORDS_MOST ||
	    bytes < SAMPLE_HEADER_BYTES + 8 * (size_t)rec->n_words)
		return fail(-EBADMSG, "a sample of %zu bytes for %u words", bytes,
			    rec->n_words);
	if (rec->n_kernel + rec->n_thread > rec->n_words)
		return fail(-EBADMSG,
			    "a sample of %u words with %u kernel, %u thread words",
			    rec->n_words, rec->n_kernel, rec->n_thread);
	if (rec->ending >= N_ENDINGS)
		return fail(-EBADMSG, "a sample with ending %u", rec->ending);
	if (!memchr(rec->comm, 0, sizeof(rec->comm)))
		return fail(-EBADMSG, "a sample whose comm does not end");
	return 0;
}
