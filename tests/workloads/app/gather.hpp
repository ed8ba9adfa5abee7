// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several operations at once: all of them, or the first, which has the others
 * cancelled. Also cancellation and time.
 */
#ifndef APP_GATHER_HPP
#define APP_GATHER_HPP

#include "pool.hpp"

/* ---- cancellation: a flag, and those who wait and must be told */

struct watcher {
	struct watcher *next;
	void (*tell)(struct watcher *watcher);
};

struct cancel_token {
	std::atomic<bool> is_cancelled;
	struct lock lock;
	struct watcher *watchers;
};

static FN void cancel(struct cancel_token *token)
{
	token->lock.get();
	token->is_cancelled = true;
	for (struct watcher *w = token->watchers; w; w = w->next)
		w->tell(w);
	token->lock.give();
	AFTER();
}

/* false: too late, nobody will be told */
INLINE bool token_watch(struct cancel_token *token, struct watcher *watcher)
{
	bool in_time;

	token->lock.get();
	in_time = !token->is_cancelled.load();
	if (in_time) {
		watcher->next = token->watchers;
		token->watchers = watcher;
	}
	token->lock.give();
	return in_time;
}

INLINE void token_unwatch(struct cancel_token *token, struct watcher *watcher)
{
	struct watcher **at = &token->watchers;

	token->lock.get();
	while (*at != watcher)
		at = &(*at)->next;
	*at = watcher->next;
	token->lock.give();
}

/* co_await cancelled(): of this operation; it goes on at once */
struct asked_for {
	bool yes = false;

	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER bool await_suspend(std::coroutine_handle<P> h) noexcept
	{
		struct cancel_token *token = h.promise().token;

		yes = token && token->is_cancelled.load();
		return false;
	}
	INLINE_MEMBER bool await_resume() noexcept
	{
		return yes;
	}
};

/* co_await take_turn(): behind all that its pool has to do */
FN bool requeue(struct promise_base *p, void *)
{
	folly_deactivate(p->frame.stackRoot, &p->frame);
	go_home(p);
	AFTER();
	return true;
}

INLINE waiting<requeue> take_turn(void)
{
	return { nullptr };
}

/* ---- time: a thread with a list of who sleeps */

struct sleeper : watcher {
	struct sleeper *later;
	unsigned long long until_ns;
	struct promise_base *who;
};

static struct lock timer_lock;
static struct sleeper *sleepers;
static std::atomic<int> timer_news;

/* Takes it off the list; the lock is held. NULL: it isn't there. */
INLINE struct sleeper *take_sleeper(struct sleeper *who)
{
	struct sleeper **at = &sleepers;

	while (*at && *at != who)
		at = &(*at)->later;
	if (!*at)
		return nullptr;
	*at = who->later;
	return who;
}

/* By who cancels. */
static FN void wake_sleeper(struct watcher *watcher)
{
	struct sleeper *who;

	timer_lock.get();
	who = take_sleeper(static_cast<struct sleeper *>(watcher));
	timer_lock.give();
	if (who)
		go_home(who->who);
	AFTER();
}

INLINE struct sleeper *due_sleeper(unsigned long long now)
{
	struct sleeper *due = sleepers;

	while (due && due->until_ns > now)
		due = due->later;
	return due ? take_sleeper(due) : nullptr;
}

static FN void fire_timers(void)
{
	for (;;) {
		unsigned long long now = work_now_ns();
		struct sleeper *due;

		timer_lock.get();
		due = due_sleeper(now);
		timer_lock.give();
		if (!due)
			return;
		go_home(due->who);
	}
}

/* It looks every half millisecond, and when somebody lies down. */
static FN void timer_loop(void)
{
	struct timespec half = { 0, 500000 };

	for (;;) {
		int news = timer_news.load();

		fire_timers();
		sys_call(SYS_futex, (long)&timer_news, WAIT_PRIVATE, news, (long)&half,
			 0);
	}
}

static FN void *timer_thread(void *arg)
{
	timer_loop();
	return arg;
}

FN bool lie_down(struct promise_base *p, void *arg)
{
	struct sleeper *me = (struct sleeper *)arg;

	me->who = p;
	folly_deactivate(p->frame.stackRoot, &p->frame);
	timer_lock.get();
	me->later = sleepers;
	sleepers = me;
	timer_lock.give();
	/* from here on it may be running already */
	AFTER();
	return true;
}

/* ---- several at once */

struct gather {
	std::atomic<int> left;
	std::atomic<struct promise_base *> first;
	bool cancels;
	struct promise_base *who; /* waits */
	struct cancel_token token;
};

static FN void arrive(struct promise_base *child)
{
	struct gather *gather = (struct gather *)child->done_for;
	struct promise_base *none = nullptr;

	if (gather->first.compare_exchange_strong(none, child) && gather->cancels)
		cancel(&gather->token);
	if (gather->left.fetch_sub(1) == 1)
		go_home(gather->who);
	AFTER();
}

/* Runs it here until it waits; as called by who calls this. */
static FN void start_child(struct gather *gather, struct promise_base *parent,
			   struct promise_base *child)
{
	folly_frame(&child->frame, &parent->frame, __builtin_return_address(0));
	child->done = arrive;
	child->done_for = gather;
	child->home = parent->home;
	child->token = &gather->token;
	resume_with_root(child->self, &child->frame);
	AFTER();
}

FN bool await_children(struct promise_base *p, void *arg)
{
	struct gather *gather = (struct gather *)arg;
	struct AsyncStackRoot *root = p->frame.stackRoot;

	gather->who = p;
	folly_deactivate(root, &p->frame);
	if (gather->left.fetch_sub(1) != 1)
		return true;
	folly_activate(root, &p->frame);
	return false;
}

/* co_await own_promise(): who am I */
struct own_promise {
	struct promise_base *self = nullptr;

	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER bool await_suspend(std::coroutine_handle<P> h) noexcept
	{
		self = &h.promise();
		return false;
	}
	INLINE_MEMBER struct promise_base *await_resume() noexcept
	{
		return self;
	}
};

BODY task<int> collect_all(task<int> a, task<int> b, task<int> c)
{
	struct promise_base *self = co_await own_promise();
	struct gather gather = {};

	gather.left = 4;
	start_child(&gather, self, &a.h.promise());
	start_child(&gather, self, &b.h.promise());
	start_child(&gather, self, &c.h.promise());
	co_await waiting<await_children>{ &gather };
	co_return a.h.promise().result() + b.h.promise().result() +
		c.h.promise().result();
}

/* Which was the first; its result, or what it threw. */
BODY task<int> collect_any(task<int> a, task<int> b, int *ret_first)
{
	struct promise_base *self = co_await own_promise();
	struct gather gather = {};

	gather.left = 3;
	gather.cancels = true;
	start_child(&gather, self, &a.h.promise());
	start_child(&gather, self, &b.h.promise());
	co_await waiting<await_children>{ &gather };
	*ret_first = gather.first.load() == &b.h.promise();
	co_return *ret_first ? b.h.promise().result() : a.h.promise().result();
}

/* So many microseconds, or until it is cancelled. */
BODY task<int> sleep_us(unsigned long us)
{
	struct promise_base *self = co_await own_promise();
	struct sleeper me = {};

	me.until_ns = work_now_ns() + us * 1000ULL;
	me.tell = wake_sleeper;
	if (self->token && !token_watch(self->token, &me))
		co_return 0;
	co_await waiting<lie_down>{ &me };
	if (self->token)
		token_unwatch(self->token, &me);
	co_return 1;
}

struct timed_out {
};

BODY task<int> with_timeout(task<int> what, unsigned long us)
{
	int first = 0;
	int got = co_await collect_any(std::move(what), sleep_us(us), &first);

	if (first)
		throw timed_out();
	co_return got;
}

#endif
