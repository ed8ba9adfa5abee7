/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks made by hand, each in another way, of a thread that lives on. What lies behind
 * such a stack's first function is a caller only if that function says so.
 *
 *	byhand each MS    one after the other:
 *	    plain      the first function's return address is the first byte of another,
 *	               which no one called, and behind a call that does not return
 *	    word       it is no address, but a word that libraries put there
 *	    context    makecontext(), in a function that is still on the thread's stack,
 *	               so that its saved frame pointer leads on to main
 *	    crossed    the stack's first code says in its call frame information where
 *	               whoever resumed it goes on
 *	    called     a function that is called switches to the stack, as OCaml 5's: the
 *	               word at the stack's end says where its resumer's sp lies
 *	    weft       <weft/fiber.h>
 *	    adopted    the same of a stack that is switched otherwise
 *	byhand thread MS  the same, resumed by a thread that is not the first one
 *	byhand hops MS    called, there and back without any work; who goes there calls
 *	                  another function than who comes back
 *
 * Thread:  entry_WAY;work;burn          whatever resumes: main;turns;turn_WAY;burn
 */
#define WEFT_FIBER_IMPLEMENTATION
#include "work.h"

#include "weft/fiber.h"

#include <ucontext.h>

#define STACK_BYTES    (64 * 1024)
#define NO_ADDRESS     0xdeaddeaddeaddeadULL /* minicoro, neco */
#define HOPS_OF_A_TURN 1000

/* switch_hand(from, to): keeps the registers on this stack, takes those of the other */
void switch_hand(void **from, void *to);
/* the same */
void switch_there(void **from, void *to);
void switch_back(void **from, void *to);
/* switch_call(kept, top, first): calls it on a stack that ends there */
void switch_call(void **kept, void *top, void (*first)(void));
void not_called(void);
void crossing(void);

#if defined(__x86_64__)
#include "byhand_x86_64.h"
#else
#include "byhand_arm64.h"
#endif

/* A stack, and where both are while the other runs. */
struct hand {
	void *sp, *resumer;
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

static struct hand plain, word, crossed, called, hopping, adopted;
static struct weft_adopted adoption;
static struct weft_fiber *fiber;
static ucontext_t context, context_resumer;

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

/* The last words of a stack: the first is where a first function finds its resumer. */
static void **hand_slot(struct hand *hand)
{
	return (void **)(hand->stack + sizeof(hand->stack)) - 2;
}

static void hand_make(struct hand *hand, void (*entry)(void), void *caller)
{
	void **slot = hand_slot(hand), **sp = slot - HAND_WORDS;

	/* a frame pointer as what copies all registers leaves it */
	hand_fill(sp, slot, (void *)entry, caller, __builtin_frame_address(0));
	hand->sp = sp;
}

FN void entry_plain(void)
{
	for (;;) {
		work();
		switch_hand(&plain.sp, plain.resumer);
	}
}

FN void turn_plain(void)
{
	burn();
	switch_hand(&plain.resumer, plain.sp);
	AFTER();
}

FN void entry_word(void)
{
	for (;;) {
		work();
		switch_hand(&word.sp, word.resumer);
	}
}

FN void turn_word(void)
{
	burn();
	switch_hand(&word.resumer, word.sp);
	AFTER();
}

FN void entry_context(void)
{
	for (;;) {
		work();
		swapcontext(&context, &context_resumer);
	}
}

FN void turn_context(void)
{
	burn();
	swapcontext(&context_resumer, &context);
	AFTER();
}

FN void entry_crossed(void)
{
	for (;;) {
		work();
		switch_hand(&crossed.sp, *hand_slot(&crossed));
	}
}

FN void turn_crossed(void)
{
	burn();
	switch_hand(hand_slot(&crossed), crossed.sp);
	AFTER();
}

FN void entry_called(void)
{
	for (;;) {
		work();
		switch_hand(&called.sp, called.resumer);
	}
}

FN void turn_called(void)
{
	burn();
	if (called.sp)
		switch_hand(&called.resumer, called.sp);
	else
		switch_call(&called.resumer, called.stack + STACK_BYTES, entry_called);
	AFTER();
}

FN void entry_weft(struct weft_fiber *self, void *unused)
{
	for (;;) {
		work();
		weft_fiber_yield(self, unused);
	}
}

FN void turn_weft(void)
{
	burn();
	weft_fiber_resume(fiber, NULL);
	AFTER();
}

FN void body_adopted(void *unused)
{
	(void)unused;
	for (;;) {
		work();
		switch_hand(&adopted.sp, adopted.resumer);
	}
}

FN void entry_adopted(void)
{
	weft_adopted_run(&adoption, body_adopted, NULL);
	AFTER();
}

FN void turn_adopted(void)
{
	burn();
	WEFT_ADOPTED_RESUME(&adoption, switch_hand(&adopted.resumer, adopted.sp));
	AFTER();
}

FN void entry_hops(void)
{
	for (;;)
		switch_back(&hopping.sp, hopping.resumer);
}

FN void turn_hops(void)
{
	if (!hopping.sp)
		switch_call(&hopping.resumer, hopping.stack + STACK_BYTES, entry_hops);
	for (int i = 0; i < HOPS_OF_A_TURN; i++)
		switch_there(&hopping.resumer, hopping.sp);
	AFTER();
}

static int make_all(void)
{
	static char stack[STACK_BYTES];

	hand_make(&plain, entry_plain, (void *)not_called);
	hand_make(&word, entry_word, (void *)NO_ADDRESS);
	hand_make(&crossed, entry_crossed, (void *)crossing);
	hand_make(&adopted, entry_adopted, NULL);
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &context_resumer;
	makecontext(&context, entry_context, 0);
	return weft_fiber_new(&fiber, NULL, entry_weft, NULL);
}

FN void turns(void)
{
	/* whoever made a context is on the stack still */
	if (make_all())
		_exit(2);
	for (;;) {
		turn_plain();
		turn_word();
		turn_context();
		turn_crossed();
		turn_called();
		turn_weft();
		turn_adopted();
	}
}

FN void *resume(void *unused)
{
	turns();
	AFTER();
	return unused;
}

FN void hops(void)
{
	for (;;)
		turn_hops();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	work_lifetime(argc > 2 ? argv[2] : NULL);
	work_ready();
	if (!strcmp(mode, "each"))
		turns();
	else if (!strcmp(mode, "thread"))
		pthread_join(work_thread(resume, NULL), NULL);
	else if (!strcmp(mode, "hops"))
		hops();
	return work_usage(argv[0], "each|thread|hops MS");
}
