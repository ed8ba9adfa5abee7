/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft/async.h from inside the process: what lies in memory after each call,
 * and that a signal in the middle of one sees nothing else. That a profiler
 * reads the same from outside is tested elsewhere.
 */
#include "shared/async_abi.h"
#include "weft/async.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define NOINLINE __attribute__((noinline))
#define KEY	 folly_async_stack_root_tls_key

static void on_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_layout(void **state)
{
	assert_int_equal(sizeof(struct weft_frame), sizeof(struct async_frame));
	assert_int_equal(offsetof(struct weft_frame, parent),
			 offsetof(struct async_frame, parent));
	assert_int_equal(offsetof(struct weft_frame, ip),
			 offsetof(struct async_frame, ip));
	assert_int_equal(offsetof(struct weft_frame, root),
			 offsetof(struct async_frame, root));
	assert_int_equal(sizeof(struct weft_root), sizeof(struct async_root));
	assert_int_equal(offsetof(struct weft_root, top),
			 offsetof(struct async_root, top));
	assert_int_equal(offsetof(struct weft_root, next),
			 offsetof(struct async_root, next));
	assert_int_equal(offsetof(struct weft_root, fp), offsetof(struct async_root, fp));
	assert_int_equal(offsetof(struct weft_root, ra), offsetof(struct async_root, ra));
	assert_int_equal(sizeof(struct weft_holder), sizeof(void *));
	assert_int_equal(WEFT_KEY_UNSET_, ASYNC_KEY_UNSET);
}

static void test_enter_publishes_and_leave_restores(void **state)
{
	struct weft_frame first, second;
	struct weft_entry outer, inner;
	struct weft_holder *holder;

	weft_frame_init(&first, NULL, WEFT_HERE());
	weft_frame_init(&second, NULL, WEFT_HERE());
	assert_null(weft_root_current());
	weft_root_enter(&outer, &first);
	holder = pthread_getspecific(KEY);
	assert_non_null(holder);
	assert_ptr_equal(holder->root, &outer.root);
	assert_ptr_equal(outer.root.top, &first);
	assert_null(outer.root.next);
	assert_ptr_equal(outer.root.fp, __builtin_frame_address(0));
	assert_ptr_equal(outer.root.ra, __builtin_return_address(0));
	assert_null(first.root);

	weft_root_enter(&inner, &second);
	assert_ptr_equal(holder->root, &inner.root);
	assert_ptr_equal(inner.root.next, &outer.root);
	assert_ptr_equal(weft_frame_current(), &second);
	weft_root_leave(&inner);
	assert_null(inner.root.top);
	assert_ptr_equal(weft_frame_current(), &first);
	weft_root_leave(&inner);
	assert_ptr_equal(weft_root_current(), &outer.root);
	weft_root_leave(&outer);
	assert_null(weft_root_current());
	assert_ptr_equal(pthread_getspecific(KEY), holder);
}

NOINLINE static int leaves_early(struct weft_frame *frame, int when)
{
	for (int i = 0; i < 3; i++) {
		WEFT_ROOT_SCOPE(frame);
		assert_ptr_equal(weft_frame_current(), frame);
		if (i == when)
			return i;
	}
	return -1;
}

static void test_scope_ends_on_every_way_out(void **state)
{
	struct weft_frame frame;

	weft_frame_init(&frame, NULL, WEFT_HERE());
	for (int when = 0; when < 4; when++) {
		assert_int_equal(leaves_early(&frame, when), when < 3 ? when : -1);
		assert_null(weft_root_current());
	}
}

NOINLINE static void mark_twice(struct weft_frame *one, struct weft_frame *two)
{
	weft_frame_mark(one);
	weft_frame_mark(two);
}

static void assert_within(const void *ip, const void *function)
{
	assert_in_range((uintptr_t)ip, (uintptr_t)function + 1,
			(uintptr_t)function + 1024);
}

static void test_mark_tells_this_place_and_who_runs(void **state)
{
	struct weft_frame running, one, two;

	mark_twice(&one, &two);
	assert_null(one.parent);
	assert_within(one.ip, (void *)mark_twice);
	assert_within(two.ip, (void *)mark_twice);
	assert_ptr_not_equal(one.ip, two.ip);

	weft_frame_init(&running, NULL, WEFT_HERE());
	WEFT_ROOT_SCOPE(&running);
	mark_twice(&one, &two);
	assert_ptr_equal(one.parent, &running);
	weft_frame_detach(&one);
	weft_frame_detach(&one);
	assert_null(one.parent);
}

static void test_push_and_pop(void **state)
{
	struct weft_frame below, callee, deeper;
	struct weft_entry entry;

	weft_frame_init(&below, NULL, WEFT_HERE());
	weft_root_enter(&entry, &below);
	weft_frame_push(&entry.root, &callee, WEFT_CALLER());
	assert_ptr_equal(callee.parent, &below);
	assert_ptr_equal(callee.ip, __builtin_return_address(0));
	assert_ptr_equal(weft_frame_current(), &callee);
	weft_frame_push(&entry.root, &deeper, WEFT_HERE());
	assert_ptr_equal(deeper.parent, &callee);

	weft_frame_pop(&entry.root, &callee); /* not on top */
	assert_ptr_equal(weft_frame_current(), &deeper);
	weft_frame_suspend(&entry.root, &callee);
	assert_ptr_equal(weft_frame_current(), &deeper);
	weft_frame_pop(&entry.root, &deeper);
	weft_frame_pop(&entry.root, &deeper);
	weft_frame_pop(&entry.root, &callee);
	assert_ptr_equal(weft_frame_current(), &below);
	weft_root_leave(&entry);
}

static void test_no_root_no_harm(void **state)
{
	struct weft_frame frame;

	weft_frame_push(NULL, &frame, WEFT_HERE());
	assert_null(frame.parent);
	weft_frame_suspend(NULL, &frame);
	weft_frame_resume(NULL, &frame);
	weft_frame_pop(NULL, &frame);
	assert_null(weft_frame_current());
}

static void *resume_elsewhere(void *frame)
{
	struct weft_frame *mine = frame;
	struct weft_entry entry;

	assert_null(weft_root_current());
	weft_root_enter(&entry, NULL);
	assert_null(weft_frame_current());
	weft_frame_resume(&entry.root, mine);
	assert_ptr_equal(weft_frame_current(), mine);
	weft_frame_pop(&entry.root, mine);
	assert_ptr_equal(weft_frame_current(), mine->parent);
	weft_root_leave(&entry);
	return NULL;
}

static void test_suspended_here_resumed_on_another_thread(void **state)
{
	struct weft_frame parent, frame;
	struct weft_entry entry;

	weft_frame_init(&parent, NULL, WEFT_HERE());
	weft_root_enter(&entry, &parent);
	weft_frame_push(&entry.root, &frame, WEFT_HERE());
	weft_frame_suspend(&entry.root, &frame);
	assert_null(weft_frame_current());
	on_thread(resume_elsewhere, &frame);
	assert_null(weft_frame_current());
	weft_root_leave(&entry);
}

NOINLINE static void waits(struct weft_frame *running)
{
	struct weft_root *registered = weft_root_current();
	struct weft_frame work;
	struct weft_wait wait;

	weft_wait_begin(&wait);
	assert_ptr_equal(weft_root_current(), registered);
	assert_ptr_equal(wait.frame.root, &wait.root);
	assert_ptr_equal(wait.root.top, &wait.frame);
	assert_ptr_equal(wait.root.next, registered);
	assert_ptr_equal(wait.root.fp, __builtin_frame_address(0));
	assert_ptr_equal(wait.frame.ip, __builtin_return_address(0));
	weft_frame_init(&work, &wait.frame, WEFT_HERE());
	on_thread(resume_elsewhere, &work);
	assert_ptr_equal(wait.frame.root, &wait.root);
	weft_wait_end(&wait);
	assert_null(wait.frame.root);
	assert_null(wait.root.top);
	assert_ptr_equal(weft_frame_current(), running);
}

static void test_wait(void **state)
{
	struct weft_frame running;

	waits(NULL);
	weft_frame_init(&running, NULL, WEFT_HERE());
	WEFT_ROOT_SCOPE(&running);
	waits(&running);
}

/* What a signal in the middle of any call may find, checked by the handler. */
static struct weft_frame base, above;
static struct weft_root *expected_root;
static bool done;
static volatile sig_atomic_t strange, seen_above;

static void look(int signal)
{
	struct weft_root *root = weft_root_current();
	struct weft_frame *top = root ? root->top : NULL;

	if (root && (root != expected_root || !root->fp || root->next))
		strange = 1;
	if (top == &above) {
		seen_above = 1;
		strange |= above.parent != &base || !above.ip || above.root;
	} else if (top) {
		strange |= top != &base || base.parent || !base.ip;
	}
}

static void *pester(void *victim)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	for (int i = 0; i < 2000; i++) {
		pthread_kill(*(pthread_t *)victim, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	return NULL;
}

static void test_a_signal_sees_the_old_or_the_new_chain(void **state)
{
	struct sigaction action = { .sa_handler = look }, old;
	pthread_t self = pthread_self(), thread;
	struct weft_entry entry;

	weft_frame_init(&base, NULL, WEFT_HERE());
	expected_root = &entry.root;
	sigaction(SIGUSR1, &action, &old);
	pthread_create(&thread, NULL, pester, &self);
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		memset(&entry, 0, sizeof(entry));
		weft_root_enter(&entry, &base);
		for (int i = 0; i < 100; i++) {
			memset(&above, 0, sizeof(above));
			weft_frame_push(&entry.root, &above, WEFT_HERE());
			weft_frame_pop(&entry.root, &above);
		}
		weft_root_leave(&entry);
	}
	pthread_join(thread, NULL);
	sigaction(SIGUSR1, &old, NULL);
	assert_false(strange);
	assert_true(seen_above);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_no_root_no_harm),
		cmocka_unit_test(test_enter_publishes_and_leave_restores),
		cmocka_unit_test(test_scope_ends_on_every_way_out),
		cmocka_unit_test(test_mark_tells_this_place_and_who_runs),
		cmocka_unit_test(test_push_and_pop),
		cmocka_unit_test(test_suspended_here_resumed_on_another_thread),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_a_signal_sees_the_old_or_the_new_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
