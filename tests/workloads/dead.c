// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames that nobody returns to any more: a coroutine is begun below a gap in the
 * thread's own stack, as picoro's are (and libdill's, on stacks of their own), and left
 * by a jump. Then those that were called for that return, and others are called in their
 * place. So a return address of theirs is where one of the dead was.
 *
 *	dead MS
 *
 * Thread:  makes;body;work;burn, which nothing calls     main;live;live_below;resumes
 */
#include "work.h"

#define GAP_BYTES 16384

void switch_to(void **from, void *to);
void dead(void);
void live(void);

void *main_sp, *body_sp;

#define PUSH(reg) "push %" reg "\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %" reg ", 0\n"
#define POP(reg)  "pop %" reg "\n.cfi_adjust_cfa_offset -8\n.cfi_restore %" reg "\n"
#define PUSHES	  PUSH("rbp") PUSH("rbx") PUSH("r12") PUSH("r13") PUSH("r14") PUSH("r15")
#define POPS	  POP("r15") POP("r14") POP("r13") POP("r12") POP("rbx") POP("rbp")

#define BEGIN(name) ".p2align 4\n.type " name ", %function\n" name ":\n.cfi_startproc\n"
#define END(name)   ".cfi_endproc\n.size " name ", . - " name "\n"

/* Both ways down have the same layout. */
__asm__(".pushsection .text\n" BEGIN("switch_to") PUSHES
	"mov %rsp, (%rdi)\nmov %rsi, %rsp\n" POPS "ret\n" END("switch_to") BEGIN("dead")
		PUSH("rbp") "call dead_below\n" POP("rbp") "ret\n" END("dead")
			BEGIN("dead_below") PUSHES
	"mov %rsp, main_sp(%rip)\ncall makes\nud2\n" END("dead_below") BEGIN("live")
		PUSH("rbp") "call live_below\n" POP("rbp") "ret\n" END("live")
			BEGIN("live_below") PUSHES
	"call resumes\n" POPS "ret\n" END("live_below") ".popsection\n");

FN void burn(void)
{
	spin(3600);
}

FN void work(void)
{
	for (int i = 0; i < 10; i++)
		burn();
	AFTER();
}

FN void body(void)
{
	for (;;) {
		switch_to(&body_sp, main_sp);
		work();
	}
}

/* Its frame goes by a frame pointer, since the gap may be of any size. */
FN void makes(void)
{
	static volatile int bytes = GAP_BYTES;
	char gap[bytes];

	__asm__ volatile("" ::"r"(gap) : "memory");
	body();
	AFTER();
}

FN void resumes(void)
{
	burn();
	switch_to(&main_sp, body_sp);
	AFTER();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage("dead", "MS");
	work_lifetime(argv[1]);
	dead();
	work_ready();
	for (;;)
		live();
}
