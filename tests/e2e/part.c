/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's part, as a compiler moves it out of one that does not return: in an entry
 * of its own, elsewhere, and as deep as the function was. The call of the function is the
 * last thing before another one (x86-64).
 */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".p2align 4\n.type dies, %function\ndies:\n.cfi_startproc\n"
	"sub $40, %rsp\n.cfi_adjust_cfa_offset 40\n"
	".rept 40\nnop\n.endr\n" /* what the walk reads of it does not jump on */
	"jmp dies.cold\n"
	".cfi_endproc\n.size dies, . - dies\n"
	".p2align 4\n.type fails, %function\n.globl fails\nfails:\n.cfi_startproc\n"
	"sub $24, %rsp\n.cfi_adjust_cfa_offset 24\n"
	".rept 7\nnop\n.endr\n"
	"call dies\n"
	".cfi_endproc\n.size fails, . - fails\n"
	".if (. - fails) % 16\n.error \"another one begins right here\"\n.endif\n"
	".p2align 4\n.type behind, %function\nbehind:\n.cfi_startproc\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n"
	"ret\n.cfi_endproc\n.size behind, . - behind\n"
	".popsection\n.pushsection .text.unlikely, \"ax\"\n"
	".type other.cold, %function\nother.cold:\n.cfi_startproc\n"
	".cfi_def_cfa_offset 32\nnop\nnop\n"
	".cfi_endproc\n.size other.cold, . - other.cold\n"
	".type dies.cold, %function\ndies.cold:\n.cfi_startproc\n"
	".cfi_def_cfa_offset 48\n"
	"1: mov $1000, %ecx\n2: dec %ecx\njnz 2b\njmp 1b\n"
	".cfi_endproc\n.size dies.cold, . - dies.cold\n"
	".popsection\n");

void fails(void);
#else
static void fails(void)
{
	for (;;)
		;
}
#endif

int main(void)
{
	fails();
	return 0;
}
