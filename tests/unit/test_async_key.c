/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft/async.h and the key that it shares: with folly, which may come first or
 * last, with other threads, with a process that has no key left, and with a
 * reader that has only the ELF note.
 */
#include "shared/async_abi.h"
#include "weft/async.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define KEY folly_async_stack_root_tls_key

/* folly as the header sees it: a once-flag and a holder for each thread. */
static struct {
	bool here;
	unsigned int calls;
	pthread_key_t key;
	struct weft_holder holder;
} folly;

struct weft_root *imitation(void) __asm__("_ZN5folly27tryGetCurrentAsyncStackRootEv");
struct weft_root *imitation(void)
{
	if (!folly.here)
		return NULL;
	folly.calls++;
	if (!folly.key) {
		pthread_key_create(&folly.key, NULL);
		KEY = folly.key;
	}
	pthread_setspecific(KEY, &folly.holder);
	return folly.holder.root;
}

static void on_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *uses_the_holder_that_is_there(void *unused)
{
	struct weft_holder foreign = { 0 };
	struct weft_entry entry;

	pthread_setspecific(KEY, &foreign);
	weft_root_enter(&entry, NULL);
	assert_ptr_equal(foreign.root, &entry.root);
	assert_ptr_equal(pthread_getspecific(KEY), &foreign);
	weft_root_leave(&entry);
	assert_null(foreign.root);
	pthread_setspecific(KEY, NULL);
	return NULL;
}

static void *lets_folly_go_first(void *unused)
{
	struct weft_entry entry;

	folly.here = true;
	for (int i = 0; i < 2; i++) {
		weft_root_enter(&entry, NULL);
		assert_ptr_equal(folly.holder.root, &entry.root);
		weft_root_leave(&entry);
	}
	folly.here = false;
	assert_int_equal(folly.calls, 1);
	assert_int_equal(KEY, folly.key);
	assert_null(folly.holder.root);
	return NULL;
}

static void test_beside_folly(void **state)
{
	struct weft_entry entry;
	pthread_key_t ours;

	weft_root_enter(&entry, NULL);
	ours = KEY;
	on_thread(uses_the_holder_that_is_there, NULL);
	on_thread(lets_folly_go_first, NULL);
	assert_int_not_equal(KEY, ours);
	assert_null(weft_root_current()); /* a new key: this thread starts anew */
	weft_root_leave(&entry);
	weft_root_enter(&entry, NULL);
	assert_ptr_equal(weft_root_current(), &entry.root);
	weft_root_leave(&entry);
	KEY = ours;
}

static void *enter_first(void *start)
{
	struct weft_entry entry;

	pthread_barrier_wait(start);
	weft_root_enter(&entry, NULL);
	assert_ptr_equal(weft_root_current(), &entry.root);
	weft_root_leave(&entry);
	return NULL;
}

static void test_threads_agree_on_one_key(void **state)
{
	pthread_key_t ours = KEY;
	pthread_barrier_t start;
	pthread_t threads[8];

	for (int round = 0; round < 20; round++) {
		KEY = WEFT_KEY_UNSET_;
		pthread_barrier_init(&start, NULL, 8);
		for (int i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, enter_first, &start);
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&start);
		assert_int_not_equal(KEY, WEFT_KEY_UNSET_);
		pthread_key_delete(KEY);
	}
	KEY = ours;
}

static void test_no_free_key(void **state)
{
	pid_t pid = fork();
	struct weft_entry entry;
	pthread_key_t key;
	int status;

	if (pid == 0) {
		KEY = WEFT_KEY_UNSET_;
		while (!pthread_key_create(&key, NULL))
			;
		weft_root_enter(&entry, NULL);
		status = weft_root_current() || KEY != WEFT_KEY_UNSET_;
		weft_root_leave(&entry);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The note's descriptor, in the first PT_NOTE that has one. */
static const char *note_find(const char *at, const char *end)
{
	while (end - at >= 12) {
		uint32_t words[3]; /* bytes of the name, of the descriptor, type */

		memcpy(words, at, sizeof(words));
		at += sizeof(words);
		if (words[2] == ASYNC_NOTE_TYPE && words[0] == sizeof(ASYNC_NOTE_OWNER) &&
		    !memcmp(at, ASYNC_NOTE_OWNER, words[0]))
			return at + ((words[0] + 3) & ~3u);
		at += ((words[0] + 3) & ~3u) + ((words[1] + 3) & ~3u);
	}
	return NULL;
}

static int program_note(struct dl_phdr_info *info, size_t size, void *ret)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *start = (const char *)info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_NOTE && !*(const char **)ret)
			*(const char **)ret = note_find(start, start + ph->p_memsz);
	}
	return 1; /* the program itself comes first and is enough */
}

static void test_note_leads_to_the_key(void **state)
{
	const char *descriptor = NULL;
	int64_t distance;

	dl_iterate_phdr(program_note, &descriptor);
	assert_non_null(descriptor);
	memcpy(&distance, descriptor, sizeof(distance));
	assert_ptr_equal(descriptor + distance, &KEY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beside_folly),
		cmocka_unit_test(test_threads_agree_on_one_key),
		cmocka_unit_test(test_no_free_key),
		cmocka_unit_test(test_note_leads_to_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
