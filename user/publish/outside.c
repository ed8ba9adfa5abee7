// SPDX-License-Identifier: BSD-2-Clause
#include "publish/outside.h"

#include "base/clock.h"
#include "proc/scan.h"

const struct outside outside_real = {
	.now_ns = clock_now_ns,
	.put = published_put,
	.remove = published_remove,
	.write = published_write,
	.files = { clock_now_ns, open_mapped, open_owner },
	.identity = scan_identity,
	.is_mapped = scan_is_mapped,
	.peek = peek_words,
};
