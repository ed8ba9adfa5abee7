/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps that lie in a map. */
#ifndef WEFT_KERN_INNER_MAPS_H
#define WEFT_KERN_INNER_MAPS_H

#include <stdint.h>

/* Puts n maps into another one, by its keys; from Linux 5.17 on at once: the kernel waits
 * at each such call until no program runs that began before, some 10 ms. */
int inner_maps_set(int outer, const uint32_t *keys, const int *fds, uint32_t n);

#endif
