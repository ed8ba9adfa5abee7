// SPDX-License-Identifier: BSD-2-Clause
#include "offline.h"

#include "popped.h"

#include "base/error.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#define ENTRY_BYTES 64
#define STACK_MAX   (64u << 20) /* farther up than that is no stack */

struct offline {
	struct modules *modules;
	const struct kernel_sample *sample;
	struct offline_stack *stack;
	Dwfl *dwfl;
	Dwarf_Word regs[N_DWARF]; /* of the sampled frame */
	bool above;		  /* something above the dump was asked for */
	bool below;   /* below the stack pointer: what a function took off already */
	bool outside; /* in the last step, something elsewhere */
};

int offline_new(struct offline **ret, struct modules *modules)
{
	struct offline *offline = calloc(1, sizeof(*offline));

	if (!offline)
		return fail(-ENOMEM, "no memory for libdwfl");
	offline->modules = modules;
	*ret = offline;
	return 0;
}

void offline_free(struct offline *offline)
{
	free(offline);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct offline *o = arg;
	const struct kernel_sample *sample = o->sample;
	uint64_t at = addr - sample->regs[REG_SP];

	if (at <= sample->stack_bytes && sample->stack_bytes - at >= sizeof(*ret)) {
		memcpy(ret, sample->stack + at, sizeof(*ret));
		return true;
	}
	if (o->stack->n == 1 && -at < STACK_MAX &&
	    popped_read(o->dwfl, o->stack->at[0], o->regs, addr, ret))
		return true;
	if (addr > sample->regs[REG_SP] && at < STACK_MAX)
		o->above = true;
	else if (-at < STACK_MAX)
		o->below = true;
	else
		o->outside = true;
	return false;
}

static void copy_registers(struct offline *o)
{
#if defined(__x86_64__)
	for (int i = 0; i < N_DWARF; i++)
		o->regs[i] = o->sample->regs[dwarf_regs[i]];
#else
	memcpy(o->regs, o->sample->regs, sizeof(o->regs));
#endif
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct offline *o = arg;

#if defined(__aarch64__)
	dwfl_thread_state_register_pc(thread, o->sample->regs[REG_PC]);
#endif
	return dwfl_thread_state_registers(thread, 0, N_DWARF, o->regs);
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct offline *o = arg;
	struct offline_stack *stack = o->stack;
	bool sampled;
	Dwarf_Addr pc;

	if (stack->n == OFFLINE_FRAMES || !dwfl_frame_pc(frame, &pc, &sampled))
		return DWARF_CB_ABORT;
	if (!stack->n)
		stack->leaf_untold = !popped_is_told(o->dwfl, pc);
	stack->at[stack->n++] = pc;
	if (!dwfl_addrmodule(o->dwfl, sampled ? pc : pc - 1))
		stack->no_module++;
	o->outside = false;
	return DWARF_CB_OK;
}

static void gave_up(struct offline_stack *stack, const char *why)
{
	stack->end = OFFLINE_GAVE_UP;
	snprintf(stack->why, sizeof(stack->why), "%s", why);
}

/*
 * What could not be read is an end like any other to libdwfl, now or, where it was
 * a register that the next step needs, one step later.
 */
static void judge_end(const struct offline *o, struct offline_stack *stack, int result)
{
	const struct kernel_sample *sample = o->sample;

	stack->end = OFFLINE_START;
	if (stack->n == OFFLINE_FRAMES)
		gave_up(stack, "too many frames");
	else if (o->above && sample->stack_bytes == sample->dump_bytes)
		stack->end = OFFLINE_DUMP;
	else if (o->above)
		gave_up(stack, "the stack's memory ends");
	else if (o->below)
		gave_up(stack, "needs what was taken off the stack");
	else if (o->outside)
		gave_up(stack, "needs memory that is no stack");
	else if (result)
		gave_up(stack, dwfl_errmsg(-1) ?: "no word of why");
}

/* Is it in the first instructions of a program or of the dynamic linker? These
 * have no caller, whether their file says so or not. */
static bool is_entry(Dwfl *dwfl, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	GElf_Ehdr head;

	return elf && gelf_getehdr(elf, &head) && head.e_entry &&
	       pc - (head.e_entry + bias) < ENTRY_BYTES;
}

/* What a step came to that cannot have been called from is no frame. */
static void drop_no_code(const struct offline *o, struct offline_stack *stack)
{
	if (stack->end != OFFLINE_GAVE_UP || stack->n < 2 ||
	    modules_is_code(o->modules, o->sample->pid, stack->at[stack->n - 1] - 1))
		return;
	stack->n--;
	snprintf(stack->why, sizeof(stack->why), "a return address that is no code");
}

void offline_walk(struct offline *o, const struct kernel_sample *sample,
		  struct offline_stack *ret)
{
	ret->n = ret->no_module = 0;
	*ret->why = '\0';
	o->sample = sample;
	o->stack = ret;
	copy_registers(o);
	o->dwfl = modules_of(o->modules, sample->pid);
	o->above = o->below = o->outside = false;
	if (!o->dwfl) {
		gave_up(ret, error_sentence());
		return;
	}
	if (dwfl_pid(o->dwfl) < 0 && /* nothing was attached yet */
	    !dwfl_attach_state(o->dwfl, NULL, (pid_t)sample->pid, &callbacks, o)) {
		gave_up(ret, dwfl_errmsg(-1));
		return;
	}
	dwfl_errno(); /* forgets an older one */
	judge_end(o, ret,
		  dwfl_getthread_frames(o->dwfl, (pid_t)sample->tid, on_frame, o));
	drop_no_code(o, ret);
	if (ret->end == OFFLINE_GAVE_UP && ret->n &&
	    is_entry(o->dwfl, ret->at[ret->n - 1]))
		ret->end = OFFLINE_START;
}
