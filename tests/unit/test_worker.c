/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parse worker from outside: what it answers, what it is allowed, and that
 * no file and no death of it costs more than that file.
 */
#include "base/error.h"
#include "worker/worker_parts.h"

#include "named.h" /* last: cmocka has a fail() of its own */

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define SCANS_MAX 512

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

struct scanned {
	size_t n;
	uint64_t cookies[SCANS_MAX];
	int errs[SCANS_MAX];
	uint32_t keys[SCANS_MAX];
};

static void scan_done(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	struct scanned *scanned = arg;

	assert_true(scanned->n < SCANS_MAX);
	scanned->cookies[scanned->n] = cookie;
	scanned->errs[scanned->n] = err;
	scanned->keys[scanned->n++] = info->n_keys;
}

static const char source_c[] = "unsigned folly_async_stack_root_tls_key = -1;\n"
			       "int named_function(int n) { return n * n + 1; }\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", source_c, strlen(source_c));
	return shell("gcc -fPIC -shared s.c -o good.so");
}

static struct worker *start(void)
{
	struct worker *worker;

	assert_int_equal(worker_new(&worker), 0);
	return worker;
}

/* The parser: the one child of the supervisor that is no zombie. */
static pid_t parser_of(const struct worker *worker)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = -1;

	while ((entry = readdir(proc))) {
		char path[300], name[32], kind;
		int pid, parent;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		f = atoi(entry->d_name) > 0 ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fscanf(f, "%d (%31[^)]) %c %d", &pid, name, &kind, &parent) == 4 &&
		    parent == worker->supervisor.pid && kind != 'Z')
			found = pid;
		fclose(f);
	}
	closedir(proc);
	assert_true(found > 0);
	return found;
}

static size_t open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static uint64_t function_offset(void)
{
	/* a small shared object: code lies at its own address in the file */
	return nm_value("", "good.so", "named_function") + 2;
}

static void expect_name(struct worker *worker)
{
	uint64_t addr = function_offset();
	struct named *named = calloc(1, sizeof(*named));
	int fd = open_file("good.so");

	named->n = 1;
	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, fd, &addr, 1, 5000 },
			     named_sink, named),
		0);
	assert_string_equal(named->items[0].name, "named_function");
	free(named);
	close(fd);
}

static void scans_in_order(void **state)
{
	const size_t n = 300, fds = open_fds();
	struct worker *worker = start();
	struct scanned *scanned = calloc(1, sizeof(*scanned));

	for (size_t i = 0; i < n; i++) {
		int fd = open_file(i % 3 == 1 ? "s.c" : "good.so");

		assert_int_equal(worker_submit_scan(worker, fd, i), 0);
		if (i % 50 == 0)
			assert_true(worker_collect(worker, 0, scan_done, scanned) >= 0);
	}
	assert_int_equal(worker_collect(worker, 10000, scan_done, scanned), 0);
	assert_int_equal(scanned->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(scanned->cookies[i], i);
		assert_int_equal(scanned->errs[i], i % 3 == 1 ? -ENOEXEC : 0);
		assert_int_equal(scanned->keys[i], i % 3 == 1 ? 0 : 1);
	}
	assert_int_equal(worker_counts(worker)->requests, n);
	assert_int_equal(worker_counts(worker)->failed, n / 3);
	assert_int_equal(worker_counts(worker)->restarts, 0);
	worker_free(worker);
	assert_int_equal(open_fds(), fds);
	free(scanned);
}

struct counted {
	const uint64_t *addrs;
	size_t n;
};

static int count_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct counted *counted = arg;

	counted->n++;
	assert_string_equal(name, "n");
	assert_int_equal(start, counted->addrs[index]);
	return 0;
}

/* More than one message each way, and than one request. */
static void names_many(void **state)
{
	const size_t n = 3 * PROTOCOL_ADDRS_MAX / 2;
	uint64_t *addrs = calloc(n, sizeof(*addrs));
	struct counted counted = { .addrs = addrs };
	struct worker *worker = start();
	static struct scanned scanned;
	FILE *map = fopen("map", "w");
	int fd;

	for (size_t i = 0; i < n; i++) {
		addrs[i] = 0x1000 + 16 * i;
		fprintf(map, "%zx 10 n\n", 0x1000 + 16 * i);
	}
	fclose(map);
	fd = open_file("map");
	assert_int_equal(worker_submit_scan(worker, open_file("good.so"), 7), 0);
	assert_int_equal(worker_names(worker,
				      &(struct name_request){ NAMES_PERF_MAP, fd, addrs,
							      n, 20000 },
				      count_name, &counted),
			 0);
	assert_int_equal(counted.n, n);
	assert_int_equal(worker_collect(worker, 0, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, 1);
	assert_int_equal(scanned.cookies[0], 7);
	worker_free(worker);
	close(fd);
	free(addrs);
}

static int refuse(void *arg, size_t index, const char *name, uint64_t start)
{
	return -ECANCELED;
}

static void passes_errors_up(void **state)
{
	struct worker *worker = start();
	uint64_t addr = function_offset();
	int text = open_file("s.c"), good = open_file("good.so");

	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, text, &addr, 1, 5000 },
			     refuse, NULL),
		-ENOEXEC);
	assert_true(strlen(error_sentence()) > 0);
	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, good, &addr, 1, 5000 },
			     refuse, NULL),
		-ECANCELED);
	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, 12345, &addr, 1, 5000 },
			     refuse, NULL),
		-EBADF);
	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, good, NULL, 0, 5000 },
			     refuse, NULL),
		0);
	expect_name(worker);
	assert_int_equal(worker_counts(worker)->restarts, 0);
	worker_free(worker);
	close(text);
	close(good);
}

/* The line of /proc/PID/status that begins so. */
static void expect_status(pid_t pid, const char *field, const char *want)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, field, strlen(field)))
			continue;
		fclose(f);
		line[strcspn(line, "\n")] = '\0';
		assert_string_equal(line + strlen(field), want);
		return;
	}
	fail_msg("%s has no %s", path, field);
}

static void holds_nothing(void **state)
{
	struct worker *worker = start();
	pid_t pids[] = { worker->supervisor.pid, parser_of(worker) };

	expect_name(worker); /* by then it has sandboxed itself */
	for (size_t i = 0; i < 2; i++) {
		expect_status(pids[i], "CapPrm:\t", "0000000000000000");
		expect_status(pids[i], "CapEff:\t", "0000000000000000");
		expect_status(pids[i], "CapAmb:\t", "0000000000000000");
		expect_status(pids[i], "NoNewPrivs:\t", "1");
		if (geteuid())
			continue;
		expect_status(pids[i], "CapBnd:\t", "0000000000000000");
		expect_status(pids[i], "Uid:\t", "65534\t65534\t65534\t65534");
		expect_status(pids[i], "Groups:\t", " ");
	}
	if (!SANITIZED)
		expect_status(pids[1], "Seccomp:\t", "2");
	worker_free(worker);
	for (size_t i = 0; i < 2; i++) {
		for (int ms = 0; ms < 30000 && !kill(pids[i], 0); ms++)
			usleep(1000);
		assert_int_equal(kill(pids[i], 0), -1);
	}
}

/* What a terminal or a service manager sends to everyone of us. */
static void outlives_signals(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct worker *worker = start();

	expect_name(worker);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		kill(worker->supervisor.pid, signals[i]);
		kill(parser_of(worker), signals[i]);
	}
	expect_name(worker);
	assert_int_equal(worker_counts(worker)->restarts, 0);
	worker_free(worker);
}

static void restarts_after_death_at_rest(void **state)
{
	const size_t fds = open_fds();
	struct worker *worker = start();
	static struct scanned scanned;

	kill(parser_of(worker), SIGKILL);
	expect_name(worker);
	assert_int_equal(worker_counts(worker)->restarts, 1);
	kill(parser_of(worker), SIGKILL);
	usleep(20000);
	assert_int_equal(worker_submit_scan(worker, open_file("good.so"), 1), 0);
	assert_int_equal(worker_collect(worker, 5000, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, 1);
	assert_int_equal(worker_counts(worker)->restarts, 2);
	/* the supervisor, too: there is another way then */
	kill(worker->supervisor.pid, SIGKILL);
	usleep(20000);
	expect_name(worker);
	worker_free(worker);
	assert_int_equal(open_fds(), fds);
}

static void blames_the_file_it_died_of(void **state)
{
	const size_t n = 100;
	struct worker *worker = start();
	static struct scanned scanned;
	pid_t parser = parser_of(worker);

	kill(parser, SIGSTOP);
	for (size_t i = 0; i < n; i++) /* one was never open */
		assert_int_equal(worker_submit_scan(worker,
						    i == 9 ? 12345 : open_file("good.so"),
						    i),
				 0);
	assert_int_equal(worker_collect(worker, 50, scan_done, &scanned), n);
	kill(parser, SIGKILL);
	assert_int_equal(worker_collect(worker, 10000, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(scanned.cookies[i], i);
		assert_int_equal(scanned.errs[i], i == 9 ? -EBADF : i ? 0 : -EPIPE);
		assert_int_equal(scanned.keys[i], i && i != 9 ? 1 : 0);
	}
	assert_int_equal(worker_counts(worker)->restarts, 1);
	assert_int_equal(worker_counts(worker)->failed, 2);
	worker_free(worker);
}

static void ends_a_scan_that_stalls(void **state)
{
	struct worker *worker = start();
	static struct scanned scanned;

	worker->scan_deadline_ms = 1000;
	kill(parser_of(worker), SIGSTOP);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(worker_submit_scan(worker, open_file("good.so"), i), 0);
	assert_int_equal(worker_collect(worker, 10000, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, 3);
	assert_int_equal(scanned.errs[0], -ETIMEDOUT);
	assert_int_equal(scanned.errs[1], 0);
	assert_int_equal(scanned.errs[2], 0);
	worker_free(worker);
}

/* A terabyte of holes that says it is one .symtab. */
static void write_huge(const char *path)
{
	struct huge {
		Elf64_Ehdr header;
		Elf64_Phdr phdr;
		Elf64_Shdr shdrs[3];
	} bytes = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_type = ET_DYN,
			    .e_phoff = offsetof(struct huge, phdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shoff = offsetof(struct huge, shdrs),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3 },
		.phdr = { .p_type = PT_LOAD,
			  .p_flags = PF_X,
			  .p_filesz = 1ULL << 40,
			  .p_memsz = 1ULL << 40 },
	};

	bytes.shdrs[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				       .sh_offset = 4096,
				       .sh_size = 24ULL << 35,
				       .sh_entsize = 24,
				       .sh_link = 2 };
	bytes.shdrs[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				       .sh_offset = 4096,
				       .sh_size = 1ULL << 39 };
	write_file(path, &bytes, sizeof(bytes));
	assert_int_equal(truncate(path, 1LL << 40), 0);
}

static void ends_a_naming_that_stalls(void **state)
{
	struct worker *worker = start();
	uint64_t addrs[] = { 0x1000, 0x2000 };
	int fd, err;

	write_huge("huge");
	fd = open_file("huge");
	err = worker_names(worker, &(struct name_request){ NAMES_ELF, fd, addrs, 2, 5 },
			   refuse, NULL);
	assert_int_equal(err, -ETIMEDOUT);
	assert_int_equal(worker_counts(worker)->restarts, 1);
	expect_name(worker);
	kill(parser_of(worker), SIGSTOP);
	err = worker_names(worker, &(struct name_request){ NAMES_ELF, fd, addrs, 2, 50 },
			   refuse, NULL);
	assert_int_equal(err, -ETIMEDOUT);
	expect_name(worker);
	assert_int_equal(worker_counts(worker)->restarts, 2);
	close(fd);
	worker_free(worker);
}

/* By another parser, which knows nothing yet; what is being read goes on. */
static void lets_go_what_it_keeps(void **state)
{
	struct scanned scanned = { 0 };
	struct worker *worker = start();
	pid_t before = parser_of(worker);

	assert_int_equal(worker_submit_scan(worker, open_file("good.so"), 1), 0);
	assert_int_equal(worker_let_go(worker), 0);
	assert_int_equal(worker_collect(worker, 60000, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, 1);
	assert_int_equal(scanned.errs[0], 0);
	assert_int_equal(parser_of(worker), before);
	assert_int_equal(worker_let_go(worker), 0);
	while (parser_of(worker) == before)
		usleep(1000);
	assert_int_equal(worker_submit_scan(worker, open_file("good.so"), 2), 0);
	assert_int_equal(worker_collect(worker, 60000, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, 2);
	assert_int_equal(scanned.errs[1], 0);
	assert_int_equal(worker_counts(worker)->restarts, 0);
	worker_free(worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_go_what_it_keeps),
		cmocka_unit_test(scans_in_order),
		cmocka_unit_test(names_many),
		cmocka_unit_test(passes_errors_up),
		cmocka_unit_test(holds_nothing),
		cmocka_unit_test(outlives_signals),
		cmocka_unit_test(restarts_after_death_at_rest),
		cmocka_unit_test(blames_the_file_it_died_of),
		cmocka_unit_test(ends_a_scan_that_stalls),
		cmocka_unit_test(ends_a_naming_that_stalls),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
