// SPDX-License-Identifier: BSD-2-Clause
#include "publish/outside.h"

#include "base/clock.h"

const struct outside outside_real = {
	.now_ns = clock_now_ns,
	.put = publish_maps_put_process,
	.remove = publish_maps_remove_process,
	.reach = publish_maps_reach_pages,
	.write = publish_maps_write_pages,
	.tell_file = publish_maps_tell_file,
	.put_hotspot = publish_maps_put_hotspot,
	.files = { clock_now_ns, opener_mapped, opener_owner },
	.identity = scan_identity,
	.words = opener_words,
	.hotspot = opener_hotspot,
};
