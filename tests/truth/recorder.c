/* SPDX-License-Identifier: BSD-2-Clause */
#include "recorder.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGS_MAX     32
#define STOP_MS	     50
#define PATIENCE_MS  40000 /* beyond the workload's life; emulators are slow */
#define READY_MS     20000
#define ENDS_BY_TIME (128 + SIGALRM)

struct command {
	char *args[ARGS_MAX + 1];
	int n;
};

static void command_free(struct command *command)
{
	for (int i = 0; i < command->n; i++)
		free(command->args[i]);
	command->n = 0;
}

#define AUTO_COMMAND __attribute__((cleanup(command_free))) struct command

/* Too many arguments or no memory show when it is run: the last one is lost. */
static void add(struct command *command, const char *fmt, ...)
{
	va_list ap;

	if (command->n >= ARGS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&command->args[command->n], fmt, ap) >= 0)
		command->n++;
	va_end(ap);
	command->args[command->n] = NULL;
}

static void add_workload(struct command *command, const struct setup *setup,
			 const struct truth_case *of, const char *kind, unsigned int ms)
{
	AUTO_FREE char *words = strdup(of->args);
	char *rest = words, *word;

	add(command, "%s/%s/%s", setup->workloads, kind, of->program);
	while (rest && (word = strsep(&rest, " "))) {
		if (!strcmp(word, "%m"))
			add(command, "%u", ms);
		else if (!strncmp(word, "%d/", 3))
			add(command, "%s/%s/%s", setup->workloads, kind, word + 3);
		else
			add(command, "%s", word);
	}
}

/* out: what becomes of standard output; talk: of standard error. */
static pid_t start(const struct command *command, int out, int talk)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(out, STDOUT_FILENO);
	dup2(talk, STDERR_FILENO);
	execv(command->args[0], command->args);
	_exit(127);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Waits for its end, and while at it (stops) stops it for every second STOP_MS; into *ret
 * what kept it from its work. */
static int finish(pid_t pid, const char *what, long patience_ms, bool stops,
		  struct excuse *ret)
{
	long until = now_ms() + patience_ms, since;
	struct witness witness;
	bool stopped = false;
	int status;

	witness_begin(&witness, pid);
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got < 0)
			return fail_errno(-errno, "wait for %s", what);
		if (got)
			break;
		if (now_ms() > until) {
			end(pid);
			return fail(-ETIMEDOUT, "%s did not end in %ld ms", what,
				    patience_ms);
		}
		if (stops) {
			stopped = !stopped;
			kill(pid, stopped ? SIGSTOP : SIGCONT);
		}
		since = now_ms();
		witness_look(&witness);
		sleep_ms(stops ? STOP_MS : 2);
		if (stopped)
			witness_stopped(&witness, (uint64_t)(now_ms() - since) * 1000000);
	}
	*ret = witness_excuse(&witness);
	if (WIFSIGNALED(status))
		return fail(-EINTR, "%s died of signal %d", what, WTERMSIG(status));
	if (WEXITSTATUS(status) && WEXITSTATUS(status) != ENDS_BY_TIME)
		return fail(-EIO, "%s: exit status %d", what, WEXITSTATUS(status));
	return 0;
}

/* Until the workload has said that it is ready. */
static int wait_ready(int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char said[8];

	if (poll(&wait, 1, READY_MS) != 1 || read(fd, said, sizeof(said)) <= 0)
		return fail(-ETIMEDOUT, "the workload did not become ready");
	return 0;
}

static void add_record(struct command *command, const struct setup *setup,
		       const struct truth_case *of, const struct files *files)
{
	add(command, "%s", setup->weft);
	add(command, "record");
	add(command, "-q");
	add(command, "-F%u", setup->hz);
	add(command, "--tape=%s", files->tape);
	add(command, "--stats-json=%s", files->stats);
	add(command, "--output=%s", files->recorded);
	if (setup->fault && !strcmp(setup->fault, "no-tables"))
		add(command, "--unwind=fp");
	else if (setup->fault && strcmp(setup->fault, "wrong-truth"))
		add(command, "--inject-fault=%s", setup->fault);
	if (setup->unwind)
		add(command, "--unwind=%s", setup->unwind);
	if (of->option)
		add(command, "%s", of->option);
}

unsigned int recorder_ms(const struct setup *setup, const struct truth_case *of)
{
	unsigned int times = setup->times ? setup->times : 1;

	if (setup->all_ms)
		return setup->all_ms * times;
	if (setup->core && of->core_ms)
		return of->core_ms * times;
	return (of->ms ? of->ms : setup->ms) * times;
}

/* weft record -- WORKLOAD, which must say that it is ready where the recorder is to
 * be stopped while it runs. */
static int record_started(const struct setup *setup, const struct truth_case *of,
			  const char *kind, struct files *files, int talk)
{
	unsigned int ms = recorder_ms(setup, of);
	AUTO_COMMAND command = { .n = 0 };
	AUTO_CLOSE int heard = -1, said = -1;
	int pipes[2], err = 0;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return fail_errno(-errno, "pipe");
	heard = pipes[0];
	said = pipes[1];
	add_record(&command, setup, of, files);
	add(&command, "--");
	add_workload(&command, setup, of, kind, ms);
	pid = start(&command, of->stops_recorder ? said : talk, talk);
	if (of->stops_recorder)
		err = wait_ready(heard);
	if (err)
		end(pid);
	return err ? err
		   : finish(pid, "weft record", ms + PATIENCE_MS, of->stops_recorder,
			    &files->excuse);
}

/* weft record -p PID */
static int record_attached(const struct setup *setup, const struct truth_case *of,
			   const char *kind, struct files *files, int talk)
{
	unsigned int ms = recorder_ms(setup, of);
	AUTO_COMMAND workload = { .n = 0 }, command = { .n = 0 };
	AUTO_CLOSE int heard = -1, said = -1;
	int pipes[2], err;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return fail_errno(-errno, "pipe");
	heard = pipes[0];
	said = pipes[1];
	add_workload(&workload, setup, of, kind, ms + PATIENCE_MS);
	pid = start(&workload, said, talk);
	err = wait_ready(heard);

	add_record(&command, setup, of, files);
	add(&command, "-d%ums", ms);
	add(&command, "-p%d", pid);
	if (!err)
		err = finish(start(&command, talk, talk), "weft record", ms + PATIENCE_MS,
			     false, &files->excuse);
	end(pid);
	return err;
}

static int report(const struct setup *setup, const struct files *files, enum view view,
		  int talk)
{
	AUTO_COMMAND command = { .n = 0 };
	struct excuse none;

	add(&command, "%s", setup->weft);
	add(&command, "report");
	add(&command, "-q");
	add(&command, "--tape=%s", files->tape);
	add(&command, "--view=%s", view == VIEW_ASYNC ? "async" : "thread");
	add(&command, "--output=%s", files->views[view]);
	return finish(start(&command, talk, talk), "weft report", PATIENCE_MS, false,
		      &none);
}

void recorder_name_files(struct files *ret, const char *scratch)
{
	struct {
		char *path;
		const char *name;
	} all[] = {
		{ ret->tape, "tape" },
		{ ret->stats, "stats.json" },
		{ ret->recorded, "recorded.folded" },
		{ ret->talk, "talk" },
		{ ret->views[VIEW_THREAD], "thread.folded" },
		{ ret->views[VIEW_ASYNC], "async.folded" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		snprintf(all[i].path, sizeof(ret->tape), "%s/%s", scratch, all[i].name);
}

void recorder_remove(const struct files *files)
{
	unlink(files->tape);
	unlink(files->stats);
	unlink(files->recorded);
	unlink(files->talk);
	for (int view = 0; view < N_VIEWS; view++)
		unlink(files->views[view]);
}

int recorder_run(const struct setup *setup, const struct truth_case *of, const char *kind,
		 struct files *ret)
{
	AUTO_CLOSE int talk = -1;
	char program[1024];
	int err;

	if (setup->core && setup->core_is_flat)
		kind = ".";
	recorder_name_files(ret, setup->scratch);
	recorder_remove(ret);
	snprintf(program, sizeof(program), "%s/%s/%s", setup->workloads, kind,
		 of->program);
	if (access(program, X_OK)) {
		fail(0, "%s was not built", program);
		return RECORDER_LACKS;
	}
	talk = open(ret->talk, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (talk < 0)
		return fail_errno(-errno, "create %s", ret->talk);

	err = of->attached ? record_attached(setup, of, kind, ret, talk)
			   : record_started(setup, of, kind, ret, talk);
	if (!err)
		err = report(setup, ret, VIEW_THREAD, talk);
	if (!err && setup->core) /* emulated: the recording's own will do */
		strcpy(ret->views[VIEW_ASYNC], ret->recorded);
	else if (!err)
		err = report(setup, ret, VIEW_ASYNC, talk);
	return err;
}
