// SPDX-License-Identifier: BSD-2-Clause
/* Probes that load a program of a few instructions, or make a small map. */
#include "base/cleanup.h"
#include "doctor/probe_parts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define INSN_MOV_IMM(reg, value)                                                         \
	((struct bpf_insn){                                                              \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value) })
#define INSN_MOV_REG(to, from)                                                           \
	((struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,                         \
			    .dst_reg = (to),                                             \
			    .src_reg = (from) })
#define INSN_CALL(helper)                                                                \
	((struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = (helper) })
#define INSN_EXIT ((struct bpf_insn){ .code = BPF_JMP | BPF_EXIT })

/* A file descriptor, or a negative errno. */
static int load(const struct bpf_insn *insns, size_t n)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "weft_probe", "GPL", insns, n,
			       NULL);

	return fd >= 0 ? fd : -errno;
}

static int load_smallest(void)
{
	const struct bpf_insn insns[] = { INSN_MOV_IMM(BPF_REG_0, 0), INSN_EXIT };

	return load(insns, sizeof(insns) / sizeof(*insns));
}

void probe_bpf_load(struct probe_result *result)
{
	AUTO_CLOSE int fd = load_smallest();

	if (fd >= 0) {
		probe_say(result, PROBE_OK, "bpf() loads a sampling program");
		return;
	}
	probe_say(result, PROBE_MISSING, "bpf() refuses a sampling program: %s",
		  strerror(-fd));
	if (fd == -ENOSYS)
		probe_todo(result, "boot a kernel built with CONFIG_BPF_SYSCALL=y and "
				   "CONFIG_BPF_EVENTS=y");
	else if (fd == -EPERM || fd == -EACCES)
		probe_todo_allow(result, "bpf()");
	else
		probe_todo(result, "boot a kernel built with CONFIG_BPF_EVENTS=y");
}

void probe_bpf_jit(struct probe_result *result)
{
	struct bpf_prog_info info = { 0 };
	__u32 info_bytes = sizeof(info);
	AUTO_CLOSE int fd = load_smallest();

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_bytes)) {
		probe_say(result, PROBE_LIMITED, "unknown: no program could be loaded");
		probe_todo(result, "see BPF programs");
	} else if (info.jited_prog_len) {
		probe_say(result, PROBE_OK, "programs run as machine code");
	} else {
		probe_say(result, PROBE_LIMITED,
			  "off: each sample costs several times as much");
		probe_todo(result, "sysctl net.core.bpf_jit_enable=1");
	}
}

void probe_bpf_ring(struct probe_result *result)
{
	AUTO_CLOSE int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "weft_probe", 0, 0,
					   (__u32)sysconf(_SC_PAGESIZE), NULL);

	if (fd >= 0) {
		probe_say(result, PROBE_OK, "can be created");
		return;
	}
	probe_say(result, PROBE_MISSING, "can't be created: %s; samples can't reach weft",
		  strerror(errno));
	if (errno == EPERM)
		probe_todo_allow(result, "bpf()");
	else
		probe_todo(result, "boot kernel 5.8 or later");
}

void probe_bpf_pt_regs(struct probe_result *result)
{
	const struct bpf_insn insns[] = {
		INSN_CALL(BPF_FUNC_get_current_task_btf),
		INSN_MOV_REG(BPF_REG_1, BPF_REG_0),
		INSN_CALL(BPF_FUNC_task_pt_regs),
		INSN_MOV_IMM(BPF_REG_0, 0),
		INSN_EXIT,
	};
	AUTO_CLOSE int fd = load(insns, sizeof(insns) / sizeof(*insns));

	if (fd >= 0) {
		probe_say(result, PROBE_OK, "bpf_task_pt_regs()");
	} else if (fd == -EPERM) {
		probe_say(result, PROBE_LIMITED, "unknown: no program could be loaded");
		probe_todo(result, "see BPF programs");
	} else {
		probe_say(result, PROBE_LIMITED,
			  "no bpf_task_pt_regs(): weft reads the registers of a "
			  "thread in the kernel from the top of its kernel stack");
		probe_todo(result, "nothing to do; kernel 5.15 and later have it");
	}
}
