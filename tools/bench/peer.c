/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads peer.bpf.c and reads its ring, at weft's pace and of the size that weft
 * gives one at this rate, until SIGINT. Attaching it is left to meter.
 *
 *	peer HZ
 *
 * Prints "samples=N frames=M": how many, and how many frames the deepest had.
 */
#include "bench/peer.skel.h"
#include "peer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUMP_US	     50000
#define SAMPLE_BYTES 4096

static volatile sig_atomic_t stop;

struct seen {
	unsigned long samples;
	size_t frames;
};

static int die(const char *what)
{
	fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
	return 1;
}

static int on_sample(void *arg, void *record, size_t bytes)
{
	struct seen *seen = arg;
	size_t frames = (bytes - PEER_HEADER_BYTES) / 8;

	seen->samples++;
	if (frames > seen->frames)
		seen->frames = frames;
	return 0;
}

static void on_signal(int signal)
{
	stop = 1;
}

static struct peer_bpf *load(unsigned int hz)
{
	struct peer_bpf *skel = peer_bpf__open();
	unsigned int bytes = 64u << 10;

	while (bytes < hz / 4 * SAMPLE_BYTES)
		bytes *= 2;
	if (!skel || bpf_map__set_max_entries(skel->maps.ring, bytes) ||
	    peer_bpf__load(skel))
		return NULL;
	return skel;
}

int main(int argc, char **argv)
{
	int hz = argc > 1 ? atoi(argv[1]) : 0;
	struct seen seen = { 0 };
	struct ring_buffer *ring;
	struct peer_bpf *skel;

	if (hz <= 0) {
		fputs("usage: peer HZ\n", stderr);
		return 2;
	}
	signal(SIGINT, on_signal);
	skel = load((unsigned int)hz);
	if (!skel)
		return die("load");
	ring = ring_buffer__new(bpf_map__fd(skel->maps.ring), on_sample, &seen, NULL);
	if (!ring)
		return die("ring");
	while (!stop) {
		ring_buffer__consume(ring);
		usleep(PUMP_US);
	}
	ring_buffer__consume(ring);
	printf("samples=%lu frames=%zu\n", seen.samples, seen.frames);
	return 0;
}
