/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command under peer.bpf.c, with the perf event, the ring's size and the
 * reader's pace that weft has for a command at this rate.
 *
 *	peer HZ COMMAND [ARGUMENT...]
 *
 * Prints "samples=N frames=M": how many, and how many frames the deepest had.
 */
#include "bench/peer.skel.h"
#include "peer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PUMP_US	     50000
#define SAMPLE_BYTES 4096

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

/* Waits for a byte on go, so that its event is there before it begins. */
static pid_t start_command(char **argv, int *ret_go)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid) {
		close(ends[0]);
		*ret_go = ends[1];
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(ends[1]);
	if (read(ends[0], &byte, 1) == 1)
		execvp(argv[0], argv);
	_exit(127);
}

static int tick_open(pid_t pid, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000ULL / hz,
		.disabled = 1,
		.exclude_guest = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
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
	int hz = argc > 2 ? atoi(argv[1]) : 0, go = -1, tick;
	struct seen seen = { 0 };
	struct ring_buffer *ring;
	struct peer_bpf *skel;
	pid_t pid;

	if (hz <= 0) {
		fputs("usage: peer HZ COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	skel = load((unsigned int)hz);
	if (!skel)
		return die("load");
	ring = ring_buffer__new(bpf_map__fd(skel->maps.ring), on_sample, &seen, NULL);
	pid = start_command(argv + 2, &go);
	if (!ring || pid < 0)
		return die("start");
	tick = tick_open(pid, (unsigned int)hz);
	if (tick < 0 ||
	    ioctl(tick, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(skel->progs.peer_tick)))
		return die("perf event");
	if (write(go, "", 1) != 1)
		return die("start");
	while (waitpid(pid, NULL, WNOHANG) != pid) {
		ring_buffer__consume(ring);
		usleep(PUMP_US);
	}
	ring_buffer__consume(ring);
	printf("samples=%lu frames=%zu\n", seen.samples, seen.frames);
	return 0;
}
