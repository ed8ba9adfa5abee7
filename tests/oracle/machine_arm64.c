// SPDX-License-Identifier: BSD-2-Clause
/*
 * The debugger's protocol is a packet each way, "$text#sum", each acknowledged by
 * a "+". qemu maps the program's memory at the program's own addresses, so that is
 * read as any process's.
 */
#include "machine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACKET_BYTES   2048
#define REGISTERS      33 /* x0 to x30, sp, pc */
#define INSN_BYTES     4
#define START_TRIES    2000
#define START_PAUSE_US 5000
#define DIRECTORY      "/tmp/weft-oracle-XXXXXX"

const unsigned int machine_jump_and_call = 2 * INSN_BYTES;
const bool machine_tells_switch = true;
const unsigned int machine_no_cfi_min = 16;
const bool machine_fp_gives_sp;

static bool send_all(const struct tracer *t, const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(t->link, bytes, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* What it said last is acknowledged together with what is asked next. */
static bool say(const struct tracer *t, const char *text)
{
	char packet[PACKET_BYTES];
	unsigned int sum = 0;
	int n;

	for (const char *c = text; *c; c++)
		sum += (unsigned char)*c;
	n = snprintf(packet, sizeof(packet), "+$%s#%02x", text, sum & 0xff);
	return n > 0 && (size_t)n < sizeof(packet) && send_all(t, packet, (size_t)n);
}

static bool hear(const struct tracer *t, char *ret, size_t room)
{
	char packet[PACKET_BYTES], *start, *end;
	size_t n = 0;

	for (;;) {
		ssize_t got = recv(t->link, packet + n, sizeof(packet) - 1 - n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		n += (size_t)got;
		packet[n] = 0;
		start = strchr(packet, '$');
		end = start ? strchr(start, '#') : NULL;
		if (end && packet + n >= end + 3)
			break;
	}
	*end = 0;
	return (size_t)snprintf(ret, room, "%s", start + 1) < room;
}

static bool ask(const struct tracer *t, const char *text, char *ret, size_t room)
{
	return say(t, text) && hear(t, ret, room);
}

static bool is_done(const struct tracer *t, const char *text)
{
	char answer[PACKET_BYTES];

	return ask(t, text, answer, sizeof(answer)) && !strcmp(answer, "OK");
}

static unsigned int value_of(char digit)
{
	return (unsigned int)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* Sixteen digits, the lowest byte first. */
static uint64_t number_of(const char *digits)
{
	uint64_t number = 0;

	for (int i = 14; i >= 0; i -= 2)
		number = number << 8 | value_of(digits[i]) << 4 | value_of(digits[i + 1]);
	return number;
}

static bool get_registers(struct tracer *t)
{
	char answer[PACKET_BYTES];
	uint64_t all[REGISTERS];

	if (!ask(t, "g", answer, sizeof(answer)) || strlen(answer) < 16 * REGISTERS)
		return false;
	for (int i = 0; i < REGISTERS; i++)
		all[i] = number_of(answer + 16 * i);
	t->pc = all[32];
	t->sp = all[31];
	t->lr = all[30];
	t->fp = all[29];
	memcpy(t->regs, all, sizeof(t->regs));
	return true;
}

/* false: it has ended, or not stopped for us. */
static bool go(struct tracer *t, const char *how)
{
	char answer[PACKET_BYTES];

	if (!ask(t, how, answer, sizeof(answer))) {
		t->flaw = "the emulator has gone";
		return false;
	}
	if (*answer == 'W') {
		t->flaw = strcmp(answer, "W00") != 0 ? "the program failed" : t->flaw;
		return false;
	}
	if (strncmp(answer, "T05", 3) != 0) {
		t->flaw = "the program met a signal";
		return false;
	}
	return get_registers(t);
}

static bool link_up(struct tracer *t, const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", name);
	t->link = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (int i = 0; t->link >= 0 && i < START_TRIES; i++) {
		if (!connect(t->link, (struct sockaddr *)&to, sizeof(to)))
			return true;
		if (waitpid(t->pid, NULL, WNOHANG) == t->pid) {
			t->pid = 0;
			return false;
		}
		usleep(START_PAUSE_US);
	}
	return false;
}

static bool emulate(struct tracer *t, const char *path)
{
	char directory[] = DIRECTORY, name[sizeof(directory) + sizeof("/stub")];
	bool is_up;

	if (!mkdtemp(directory))
		return false;
	snprintf(name, sizeof(name), "%s/stub", directory);
	t->pid = fork();
	if (!t->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp(EMULATOR, EMULATOR, "-g", name, path, NULL);
		_exit(127);
	}
	is_up = t->pid > 0 && link_up(t, name);
	unlink(name);
	rmdir(directory);
	return is_up;
}

/* Its word to us is a brk, which it does not step over by itself. The emulator lets
 * one register be written only to who has asked for their names. */
bool machine_start(struct tracer *t, const char *path)
{
	char behind[64], names[PACKET_BYTES];

	if (!emulate(t, path) || !go(t, "c") ||
	    !ask(t, "qXfer:features:read:target.xml:0,200", names, sizeof(names)))
		return false;
	t->shadow_addr = t->regs[0];
	t->pc += INSN_BYTES;
	snprintf(behind, sizeof(behind), "P20=%016lx",
		 (unsigned long)__builtin_bswap64(t->pc));
	return is_done(t, behind);
}

/* By a breakpoint there, where a step would stop an instruction later. */
static bool go_to(struct tracer *t, const char *how, uint64_t pc)
{
	char text[64];
	bool is_there;

	snprintf(text, sizeof(text), "Z0,%lx,4", (unsigned long)pc);
	if (!is_done(t, text))
		return false;
	is_there = go(t, how);
	*text = 'z';
	return is_there && is_done(t, text);
}

bool machine_step(struct tracer *t, int signal)
{
	const struct activation *top = tracer_top(t);

	if (signal) /* the protocol's own numbers */
		return go_to(t, signal == SIGUSR1 ? "C1e" : "C1f", t->shadow.handler);
	if (machine_effect(t) == SYSCALL)
		return go_to(t, "c", top->signal ? top->ra : t->pc + INSN_BYTES);
	return go(t, "s");
}

void machine_stop(struct tracer *t)
{
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	if (t->link > 0)
		close(t->link);
}

enum effect machine_effect(const struct tracer *t)
{
	uint32_t insn;

	memcpy(&insn, t->text + (t->pc - t->shadow.text), sizeof(insn));
	if (insn >> 26 == 0x25 || (insn & 0xfffffc1f) == 0xd63f0000) /* bl, blr */
		return CALL;
	if (insn == 0xd4000001) /* svc */
		return SYSCALL;
	return insn == 0xd65f03c0 ? RETURN : PLAIN;
}

bool machine_call(const struct tracer *t, struct activation *ret)
{
	*ret = (struct activation){ .cfa = t->sp, .ra = t->lr };
	return true;
}

/* A frame's record lies anywhere in it. */
bool machine_is_frame(const struct truth_frame *frame, uint64_t fp)
{
	return frame->cfa ? fp >= frame->low && fp < frame->cfa : !fp;
}
