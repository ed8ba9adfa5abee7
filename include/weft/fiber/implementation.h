/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/fiber.h>, which includes it if WEFT_FIBER_IMPLEMENTATION is
 * defined: the stacks, and the half of a switch that changes them.
 *
 * At each instruction of a switch the frame pointer belongs to one of the two
 * stacks, and the unwind tables name the same stack: the rule for the return
 * address changes with the frame pointer. The record that leads from a fiber to
 * its resumer is written before the fiber's frame pointer is in use, and cleared
 * when it no longer is.
 */
#ifndef WEFT_FIBER_IMPLEMENTATION_H
#define WEFT_FIBER_IMPLEMENTATION_H

#if defined(__CET__) && (__CET__ & 2)
#error "weft/fiber.h: fibers leave a shadow stack behind. Compile the file that \
defines WEFT_FIBER_IMPLEMENTATION with -fcf-protection=branch: the program is \
then marked as one that takes no shadow stack"
#endif

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define WEFT_FIBER_STACK_ (256u << 10)
/* MAP_ANONYMOUS, MAP_NORESERVE: Linux's values, since strict C hides the names */
#define WEFT_FIBER_MAPPED_ (MAP_PRIVATE | 0x20 | 0x4000)

#if defined(__x86_64__)
/*
 * rdi: the fiber; rax: where the jump came from, and the place to come back to.
 * No frame of its own: to the tables, rax (then rcx) is the return address.
 * rbx and r12 to r15 are in the frame of the function that switches.
 */
#define WEFT_FIBER_LOST_                                                                 \
	".cfi_undefined %rbx\n.cfi_undefined %r12\n.cfi_undefined %r13\n"                \
	".cfi_undefined %r14\n.cfi_undefined %r15\n"

__asm__(".pushsection .text.weft_fiber, \"ax\", %progbits\n"
	".globl weft_fiber_in_\n"
	".type weft_fiber_in_, %function\n"
	".p2align 5\n"
	"weft_fiber_in_:\n"
	".cfi_startproc\n"
	".cfi_def_cfa %rsp, 0\n"
	".cfi_register %rip, %rax\n" WEFT_FIBER_LOST_ "	endbr64\n"
	"	mov %rax, -8(%rdi)\n"
	"	mov %rbp, -16(%rdi)\n"
	"	mov %rsp, 8(%rdi)\n"
	"	mov 16(%rdi), %rcx\n"
	"	mov 0(%rdi), %rsp\n"
	"	mov 24(%rdi), %rbp\n"
	".cfi_register %rip, %rcx\n"
	"	jmp *%rcx\n"
	".cfi_endproc\n"
	".size weft_fiber_in_, . - weft_fiber_in_\n"

	".globl weft_fiber_out_\n"
	".type weft_fiber_out_, %function\n"
	".p2align 5\n"
	"weft_fiber_out_:\n"
	".cfi_startproc\n"
	".cfi_def_cfa %rsp, 0\n"
	".cfi_register %rip, %rax\n" WEFT_FIBER_LOST_ "	endbr64\n"
	"	mov %rax, 16(%rdi)\n"
	"	mov %rbp, 24(%rdi)\n"
	"	mov %rsp, 0(%rdi)\n"
	"	mov -8(%rdi), %rcx\n"
	"	mov 8(%rdi), %rsp\n"
	"	mov -16(%rdi), %rbp\n"
	".cfi_register %rip, %rcx\n"
	"	movq $0, -16(%rdi)\n"
	"	movq $0, -8(%rdi)\n"
	"	jmp *%rcx\n"
	".cfi_endproc\n"
	".size weft_fiber_out_, . - weft_fiber_out_\n"

	/*
	 * A fiber's first frame, jumped to with rbp at the record. A signal frame
	 * to the tables: what it returns to is no call's successor, and may lie
	 * at any address.
	 */
	".globl weft_fiber_start_\n"
	".hidden weft_fiber_start_\n"
	".type weft_fiber_start_, %function\n"
	".p2align 5\n"
	"weft_fiber_start_:\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa %rbp, 16\n"
	".cfi_offset %rbp, -16\n"
	".cfi_offset %rip, -8\n" WEFT_FIBER_LOST_ "	endbr64\n"
	"	lea 16(%rbp), %rdi\n"
	"	call weft_fiber_main_\n"
	"	ud2\n"
	".cfi_endproc\n"
	".size weft_fiber_start_, . - weft_fiber_start_\n"

	/* Its middle part has the caller that the record names. */
	".globl weft_adopted_run\n"
	".type weft_adopted_run, %function\n"
	".p2align 5\n"
	"weft_adopted_run:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	push %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbp, 0\n"
	"	push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbx, 0\n"
	"	sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	mov %rbp, %rbx\n"
	"	mov %rdi, %rbp\n"
	".cfi_endproc\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa %rbp, 16\n"
	".cfi_offset %rbp, -16\n"
	".cfi_offset %rip, -8\n" WEFT_FIBER_LOST_ "	mov %rdx, %rdi\n"
	"	call *%rsi\n"
	"	mov %rbx, %rbp\n"
	".cfi_endproc\n"
	".cfi_startproc\n"
	".cfi_def_cfa %rsp, 32\n"
	".cfi_offset %rbp, -16\n"
	".cfi_offset %rbx, -24\n"
	"	add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_same_value %rbx\n"
	"	pop %rbp\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_same_value %rbp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size weft_adopted_run, . - weft_adopted_run\n"
	".popsection\n");

/* Of a process without shadow stacks this leaves 0. */
static int weft_fiber_has_shadow_stack_(void)
{
	uint64_t shadow = 0;

	__asm__ volatile("rdsspq %0" : "+r"(shadow));
	return shadow != 0;
}

#elif defined(__aarch64__)
#define WEFT_FIBER_LOST_                                                                 \
	".cfi_undefined x19\n.cfi_undefined x20\n.cfi_undefined x21\n"                   \
	".cfi_undefined x22\n.cfi_undefined x23\n.cfi_undefined x24\n"                   \
	".cfi_undefined x25\n.cfi_undefined x26\n.cfi_undefined x27\n"                   \
	".cfi_undefined x28\n"

/*
 * x0: the fiber; x30: where the jump came from, as if this were called. The frame
 * pointer and x30 change in one instruction, and until then the stack that is left
 * is told by x9. 34 is "bti c", 36 "bti j".
 */
__asm__(".pushsection .text.weft_fiber, \"ax\", %progbits\n"
	".globl weft_fiber_in_\n"
	".type weft_fiber_in_, %function\n"
	".p2align 5\n"
	"weft_fiber_in_:\n"
	".cfi_startproc\n" WEFT_FIBER_LOST_ "	hint #34\n"
	"	stp x29, x30, [x0, #-16]\n"
	"	mov x9, sp\n"
	"	str x9, [x0, #8]\n"
	"	ldr x10, [x0]\n"
	".cfi_def_cfa x9, 0\n"
	"	mov sp, x10\n"
	"	ldp x30, x29, [x0, #16]\n"
	".cfi_def_cfa sp, 0\n"
	"	br x30\n"
	".cfi_endproc\n"
	".size weft_fiber_in_, . - weft_fiber_in_\n"

	".globl weft_fiber_out_\n"
	".type weft_fiber_out_, %function\n"
	".p2align 5\n"
	"weft_fiber_out_:\n"
	".cfi_startproc\n" WEFT_FIBER_LOST_ "	hint #34\n"
	"	stp x30, x29, [x0, #16]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	ldr x10, [x0, #8]\n"
	".cfi_def_cfa x9, 0\n"
	"	mov sp, x10\n"
	"	ldp x29, x30, [x0, #-16]\n"
	".cfi_def_cfa sp, 0\n"
	"	stp xzr, xzr, [x0, #-16]\n"
	"	br x30\n"
	".cfi_endproc\n"
	".size weft_fiber_out_, . - weft_fiber_out_\n"

	".globl weft_fiber_start_\n"
	".hidden weft_fiber_start_\n"
	".type weft_fiber_start_, %function\n"
	".p2align 5\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa x29, 16\n"
	".cfi_offset x29, -16\n"
	".cfi_offset x30, -8\n" WEFT_FIBER_LOST_
	"	nop\n" /* who comes by its address looks a byte before */
	"weft_fiber_start_:\n"
	"	hint #36\n"
	"	add x0, x29, #16\n"
	"	bl weft_fiber_main_\n"
	"	udf #0\n"
	".cfi_endproc\n"
	".size weft_fiber_start_, . - weft_fiber_start_\n"

	".globl weft_adopted_run\n"
	".type weft_adopted_run, %function\n"
	".p2align 5\n"
	"weft_adopted_run:\n"
	".cfi_startproc\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-32]!\n"
	".cfi_def_cfa_offset 32\n"
	".cfi_offset x29, -32\n"
	".cfi_offset x30, -24\n"
	"	str x19, [sp, #16]\n"
	".cfi_offset x19, -16\n"
	"	mov x19, x29\n"
	"	mov x29, x0\n"
	".cfi_endproc\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa x29, 16\n"
	".cfi_offset x29, -16\n"
	".cfi_offset x30, -8\n" WEFT_FIBER_LOST_ "	mov x0, x2\n"
	"	blr x1\n"
	"	mov x29, x19\n"
	".cfi_endproc\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 32\n"
	".cfi_offset x29, -32\n"
	".cfi_offset x30, -24\n"
	".cfi_offset x19, -16\n"
	"	ldr x19, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_same_value x29\n"
	".cfi_same_value x30\n"
	".cfi_same_value x19\n"
	"	ret\n"
	".cfi_endproc\n"
	".size weft_adopted_run, . - weft_adopted_run\n"
	".popsection\n");

static int weft_fiber_has_shadow_stack_(void)
{
	return 0; /* GCS: the kernel refuses it to a program that is not marked */
}
#endif

typedef char
	weft_fiber_offsets_[offsetof(struct weft_fiber, sp) == 0 &&
					    offsetof(struct weft_fiber, resumer_sp) ==
						    8 &&
					    offsetof(struct weft_fiber, place) == 16 &&
					    offsetof(struct weft_fiber, fp) == 24
				    ? 1
				    : -1];

#if defined(WEFT_FIBER_ASAN_)
void __asan_unpoison_memory_region(const volatile void *low, size_t bytes);
#endif

/* An exception would continue into the resumer's functions and leave the fiber. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define WEFT_FIBER_NO_THROW_ noexcept
#else
#define WEFT_FIBER_NO_THROW_
#endif

void weft_fiber_start_(void);
void weft_fiber_main_(struct weft_fiber *fiber) WEFT_FIBER_NO_THROW_;

/* The first function on a fiber's stack; it never returns and is never resumed. */
__attribute__((__used__, __noinline__)) void
weft_fiber_main_(struct weft_fiber *fiber) WEFT_FIBER_NO_THROW_
{
	weft_fiber_told_in_(fiber);
	fiber->entry(fiber, fiber->arg);
	fiber->state = WEFT_FIBER_DONE;
	fiber->value = WEFT_NULL_;
	weft_fiber_tell_out_(fiber, WEFT_CAST_(void **, WEFT_NULL_));
	WEFT_FIBER_SWITCH_(fiber, "weft_fiber_out_");
	__builtin_unreachable();
}

static size_t weft_fiber_page_(void)
{
	return WEFT_CAST_(size_t, sysconf(_SC_PAGESIZE));
}

/* Where the fiber lies on a mapped stack of this size: its top, aligned. */
static size_t weft_fiber_offset_(size_t bytes)
{
	return (bytes - sizeof(struct weft_fiber)) & ~WEFT_CAST_(size_t, 63);
}

static size_t weft_fiber_bytes_(const struct weft_fiber_pool *pool)
{
	size_t page = weft_fiber_page_();
	size_t bytes = pool ? pool->stack_bytes : WEFT_FIBER_STACK_;

	bytes = (bytes + page - 1) & ~(page - 1);
	return (bytes ? bytes : page) + page; /* the guard */
}

static struct weft_fiber *weft_fiber_map_(const struct weft_fiber_pool *pool)
{
	size_t page = weft_fiber_page_(), bytes = weft_fiber_bytes_(pool);
	struct weft_fiber *fiber;
	char *low;

	if (pool && bytes < pool->stack_bytes)
		return WEFT_NULL_;
	low = WEFT_CAST_(char *,
			 mmap(WEFT_NULL_, bytes, PROT_NONE, WEFT_FIBER_MAPPED_, -1, 0));
	if (WEFT_CAST_(void *, low) == MAP_FAILED)
		return WEFT_NULL_;
	if (mprotect(low + page, bytes - page, PROT_READ | PROT_WRITE)) {
		(void)munmap(low, bytes);
		return WEFT_NULL_;
	}
	fiber = WEFT_CAST_(struct weft_fiber *,
			   WEFT_CAST_(void *, low + weft_fiber_offset_(bytes)));
	fiber->low = low + page;
	return fiber;
}

static void weft_fiber_unmap_(struct weft_fiber *fiber,
			      const struct weft_fiber_pool *pool)
{
	(void)munmap(fiber->low - weft_fiber_page_(), weft_fiber_bytes_(pool));
}

int weft_fiber_new(struct weft_fiber **ret_fiber, struct weft_fiber_pool *pool,
		   weft_fiber_entry *entry, void *arg)
{
	struct weft_fiber *fiber = pool ? pool->kept : WEFT_NULL_;
	void **record;

	if (weft_fiber_has_shadow_stack_())
		return ENOTSUP;
	if (fiber) {
		pool->kept = fiber->next_kept;
		pool->n_kept--;
	} else {
		fiber = weft_fiber_map_(pool);
	}
	if (!fiber)
		return ENOMEM;
	record = WEFT_CAST_(void **, WEFT_CAST_(void *, fiber)) - 2;
	record[0] = record[1] = WEFT_NULL_;
	fiber->sp = record;
	fiber->fp = record;
	fiber->place = WEFT_BITS_(void *, WEFT_BITS_(uintptr_t, &weft_fiber_start_));
	fiber->resumer_sp = WEFT_NULL_;
	fiber->value = WEFT_NULL_;
	fiber->state = WEFT_FIBER_SUSPENDED;
	fiber->flags = pool ? pool->flags : 0;
	fiber->entry = entry;
	fiber->arg = arg;
	fiber->roots = WEFT_NULL_;
	fiber->holder = WEFT_NULL_;
	fiber->pool = pool;
	fiber->next_kept = WEFT_NULL_;
	for (int i = 0; i < 4; i++)
		fiber->sanitizer[i] = WEFT_NULL_;
#if defined(WEFT_FIBER_TSAN_)
	fiber->sanitizer[0] = __tsan_create_fiber(0);
#endif
	*ret_fiber = fiber;
	return 0;
}

void weft_fiber_destroy(struct weft_fiber *fiber)
{
	struct weft_fiber_pool *pool;

	if (!fiber)
		return;
	WEFT_CHECK_(fiber->state != WEFT_FIBER_RUNNING,
		    "weft_fiber_destroy: this fiber runs");
	if (fiber->state == WEFT_FIBER_RUNNING)
		return;
	pool = fiber->pool;
#if defined(WEFT_FIBER_ASAN_)
	__asan_unpoison_memory_region(
		fiber->low, WEFT_CAST_(size_t, WEFT_BITS_(char *, fiber) - fiber->low));
#elif defined(WEFT_FIBER_TSAN_)
	__tsan_destroy_fiber(fiber->sanitizer[0]);
#endif
	fiber->state = WEFT_FIBER_DONE;
	if (!pool || pool->n_kept >= pool->keep) {
		weft_fiber_unmap_(fiber, pool);
		return;
	}
	fiber->next_kept = pool->kept;
	pool->kept = fiber;
	pool->n_kept++;
}

void weft_fiber_pool_trim(struct weft_fiber_pool *pool)
{
	while (pool->kept) {
		struct weft_fiber *fiber = pool->kept;

		pool->kept = fiber->next_kept;
		pool->n_kept--;
		weft_fiber_unmap_(fiber, pool);
	}
}

#endif
