/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft/fiber.h from inside the process: values, states, stacks, roots, and what
 * two witnesses say of a fiber's callers: the chain of frame pointers, read by
 * hand, and libgcc's unwinder, which knows the tables only.
 */
#define WEFT_FIBER_IMPLEMENTATION
#include "weft/fiber.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unwind.h>
#include <cmocka.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define AFTER() __asm__ volatile("" ::: "memory")

static struct weft_fiber_pool pool = WEFT_FIBER_POOL_INIT(65536, 4);

static void on_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static struct weft_fiber *fiber_of(weft_fiber_entry *entry, void *arg)
{
	struct weft_fiber *fiber = NULL;

	assert_int_equal(weft_fiber_new(&fiber, &pool, entry, arg), 0);
	assert_int_equal(weft_fiber_state(fiber), WEFT_FIBER_SUSPENDED);
	return fiber;
}

static void doubles(struct weft_fiber *self, void *arg)
{
	long value = *(long *)arg;

	for (int i = 0; i < 5; i++)
		value = (long)weft_fiber_yield(self, (void *)(2 * value));
	*(long *)arg = value;
}

static void test_values_cross(void **state)
{
	volatile double kept = 0.125;
	long arg = 1;
	struct weft_fiber *fiber = fiber_of(doubles, &arg);

	assert_int_equal((long)weft_fiber_resume(fiber, NULL), 2);
	for (long i = 10; i < 14; i++) {
		assert_int_equal((long)weft_fiber_resume(fiber, (void *)i), 2 * i);
		kept *= 2;
	}
	assert_int_equal(weft_fiber_state(fiber), WEFT_FIBER_SUSPENDED);
	assert_null(weft_fiber_resume(fiber, (void *)99));
	assert_int_equal(weft_fiber_state(fiber), WEFT_FIBER_DONE);
	assert_int_equal(arg, 99);
	assert_true(kept == 2);
	weft_fiber_destroy(fiber);
}

static void misuses(struct weft_fiber *self, void *arg)
{
	struct weft_fiber *outer = arg;

	assert_int_equal(weft_fiber_state(self), WEFT_FIBER_RUNNING);
	assert_null(weft_fiber_resume(self, NULL));
	weft_fiber_destroy(self);
	if (outer) { /* runs too, but its stack is not this one */
		assert_null(weft_fiber_yield(outer, self));
		assert_null(weft_fiber_resume(outer, NULL));
		return;
	}
	outer = fiber_of(misuses, self);
	weft_fiber_resume(outer, NULL);
	assert_int_equal(weft_fiber_state(outer), WEFT_FIBER_DONE);
	weft_fiber_destroy(outer);
}

static void test_misuse_does_nothing(void **state)
{
	struct weft_fiber *fiber = fiber_of(misuses, NULL);

	assert_null(weft_fiber_yield(fiber, fiber));
	weft_fiber_resume(fiber, NULL);
	assert_int_equal(weft_fiber_state(fiber), WEFT_FIBER_DONE);
	assert_null(weft_fiber_resume(fiber, NULL));
	weft_fiber_destroy(fiber);
	weft_fiber_destroy(NULL);
}

static void yields_once(struct weft_fiber *self, void *arg)
{
	weft_fiber_yield(self, arg);
}

static void test_stacks_are_kept_up_to_a_number(void **state)
{
	struct weft_fiber *fibers[8], *kept;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++) {
			fibers[i] = fiber_of(yields_once, &fibers[i]);
			assert_ptr_equal(weft_fiber_resume(fibers[i], NULL), &fibers[i]);
		}
		for (int i = 0; i < 8; i++) /* half of them not done */
			if (i % 2)
				weft_fiber_resume(fibers[i], NULL);
		for (int i = 0; i < 8; i++)
			weft_fiber_destroy(fibers[i]);
		assert_int_equal(pool.n_kept, 4);
	}
	kept = pool.kept;
	fibers[0] = fiber_of(yields_once, NULL);
	assert_ptr_equal(fibers[0], kept);
	weft_fiber_destroy(fibers[0]);
	weft_fiber_pool_trim(&pool);
	assert_null(pool.kept);
	assert_int_equal(weft_fiber_new(&fibers[0], NULL, yields_once, NULL), 0);
	weft_fiber_resume(fibers[0], NULL);
	weft_fiber_destroy(fibers[0]);
}

NOINLINE static int too_deep(int n)
{
	volatile char room[1024];

	room[0] = (char)n;
	return n > 1 << 20 ? 0 : too_deep(n + 1) + room[0];
}

static void overflows(struct weft_fiber *self, void *arg)
{
	*(int *)arg = too_deep(0);
}

static void test_overflow_meets_the_guard(void **state)
{
	int status, sum;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		weft_fiber_resume(fiber_of(overflows, &sum), NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* Who called, by two witnesses. */
struct callers {
	uintptr_t by_fp[32], by_table[64];
	int n_fp, n_table;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
	struct callers *callers = arg;

	if (callers->n_table == 64)
		return _URC_END_OF_STACK;
	callers->by_table[callers->n_table++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* As far as test_callers(), which is the last that surely has a frame pointer. */
static uintptr_t last_fp;

NOINLINE static void note_callers(struct callers *callers)
{
	uintptr_t fp = (uintptr_t)__builtin_frame_address(0);

	callers->n_fp = callers->n_table = 0;
	while (fp && fp != last_fp && callers->n_fp < 32) {
		callers->by_fp[callers->n_fp++] =
			(uintptr_t)weft_unsigned_(((void **)fp)[1]);
		fp = ((uintptr_t *)fp)[0];
	}
	_Unwind_Backtrace(note_frame, callers);
}

static bool has(const uintptr_t *list, int n, const void *function)
{
	for (int i = 0; i < n; i++) {
		const char *start = _Unwind_FindEnclosingFunction((void *)(list[i] - 1));

		/* arm64: the tables of a fiber's start begin an instruction before it */
		if (start == function || start + 4 == function)
			return true;
	}
	return false;
}

/* Both have what frame pointers have, in one order. */
static void assert_agreed(const struct callers *callers)
{
	int at = 0;

	for (int i = 0; i < callers->n_fp; i++) {
		while (at < callers->n_table &&
		       callers->by_table[at] != callers->by_fp[i])
			at++;
		assert_in_range(at, 0, callers->n_table - 1);
	}
}

static struct callers seen[4];

NOINLINE static void inner_body(struct weft_fiber *self, void *arg)
{
	note_callers(&seen[0]);
	weft_fiber_yield(self, NULL);
	note_callers(&seen[1]);
	AFTER();
}

NOINLINE static void outer_body(struct weft_fiber *self, void *arg)
{
	weft_fiber_resume(arg, NULL);
	AFTER();
}

NOINLINE static void resumes_again(struct weft_fiber *fiber)
{
	weft_fiber_resume(fiber, NULL);
	AFTER();
}

static void test_callers(void **state)
{
	struct weft_fiber *inner = fiber_of(inner_body, NULL);
	struct weft_fiber *outer = fiber_of(outer_body, inner);
	uintptr_t *record = (uintptr_t *)(void *)inner - 2;

	last_fp = *(uintptr_t *)__builtin_frame_address(0);
	assert_int_equal(record[0] | record[1], 0);
	weft_fiber_resume(outer, NULL);
	assert_int_equal(record[0] | record[1], 0);
	resumes_again(inner);
	for (int i = 0; i < 2; i++) {
		const uintptr_t *fp = seen[i].by_fp;
		int n = seen[i].n_fp;

		assert_true(has(fp, n, (void *)inner_body));
		assert_true(has(fp, n, (void *)weft_fiber_start_));
		assert_int_equal(has(fp, n, (void *)outer_body), i == 0);
		assert_int_equal(has(fp, n, (void *)resumes_again), i == 1);
		assert_int_equal(n, i ? 6 : 8); /* with who called this test */
		assert_agreed(&seen[i]);
	}
	weft_fiber_destroy(outer);
	weft_fiber_destroy(inner);
}

static ucontext_t mine, other;
static struct weft_adopted adopted;

NOINLINE static void adopted_body(void *arg)
{
	note_callers(&seen[0]);
	swapcontext(&other, &mine);
	note_callers(&seen[1]);
	*(int *)arg = 7;
}

static int answer;

static void foreign_entry(void)
{
	weft_adopted_run(&adopted, adopted_body, &answer);
	answer++;
}

NOINLINE static void into_other(void)
{
	WEFT_ADOPTED_RESUME(&adopted, swapcontext(&mine, &other));
}

static void test_adopted_ucontext(void **state)
{
	static char stack[65536] __attribute__((aligned(16)));

	last_fp = *(uintptr_t *)__builtin_frame_address(0);
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	other.uc_link = &mine;
	makecontext(&other, foreign_entry, 0);
	into_other();
	assert_null(adopted.fp);
	assert_null(adopted.place);
	into_other();
	assert_int_equal(answer, 8);
	for (int i = 0; i < 2; i++) {
		assert_true(has(seen[i].by_fp, seen[i].n_fp, (void *)adopted_body));
		assert_true(has(seen[i].by_fp, seen[i].n_fp, (void *)into_other));
		assert_false(has(seen[i].by_fp, seen[i].n_fp, (void *)foreign_entry));
		assert_int_equal(seen[i].n_fp, 5);
		assert_agreed(&seen[i]);
	}
}

static struct weft_frame outside_frame, inside_frame;

static void enters_a_root(struct weft_fiber *self, void *arg)
{
	WEFT_ROOT_SCOPE(&inside_frame);
	assert_ptr_equal(weft_frame_current(), &inside_frame);
	weft_fiber_yield(self, NULL);
	assert_ptr_equal(weft_frame_current(), &inside_frame);
	{
		WEFT_ROOT_SCOPE(NULL);
		weft_fiber_yield(self, NULL);
		assert_ptr_equal(weft_root_current()->next->top, &inside_frame);
	}
}

static void *resumes_to_the_end(void *fiber)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	for (int i = 0; i < 2; i++) {
		weft_fiber_resume(fiber, NULL);
		assert_ptr_equal(weft_root_current(), &entry.root);
	}
	weft_root_leave(&entry);
	assert_null(weft_root_current());
	assert_int_equal(weft_fiber_state(fiber), WEFT_FIBER_DONE);
	return NULL;
}

/* Also to a thread that has no holder yet, while its first one is no more. */
static void *resumes_once(void *fiber)
{
	weft_fiber_resume(fiber, NULL);
	assert_null(weft_root_current());
	return NULL;
}

static void test_roots_go_with_the_fiber(void **state)
{
	struct weft_fiber *fiber = fiber_of(enters_a_root, NULL);
	struct weft_entry entry;

	weft_root_enter(&entry, &outside_frame);
	weft_fiber_resume(fiber, NULL);
	assert_ptr_equal(weft_frame_current(), &outside_frame);
	weft_root_leave(&entry);
	on_thread(resumes_to_the_end, fiber);
	weft_fiber_destroy(fiber);

	fiber = fiber_of(enters_a_root, NULL);
	on_thread(resumes_once, fiber);
	on_thread(resumes_once, fiber);
	weft_fiber_resume(fiber, NULL);
	assert_int_equal(weft_fiber_state(fiber), WEFT_FIBER_DONE);
	assert_null(weft_root_current());
	weft_fiber_destroy(fiber);

	fiber = fiber_of(enters_a_root, NULL);
	weft_fiber_resume(fiber, NULL);
	weft_fiber_destroy(fiber); /* with its roots */
	assert_null(weft_root_current());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_cross),
		cmocka_unit_test(test_misuse_does_nothing),
		cmocka_unit_test(test_stacks_are_kept_up_to_a_number),
		cmocka_unit_test(test_overflow_meets_the_guard),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_adopted_ucontext),
		cmocka_unit_test(test_roots_go_with_the_fiber),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
