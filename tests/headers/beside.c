/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beside ORDER          weft/async.h and like_folly.c, linked together
 * beside ORDER LIBRARY  the latter opened once the former is in use (-DLATER)
 *
 * ORDER says who enters a root first, second and so on, "wfwf" or "fwfw"; other
 * threads have theirs turned round. On each, whatever was entered is one list, for
 * both sides and for a reader of the slot. Status 0, or 1 and a word.
 */
#include <weft/async.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 8
#define THREADS	  6
#define ROUNDS	  200

#ifdef LATER
static void (*folly_enter)(struct weft_root *root),
	(*folly_leave)(struct weft_root *root);
#else
void folly_enter(struct weft_root *root);
void folly_leave(struct weft_root *root);
#endif

static const char *order;
static int wrong;

struct entered {
	const struct weft_root *roots[DEPTH_MAX];
	int n;
};

static void complain(const char *what)
{
	if (!__atomic_exchange_n(&wrong, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "%s\n", what);
}

static void look(const struct entered *entered)
{
	const struct weft_holder *holder =
		(const struct weft_holder *)pthread_getspecific(
			folly_async_stack_root_tls_key);
	const struct weft_root *root = holder ? holder->root : NULL;

	if (root != weft_root_current())
		complain("the slot has another root than the header");
	for (int i = entered->n; i-- > 0; root = root->next)
		if (root != entered->roots[i]) {
			complain("a root is not where it was entered");
			return;
		}
	if (root)
		complain("there are more roots than were entered");
}

static void enter_all(const char *rest, struct entered *entered);

static void enter_ours(const char *rest, struct entered *entered)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	entered->roots[entered->n++] = &entry.root;
	enter_all(rest, entered);
	entered->n--;
	weft_root_leave(&entry);
}

static void enter_theirs(const char *rest, struct entered *entered)
{
	struct weft_root root;

	folly_enter(&root);
	entered->roots[entered->n++] = &root;
	enter_all(rest, entered);
	entered->n--;
	folly_leave(&root);
}

static void enter_all(const char *rest, struct entered *entered)
{
	look(entered);
	if (*rest == 'w')
		enter_ours(rest + 1, entered);
	else if (*rest == 'f')
		enter_theirs(rest + 1, entered);
	look(entered);
}

static void enter(const char *which)
{
	struct entered entered = { { NULL }, 0 };

	enter_all(which, &entered);
}

/*
 * A library that was not there when this program was linked can't be asked to go
 * first, so where we were first on a thread it puts its own holder over ours, once.
 * What stands under ours meanwhile is left as it was entered.
 */
static void meet(void)
{
#ifdef LATER
	struct weft_entry entry;
	struct weft_root root;

	weft_root_enter(&entry, NULL);
	folly_enter(&root);
	if (weft_root_current() != &root)
		complain("the library's root is not the header's");
	folly_leave(&root);
	weft_root_leave(&entry);
#endif
}

static void *work(void *turned)
{
	meet();
	for (int i = 0; i < ROUNDS; i++)
		enter(turned && i % 2 == 0 ? order + 1 : order);
	return NULL; /* and the thread's holder goes, whosever it was */
}

static void on_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, i % 2 ? &wrong : NULL))
			complain("no thread");
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

#ifdef LATER
static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		complain(dlerror());
		exit(1);
	}
	*(void **)&folly_enter = dlsym(library, "folly_enter");
	*(void **)&folly_leave = dlsym(library, "folly_leave");
	meet();
}
#endif

int main(int argc, char **argv)
{
	order = argc > 1 ? argv[1] : "wfwf";
#ifdef LATER
	enter("www");
	open_library(argc > 2 ? argv[2] : "");
#endif
	enter(order);
	on_threads();
	enter(order + 1);
	return wrong;
}
