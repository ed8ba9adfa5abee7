// SPDX-License-Identifier: BSD-2-Clause
/*
 * stall OP HOW [FILE]
 *                  maps code of a file of its own file system (FUSE), and when all is
 *                  well says "ready" and has the file system answer OP no more
 *
 * OP: open, flush (what close(2) waits for), read, or none. HOW:
 *   plain      the file is of the FUSE itself
 *   overlay    of an overlay above it, which reads with the credentials of who mounted
 *              it, so root's programs are let in
 *   perf-map   it has no file, but generated code, and its /tmp is that overlay
 *   lock       a thread reads the FUSE's file by /proc/self/mem and holds the lock of its
 *              mappings for as long; another then waits to change them. Its "ready" comes
 *              before, since who speaks may need memory
 *   exec       a process of it is within an exec, which closes a file of the FUSE, and so
 *              holds the lock that all wait for who look into its memory
 *
 *   program    as plain, but it becomes that program, whose bytes are FILE's. Who is not
 *              in its namespace may not read it, be it root
 *
 *   flee       as overlay, but each time that somebody waits for the file, the process
 *              that maps it is killed, and another one maps another
 *
 * All in a user namespace of its own: an ordinary user can do this. Each request that
 * stays without an answer is told on stdout ("stalled"). Until it is killed. Its folder
 * stands behind "ready", and is to be removed then. A device of /dev/fuse's numbers in
 * the current folder is used rather than that, which may be root's alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES	   16 /* of code, unless a program is served */
#define PAGE	   4096
#define ANSWER_MAX (32 * PAGE) /* as much as is asked for at once */
#define FILE_INO   2

static char folder[] = "/tmp/stall.XXXXXX";
static char file_name[64] = "code";
static volatile int *is_stalled; /* shared with the server */
static volatile pid_t *fleeing;	 /* 0: nobody is */
static volatile int *n_stalled;	 /* requests without an answer */
static uint32_t stalled_op;
static char *content; /* of each file */
static size_t n_content = PAGES * PAGE;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static void must(int ok, const char *what)
{
	if (!ok)
		die(what);
}

/* ---- the file system: one folder, and files whose names differ by a digit ---- */

static struct fuse_attr attr_of(uint64_t node)
{
	int is_file = node >= FILE_INO;

	return (struct fuse_attr){
		.ino = node,
		.size = is_file ? n_content : 0,
		.mode = is_file ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = PAGE,
	};
}

static void answer(int dev, const struct fuse_in_header *in, int err, const void *body,
		   size_t n)
{
	static char out[sizeof(struct fuse_out_header) + ANSWER_MAX];
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + n),
					.error = err,
					.unique = in->unique };

	memcpy(out, &head, sizeof(head));
	if (n)
		memcpy(out + sizeof(head), body, n);
	if (write(dev, out, head.len) < 0 && errno != ENOENT)
		die("write /dev/fuse");
}

static void look_up(int dev, const struct fuse_in_header *in, const char *name)
{
	size_t n = strlen(file_name);
	uint64_t node = FILE_INO + (uint64_t)(!strncmp(name, file_name, n) ? name[n] : 0);
	const struct fuse_entry_out entry = { .nodeid = node,
					      .entry_valid = 1000,
					      .attr_valid = 1000,
					      .attr = attr_of(node) };

	if (strncmp(name, file_name, n))
		answer(dev, in, -ENOENT, NULL, 0);
	else
		answer(dev, in, 0, &entry, sizeof(entry));
}

static void read_file(int dev, const struct fuse_in_header *in,
		      const struct fuse_read_in *what)
{
	size_t n = what->offset < n_content ? n_content - what->offset : 0;

	must(what->size <= ANSWER_MAX, "a read");
	answer(dev, in, 0, content + what->offset, n < what->size ? n : what->size);
}

static void serve_one(int dev, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {
		.major = 7, .minor = 31, .max_readahead = PAGE, .max_write = PAGE
	};
	const struct fuse_attr_out attr = { .attr_valid = 1000,
					    .attr = attr_of(in->nodeid) };
	const struct fuse_open_out opened = { .fh = 1 };
	const struct fuse_statfs_out fs = { .st = { .bsize = PAGE, .namelen = 255 } };
	const void *body = in + 1;

	switch (in->opcode) {
	case FUSE_INIT:
		return answer(dev, in, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return look_up(dev, in, body);
	case FUSE_GETATTR:
		return answer(dev, in, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return answer(dev, in, 0, &opened, sizeof(opened));
	case FUSE_READ:
		return read_file(dev, in, body);
	case FUSE_STATFS:
		return answer(dev, in, 0, &fs, sizeof(fs));
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_READDIR:
		return answer(dev, in, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return answer(dev, in, -ENOSYS, NULL, 0);
	}
}

static _Noreturn void serve(int dev)
{
	static uint64_t request[ANSWER_MAX / 8];
	const struct fuse_in_header *in = (void *)request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (read(dev, request, sizeof(request)) < 0) {
			if (errno == EINTR || errno == ENOENT || errno == EAGAIN)
				continue;
			exit(0);
		}
		if (*is_stalled && in->opcode == stalled_op) {
			++*n_stalled;
			puts("stalled");
			fflush(stdout);
			if (*fleeing)
				kill(*fleeing, SIGKILL);
			continue;
		}
		serve_one(dev, in);
	}
}

/* ---- the process ---- */

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	must(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
	close(fd);
}

static void enter_namespaces(void)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", getuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getgid());
	must(!unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", uids);
	write_text("/proc/self/gid_map", gids);
}

static const char *place(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void mount_all(void)
{
	static const char *const names[] = { "fuse", "empty", "over" };
	char options[256];
	int dev = open("device", O_RDWR | O_CLOEXEC);

	if (dev < 0)
		dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	must(dev >= 0, "/dev/fuse");
	must(!mount("stall", folder, "tmpfs", 0, NULL), "tmpfs");
	for (int i = 0; i < 3; i++)
		must(!mkdir(place(names[i]), 0755), "mkdir");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", dev);
	must(!mount("stall", place("fuse"), "fuse", MS_NOSUID | MS_NODEV, options),
	     "mount fuse");
	if (!fork())
		serve(dev);
	close(dev);
	snprintf(options, sizeof(options), "lowerdir=%s/fuse:%s/empty", folder, folder);
	must(!mount("stall", place("over"), "overlay", 0, options), "mount overlay");
}

static void *map_code(const char *below)
{
	char path[256];
	void *code;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place(below), file_name);
	fd = open(path, O_RDONLY);
	must(fd >= 0, path);
	code = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	must(code != MAP_FAILED, "mmap");
	close(fd);
	return code;
}

static void *read_by_mem(void *arg)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char byte;

	if (pread(fd, &byte, 1, (off_t)(uintptr_t)arg + (PAGES - 1) * PAGE) < 0)
		perror("pread");
	return NULL;
}

/* once the lock is held */
static void *map_more(void *arg)
{
	while (!*n_stalled)
		usleep(1000);
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return arg;
}

static void start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, arg), "pthread_create");
}

static void hang_in_exec(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", place("fuse"), file_name);
	if (fork()) /* who has it open as well could not be killed before the server */
		return;
	*is_stalled = 1;
	must(open(path, O_RDONLY | O_CLOEXEC) >= 0, path);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execlp("true", "true", NULL);
	die("true");
}

static void burn(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static _Noreturn void flee(void)
{
	size_t n = strlen(file_name);

	for (char which = '0';; which++) {
		pid_t pid = fork();

		if (!pid) {
			file_name[n] = which;
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			map_code("over");
			burn();
		}
		*fleeing = pid;
		must(waitpid(pid, NULL, 0) == pid, "waitpid");
	}
}

static void *burn_generated(void *arg)
{
	static const unsigned char loop[] = {
#ifdef __aarch64__
		0x00, 0x00, 0x00, 0x14 /* b . */
#else
		0xeb, 0xfe /* jmp . */
#endif
	};
	unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, loop, sizeof(loop));
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)code, (char *)code + sizeof(loop));
	((void (*)(void))(uintptr_t)code)();
	return arg;
}

/* path NULL: code of no program */
static void read_content(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat st;

	if (path) {
		must(fd >= 0 && !fstat(fd, &st), path);
		n_content = (size_t)st.st_size;
	}
	content = malloc(n_content);
	must(content != NULL, "malloc");
	memset(content, 0xc3, n_content); /* ret */
	must(!path || read(fd, content, n_content) == (ssize_t)n_content, path);
}

static _Noreturn void become_program(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", place("fuse"), file_name);
	execl(path, file_name, NULL);
	die(path);
}

static uint32_t op_of(const char *name)
{
	if (!strcmp(name, "open"))
		return FUSE_OPEN;
	if (!strcmp(name, "flush"))
		return FUSE_FLUSH;
	return strcmp(name, "read") ? 0 : FUSE_READ;
}

int main(int argc, char **argv)
{
	const char *how = argc >= 3 ? argv[2] : "";
	void *code;

	if (argc != 3 + !strcmp(how, "program"))
		return 2;
	read_content(argv[3]);
	is_stalled = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	fleeing = (volatile pid_t *)(is_stalled + 1);
	n_stalled = is_stalled + 2;
	stalled_op = op_of(argv[1]);
	must(mkdtemp(folder) != NULL, "mkdtemp");
	if (!strcmp(how, "perf-map"))
		snprintf(file_name, sizeof(file_name), "perf-%d.map", getpid());
	enter_namespaces();
	mount_all();
	code = map_code(!strcmp(how, "overlay") || !strcmp(how, "perf-map") ? "over"
									    : "fuse");
	if (!strcmp(how, "exec"))
		hang_in_exec();
	if (!strcmp(how, "perf-map")) {
		must(!mount(place("over"), "/tmp", NULL, MS_BIND, NULL), "bind");
		munmap(code, PAGES * PAGE);
		start(burn_generated, NULL);
	}
	*is_stalled = 1;
	printf("ready %s\n", folder);
	fflush(stdout);
	if (!strcmp(how, "lock")) {
		start(map_more, NULL);
		start(read_by_mem, code);
	}
	if (!strcmp(how, "program"))
		become_program();
	if (!strcmp(how, "flee"))
		flee();
	burn();
}
