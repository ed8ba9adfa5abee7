/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What else weft/async.h has: captured callers, the register of what
 * waits, and what is left of it all after a fork or at a thread's end.
 */
#ifndef WEFT_REGISTRY
#define WEFT_REGISTRY
#endif
#include "weft/async.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define AFTER() __asm__ volatile("" ::: "memory")

static void on_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static bool is_within(const void *ip, const void *function)
{
	return (uintptr_t)ip > (uintptr_t)function &&
	       (uintptr_t)ip < (uintptr_t)function + 256;
}

static struct weft_op op;
static struct weft_frame running;

NOINLINE static void submit(void)
{
	weft_capture(&op);
	AFTER();
}

NOINLINE static void outer(int deeper)
{
	if (deeper)
		outer(deeper - 1);
	else
		submit();
	AFTER();
}

NOINLINE static void callback(int deeper)
{
	outer(deeper);
	AFTER();
}

NOINLINE static void dispatch(int deeper)
{
	WEFT_ROOT_SCOPE(&running);
	callback(deeper);
	AFTER();
}

static void test_capture_ends_at_the_dispatcher(void **state)
{
	weft_frame_init(&running, NULL, WEFT_HERE());
	dispatch(1);
	assert_true(is_within(op.frame.ip, (void *)submit));
	assert_ptr_equal(op.frame.parent, &op.callers[0]);
	assert_true(is_within(op.callers[0].ip, (void *)outer));
	assert_true(is_within(op.callers[1].ip, (void *)outer));
	assert_true(is_within(op.callers[2].ip, (void *)callback));
	assert_ptr_equal(op.callers[1].parent, &op.callers[2]);
	assert_ptr_equal(op.callers[2].parent, &running);
	assert_null(op.callers[0].root);
}

static void test_capture_is_bounded(void **state)
{
	memset(&op, 0xff, sizeof(op));
	dispatch(100);
	for (int i = 0; i < WEFT_OP_CALLERS; i++)
		assert_true(is_within(op.callers[i].ip, (void *)outer));
	assert_ptr_equal(op.callers[WEFT_OP_CALLERS - 1].parent, &running);
}

NOINLINE static void queues_itself(void)
{
	WEFT_ROOT_SCOPE(&running);
	weft_capture(&op);
}

static void test_capture_in_the_dispatcher_has_no_callers(void **state)
{
	queues_itself();
	assert_ptr_equal(op.frame.parent, &running);
}

static void *capture_without_root(void *unused)
{
	outer(1);
	return NULL;
}

/* Up to the thread's start, and not a word above its stack. */
static void test_capture_ends_with_the_stack(void **state)
{
	struct weft_frame *frame;
	int n = 0;

	on_thread(capture_without_root, NULL);
	for (frame = op.frame.parent; frame; frame = frame->parent)
		n++;
	assert_in_range(n, 2, WEFT_OP_CALLERS);
	assert_true(is_within(op.callers[0].ip, (void *)outer));
}

/* A frame pointer that is none, as in code that uses the register otherwise. */
static void test_capture_believes_no_frame_pointer(void **state)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t wild[] = { 0,
				   8,
				   (uintptr_t)&op,
				   here - 64,
				   here + 1,
				   weft_stack_end_(here) - 8,
				   weft_stack_end_(here),
				   ~(uintptr_t)7 };
	uintptr_t record[2];

	for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
		record[0] = wild[i];
		record[1] = (uintptr_t)submit + 1;
		weft_frame_init(&op.frame, NULL, WEFT_HERE());
		weft_capture_(&op.frame, op.callers, WEFT_OP_CALLERS, record);
		assert_ptr_equal(op.frame.parent, op.callers);
		assert_ptr_equal(op.callers[0].ip, record[1]); /* who called, always */
		weft_capture_(&op.frame, op.callers, WEFT_OP_CALLERS, (void *)wild[i]);
	}
}

static ucontext_t main_context, other_context;

static void on_other_stack(void)
{
	memset(&op, 0, sizeof(op));
	outer(3);
	swapcontext(&other_context, &main_context);
}

static void test_capture_on_a_stack_that_is_no_threads(void **state)
{
	const size_t bytes = 65536;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(stack, MAP_FAILED);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = bytes;
	makecontext(&other_context, on_other_stack, 0);
	swapcontext(&main_context, &other_context);
	assert_true(is_within(op.frame.ip, (void *)submit));
	assert_null(op.frame.parent);
	munmap(stack, bytes);
}

struct listed {
	const struct weft_frame *frames[100];
	int n;
};

static void note_frame(void *arg, const struct weft_frame *frame)
{
	struct listed *listed = arg;

	if (listed->n < 100)
		listed->frames[listed->n++] = frame;
}

static struct listed all(void)
{
	struct listed listed = { .n = 0 };

	weft_leaf_each(note_frame, &listed);
	return listed;
}

static void *remove_leaf(void *leaf)
{
	weft_leaf_remove(leaf);
	return NULL;
}

static void test_leaves_come_and_go(void **state)
{
	static struct weft_leaf leaves[3];
	struct weft_frame frames[3];

	assert_int_equal(all().n, 0);
	for (int i = 0; i < 3; i++) {
		weft_frame_init(&frames[i], NULL, WEFT_HERE());
		weft_leaf_add(&leaves[i], &frames[i]);
		weft_leaf_add(&leaves[i], &frames[i]);
	}
	assert_int_equal(all().n, 3);
	on_thread(remove_leaf, &leaves[1]);
	assert_int_equal(all().n, 2);
	assert_ptr_not_equal(all().frames[0], &frames[1]);
	assert_ptr_not_equal(all().frames[1], &frames[1]);
	weft_leaf_remove(&leaves[1]);
	weft_leaf_remove(&leaves[2]);
	weft_leaf_remove(&leaves[0]);
	assert_int_equal(all().n, 0);
}

/* A reader that knows the note's 32 bytes and nothing else. */
struct leaf_note {
	uint32_t version, lists, stride, first, next, frame;
	uint64_t distance;
};

static int find_note(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Phdr) * phdr;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		phdr = &info->dlpi_phdr[i];
		for (size_t at = 0; phdr->p_type == PT_NOTE && at < phdr->p_memsz;) {
			const char *note =
				(const char *)info->dlpi_addr + phdr->p_vaddr + at;
			const ElfW(Nhdr) *head = (const void *)note;

			if (head->n_type == 2 && head->n_descsz == 32 &&
			    !memcmp(note + 12, "weft", 5)) {
				*(const void **)arg = note + 20;
				return 1;
			}
			at += 12 + ((head->n_namesz + 3u) & ~3u) +
			      ((head->n_descsz + 3u) & ~3u);
		}
	}
	return 0;
}

static void test_leaves_are_found_by_the_note(void **state)
{
	static struct weft_leaf leaf;
	struct leaf_note note;
	const char *desc = NULL, *lists, *at;
	struct weft_frame frame;
	int found = 0;

	dl_iterate_phdr(find_note, &desc);
	assert_non_null(desc);
	memcpy(&note, desc, sizeof(note));
	assert_int_equal(note.version, 1);
	weft_frame_init(&frame, NULL, WEFT_HERE());
	weft_leaf_add(&leaf, &frame);
	lists = desc + 24 + note.distance;
	for (uint32_t i = 0; i < note.lists; i++) {
		at = *(const char *const *)(lists + i * note.stride + note.first);
		for (; at; at = *(const char *const *)(at + note.next))
			found += *(const void *const *)(at + note.frame) == &frame;
	}
	assert_int_equal(found, 1);
	weft_leaf_remove(&leaf);
}

static bool stop;

static void *churn(void *unused)
{
	struct weft_leaf leaf = { 0 };
	struct weft_frame frame;

	weft_frame_init(&frame, NULL, WEFT_HERE());
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		weft_leaf_add(&leaf, &frame);
		weft_leaf_remove(&leaf);
	}
	return NULL;
}

/* A lock that another thread held at the fork would be held forever. */
static void test_fork_while_others_list(void **state)
{
	pthread_t thread;
	int status;

	assert_int_equal(pthread_create(&thread, NULL, churn, NULL), 0);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid) {
			static struct weft_leaf leaves[64];

			alarm(20);
			for (int k = 0; k < WEFT_LEAF_LISTS_; k++)
				pthread_mutex_lock(&weft_leaf_lists_[k].lock);
			for (int k = 0; k < WEFT_LEAF_LISTS_; k++)
				pthread_mutex_unlock(&weft_leaf_lists_[k].lock);
			weft_leaf_add(&leaves[0], &running);
			weft_leaf_remove(&leaves[0]);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static void test_fork_keeps_this_threads_roots(void **state)
{
	struct weft_frame frame;
	struct weft_entry entry;
	int status;
	pid_t pid;

	weft_frame_init(&frame, NULL, WEFT_HERE());
	weft_root_enter(&entry, &frame);
	pid = fork();
	if (!pid) {
		bool good = weft_frame_current() == &frame;

		weft_root_leave(&entry);
		_exit(good && !weft_root_current() ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ptr_equal(weft_frame_current(), &frame);
	weft_root_leave(&entry);
}

static pthread_key_t late_key;
static int late_runs;

static void enters_a_root_late(void *again)
{
	struct weft_frame frame;
	struct weft_entry entry;

	weft_frame_init(&frame, NULL, WEFT_HERE());
	weft_root_enter(&entry, &frame);
	late_runs += weft_frame_current() == &frame;
	weft_root_leave(&entry);
	if (late_runs < 3)
		pthread_setspecific(late_key, again);
}

static void *ends_inside_a_root(void *unused)
{
	static struct weft_entry entry;

	pthread_setspecific(late_key, &late_runs);
	weft_root_enter(&entry, &running);
	return NULL;
}

/* The destructor's key is younger than ours, so our holder is freed before. */
static void test_roots_at_a_threads_end(void **state)
{
	pthread_key_create(&late_key, enters_a_root_late);
	on_thread(ends_inside_a_root, NULL);
	assert_int_equal(late_runs, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture_ends_at_the_dispatcher),
		cmocka_unit_test(test_capture_is_bounded),
		cmocka_unit_test(test_capture_in_the_dispatcher_has_no_callers),
		cmocka_unit_test(test_capture_ends_with_the_stack),
		cmocka_unit_test(test_capture_believes_no_frame_pointer),
		cmocka_unit_test(test_capture_on_a_stack_that_is_no_threads),
		cmocka_unit_test(test_leaves_come_and_go),
		cmocka_unit_test(test_leaves_are_found_by_the_note),
		cmocka_unit_test(test_fork_while_others_list),
		cmocka_unit_test(test_fork_keeps_this_threads_roots),
		cmocka_unit_test(test_roots_at_a_threads_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
