/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that hand over to each other.
 *
 *	moves generator MS   a consumer asks a generator for value after value: each
 *	                     call pushes the generator's frame, each value pops it;
 *	                     2 in the consumer : 1 in the generator
 *	moves migrate MS     an operation is suspended and goes on in another thread,
 *	                     for ever: 1 : 1
 *
 * As with coroutines, a step returns to its dispatcher, which then resumes
 * whoever is next: who asked is not on the thread's stack.
 *
 * Async:  hop_000;--;consumer;consume   hop_000;consumer;--;generator;produce
 *         hop_000;hop_001;--;first_half      hop_000;hop_001;--;second_half
 */
#include "hops.h"

static struct weft_frame frames[2], generated;

FN void consume(void)
{
	spin(480);
}

FN void produce(void)
{
	spin(240);
}

/* Ends with the call of the generator. */
FN void consumer(struct weft_root *root)
{
	consume();
	weft_frame_push(root, &generated, place_in((void *)consumer));
}

/* Ends with the value's return. */
FN void generator(struct weft_root *root)
{
	produce();
	weft_frame_pop(root, &generated);
}

FN void generator_loop(void)
{
	struct weft_entry entry;

	weft_root_enter(&entry, hops_chain(frames, 1, 0, NULL));
	for (;;) {
		consumer(&entry.root);
		generator(&entry.root);
	}
	weft_root_leave(&entry);
}

static struct turn turn;

/* of this round: long against what a turn costs */
static unsigned int amount;

FN void first_half(void)
{
	spin_exactly(amount);
}

FN void second_half(void)
{
	spin_exactly(amount);
}

#define HOST(name, number, half)                                                         \
	FN void name##_loop(void)                                                        \
	{                                                                                \
		struct weft_entry entry;                                                 \
                                                                                         \
		weft_root_enter(&entry, NULL);                                           \
		for (;;) {                                                               \
			turn_wait(&turn, number);                                        \
			if (!number)                                                     \
				amount = uneven() * 360;                                 \
			weft_frame_resume(&entry.root, &frames[1]);                      \
			half();                                                          \
			weft_frame_suspend(&entry.root, &frames[1]);                     \
			turn_give(&turn, 1 - number);                                    \
		}                                                                        \
		weft_root_leave(&entry);                                                 \
	}                                                                                \
                                                                                         \
	FN void *name(void *arg)                                                         \
	{                                                                                \
		name##_loop();                                                           \
		return arg;                                                              \
	}

HOST(host_a, 0, first_half)
HOST(host_b, 1, second_half)

int main(int argc, char **argv)
{
	if (argc < 3)
		return work_usage(argv[0], "generator|migrate MS");
	work_lifetime(argv[2]);
	work_one_cpu();
	work_ready();
	if (!strcmp(argv[1], "generator"))
		generator_loop();
	hops_chain(frames, 2, 0, NULL);
	work_thread(host_a, NULL);
	work_thread(host_b, NULL);
	park();
	return 0;
}
