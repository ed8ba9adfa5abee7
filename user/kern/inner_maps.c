// SPDX-License-Identifier: BSD-2-Clause
#include "kern/inner_maps.h"

#include "base/error.h"

#include <bpf/bpf.h>
#include <errno.h>

int inner_maps_set(int outer, const uint32_t *keys, const int *fds, uint32_t n)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t n_set = n;

	if (!bpf_map_update_batch(outer, keys, fds, &n_set, &options))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (bpf_map_update_elem(outer, &keys[i], &fds[i], BPF_ANY))
			return fail_errno(-errno, "cannot put a map into another one");
	return 0;
}
