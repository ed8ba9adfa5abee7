/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One sample of the program that weft is compared with. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#define PEER_FRAMES	  512
#define PEER_HEADER_BYTES 16

struct peer_rec {
	unsigned long long ts_ns;
	unsigned long long who;
	unsigned long long frames[PEER_FRAMES];
};

#endif
