/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a profiler and says what it cost.
 *
 *	meter [-s MS] -o FILE COMMAND [ARGUMENT...]
 *	meter -p TASK -r HZ -n RUNS -w MS -o FILE COMMAND [ARGUMENT...]
 *
 * -s: SIGINT to the command after so long; else it ends by itself
 * -p: the command's perf_event program is attached to TASK, at HZ; whatever
 *     else the command attached it to should be next to nothing. After so many
 *     RUNS, counted from MS after the first, SIGINT
 *
 * FILE gets lines of NAME=NUMBER:
 *   cpu_ns        user and system time of the command and its descendants
 *   rss_kb        their high-water marks, added up
 *   first_run_ns  from fork to when a BPF program of its was seen to have run
 *   runs, run_ns  of its perf_event BPF programs, from -w on
 *   all_runs, all_run_ns  the same from the start
 *   stop_ns       from SIGINT to its end
 *   wall_ns       from fork to its end
 *   began_ns      CLOCK_MONOTONIC at fork
 *   status        as the shell has it
 */
#include "procs.h"
#include "progs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20
#define FIND_MS 2     /* until a program has run */
#define RUNS_MS 60000 /* what the runs may take at most */
#define MS	1000000ULL

struct meter {
	uint64_t warm_ns, stop_after_ns, runs_wanted;
	const char *out;
	pid_t pid, task;
	unsigned int hz;
	int tick; /* of the task; -1: not attached */
	uint64_t began_ns, first_ns, stopped_ns, ended_ns, looked_ns;
	bool warm;
	struct run_time at_warm;
	struct progs progs;
	struct procs procs;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int die(const char *what)
{
	fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
	return 125;
}

static int start_command(struct meter *meter, char **argv)
{
	meter->began_ns = now_ns();
	meter->pid = fork();
	if (meter->pid < 0)
		return die("fork");
	if (meter->pid)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* a shell's background job ignores it */
	signal(SIGINT, SIG_DFL);
	execvp(argv[0], argv);
	_exit(die(argv[0]));
}

/* Finds the first run, and then the end of the time to warm up. */
static void watch_programs(struct meter *meter)
{
	uint64_t now = now_ns();

	if (!meter->first_ns) {
		progs_find(&meter->progs, meter->pid);
		if (meter->task && meter->tick < 0)
			meter->tick = progs_attach(&meter->progs, meter->task, meter->hz);
		now = now_ns();
		if (progs_run_time(&meter->progs).runs)
			meter->first_ns = now;
	}
	if (meter->first_ns && !meter->warm && now - meter->first_ns >= meter->warm_ns) {
		meter->warm = true;
		meter->at_warm = progs_run_time(&meter->progs);
	}
}

static bool is_time_to_stop(const struct meter *meter, uint64_t now)
{
	uint64_t runs;

	if (meter->stopped_ns)
		return false;
	if (meter->stop_after_ns)
		return now - meter->began_ns >= meter->stop_after_ns;
	if (!meter->task)
		return false;
	runs = meter->warm ? progs_run_time(&meter->progs).runs - meter->at_warm.runs : 0;
	return runs >= meter->runs_wanted || now - meter->began_ns >= RUNS_MS * MS;
}

static void look(struct meter *meter)
{
	uint64_t now;

	watch_programs(meter);
	now = now_ns();
	if (now - meter->looked_ns >= LOOK_MS * MS) {
		procs_look(&meter->procs, meter->pid);
		meter->looked_ns = now;
	}
	if (is_time_to_stop(meter, now)) {
		if (meter->tick >= 0) /* all is counted before it counts */
			close(meter->tick);
		meter->stopped_ns = now_ns();
		kill(meter->pid, SIGINT);
	}
}

static int wait_for_end(struct meter *meter, struct rusage *usage)
{
	int status;

	for (;;) {
		pid_t pid = wait4(meter->pid, &status, WNOHANG, usage);

		if (pid == meter->pid)
			break;
		look(meter);
		usleep(meter->first_ns && !meter->stopped_ns ? LOOK_MS * 1000
							     : FIND_MS * 1000);
	}
	meter->ended_ns = now_ns();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static int report(const struct meter *meter, const struct rusage *usage, int status)
{
	struct run_time all = progs_run_time(&meter->progs);
	/* one misses who was not waited for, the other who lived too short */
	uint64_t waited = timeval_ns(usage->ru_utime) + timeval_ns(usage->ru_stime);
	uint64_t seen = procs_cpu_ns(&meter->procs);
	uint64_t rss = procs_rss_kb(&meter->procs);
	FILE *f = fopen(meter->out, "we");

	if (!f)
		return die(meter->out);
	if (rss < (uint64_t)usage->ru_maxrss)
		rss = (uint64_t)usage->ru_maxrss;
	fprintf(f, "cpu_ns=%lu\nrss_kb=%lu\n", waited > seen ? waited : seen, rss);
	fprintf(f, "first_run_ns=%lu\n",
		meter->first_ns ? meter->first_ns - meter->began_ns : 0);
	fprintf(f, "runs=%lu\nrun_ns=%lu\n", all.runs - meter->at_warm.runs,
		all.ns - meter->at_warm.ns);
	fprintf(f, "all_runs=%lu\nall_run_ns=%lu\n", all.runs, all.ns);
	fprintf(f, "stop_ns=%lu\n",
		meter->stopped_ns ? meter->ended_ns - meter->stopped_ns : 0);
	fprintf(f, "wall_ns=%lu\nbegan_ns=%lu\nstatus=%d\n",
		meter->ended_ns - meter->began_ns, meter->began_ns, status);
	return fclose(f) ? die(meter->out) : 0;
}

int main(int argc, char **argv)
{
	struct meter meter = { .tick = -1 };
	struct rusage usage;
	int option, status;

	while ((option = getopt(argc, argv, "+w:s:o:p:r:n:")) != -1) {
		if (option == 'w')
			meter.warm_ns = strtoull(optarg, NULL, 10) * MS;
		else if (option == 's')
			meter.stop_after_ns = strtoull(optarg, NULL, 10) * MS;
		else if (option == 'p')
			meter.task = atoi(optarg);
		else if (option == 'r')
			meter.hz = (unsigned int)atoi(optarg);
		else if (option == 'n')
			meter.runs_wanted = strtoull(optarg, NULL, 10);
		else if (option == 'o')
			meter.out = optarg;
	}
	if (!meter.out || optind >= argc || (meter.task && !meter.hz)) {
		fputs("usage: meter [-s MS | -p TASK -r HZ -n RUNS -w MS] -o FILE "
		      "COMMAND...\n",
		      stderr);
		return 2;
	}
	/* on for as long as the descriptor is open */
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		return die("run-time statistics of BPF programs");
	status = start_command(&meter, argv + optind);
	if (status)
		return status;
	status = wait_for_end(&meter, &usage);
	return report(&meter, &usage, status);
}
