/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/fiber.h>, which includes it: the half of a switch that is in the
 * function that switches. It names the address to come back to and jumps; the
 * other half (fiber/implementation.h) changes the stack and jumps back here.
 *
 * There is no call and no return: the CPU would predict a return to the last call,
 * which was on the other stack, and would always be wrong. Because of the list of
 * clobbered registers, the compiler keeps what it needs in its own frame, so its
 * own unwind tables say where it is.
 *
 * Before the address to come back to is a call that is never executed: readers of
 * stacks look there to check whether an address is one that a call returns to.
 */
#ifndef WEFT_FIBER_SWITCH_H
#define WEFT_FIBER_SWITCH_H

#if defined(__x86_64__)

#ifdef __AVX512F__
#define WEFT_FIBER_WIDE_                                                                 \
	"xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", \
		"xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1",     \
		"k2", "k3", "k4", "k5", "k6", "k7",
#else
#define WEFT_FIBER_WIDE_
#endif

#ifdef __APX_F__
#define WEFT_FIBER_MORE_                                                                 \
	"r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26",     \
		"r27", "r28", "r29", "r30", "r31",
#else
#define WEFT_FIBER_MORE_
#endif

#define WEFT_FIBER_SWITCH_(fiber, routine)                                               \
	do {                                                                             \
		void *weft_to_ = (fiber), *weft_fp_ = __builtin_frame_address(0);        \
		/* reading the frame's address makes the function keep one */            \
		__asm__ volatile("lea {1f(%%rip), %%rax|rax, 1f[rip]}\n\t"               \
				 "jmp " routine "@PLT\n\t"                               \
				 "call " routine "@PLT\n"                                \
				 "1:\tendbr64"                                           \
				 : "+D"(weft_to_), "+S"(weft_fp_)                        \
				 :                                                       \
				 : WEFT_FIBER_WIDE_ WEFT_FIBER_MORE_ "rax", "rbx",       \
				   "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", \
				   "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", \
				   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",      \
				   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st",    \
				   "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", \
				   "st(7)", "memory", "cc");                             \
	} while (0)

/* A place for a record, for whoever switches by other means. */
#define WEFT_FIBER_PLACE_()                                                              \
	__extension__({                                                                  \
		void *weft_place_;                                                       \
		__asm__ volatile("lea {1f(%%rip), %0|%0, 1f[rip]}\n\t"                   \
				 "jmp 1f\n\t"                                            \
				 "call weft_adopted_run@PLT\n"                           \
				 "1:"                                                    \
				 : "=r"(weft_place_));                                   \
		weft_place_;                                                             \
	})

#elif defined(__aarch64__)

#define WEFT_FIBER_PLACE_()                                                              \
	__extension__({                                                                  \
		void *weft_place_;                                                       \
		__asm__ volatile("adr %0, 1f\n\t"                                        \
				 "b 1f\n\t"                                              \
				 "bl weft_adopted_run\n"                                 \
				 "1:"                                                    \
				 : "=r"(weft_place_));                                   \
		weft_place_;                                                             \
	})

/* 36 is "bti j" */
#define WEFT_FIBER_SWITCH_(fiber, routine)                                               \
	do {                                                                             \
		register void *weft_to_ __asm__("x0") = (fiber);                         \
		register void *weft_fp_ __asm__("x1") = __builtin_frame_address(0);      \
		__asm__ volatile(                                                        \
			"adr x30, 1f\n\t"                                                \
			"b " routine "\n\t"                                              \
			"bl " routine "\n"                                               \
			"1:\thint #36"                                                   \
			: "+r"(weft_to_), "+r"(weft_fp_)                                 \
			:                                                                \
			: "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",  \
			  "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", \
			  "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", \
			  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",    \
			  "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", \
			  "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", \
			  "v28", "v29", "v30", "v31", "memory", "cc");                   \
	} while (0)

#endif

#endif
