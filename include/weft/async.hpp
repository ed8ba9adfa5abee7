/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes your own coroutines visible: who awaits what, in the layout of
 * <weft/async.h>. This header has no task type; you add three lines to yours.
 *
 *	template <class T> struct task {
 *		struct promise_type : weft::promise {                      // 1
 *			...
 *			struct final_awaiter {
 *				...
 *				auto await_suspend(std::coroutine_handle<promise_type> self) noexcept
 *				{
 *					return weft::back(self, self.promise().continuation); // 2
 *				}
 *			};
 *		};
 *		template <class P> auto await_suspend(std::coroutine_handle<P> caller) noexcept
 *		{
 *			handle.promise().continuation = caller;
 *			return weft::call(handle, caller);                 // 3
 *		}
 *	};
 *
 * and in the event loop weft::resume(handle) replaces handle.resume().
 *
 * 1 gives each coroutine a frame, and an await_transform() that every co_await in
 * it uses: it records the line, that the coroutine waits, and that it runs again.
 * Everything that can be awaited still can. If a promise has its own
 * await_transform(), end that with weft::promise::await_transform(). 2 and 3 say
 * who is called and who continues after it; without them the chain lacks that
 * link, and nothing else breaks.
 *
 * The chain stays correct under symmetric transfer, when a coroutine is resumed on
 * another thread or within another one, when an exception leaves an awaiter or a
 * coroutine, and when a suspended coroutine is destroyed. A coroutine must not outlive
 * the coroutine that awaits it (it seldom can). Mark a coroutine that is started and not
 * awaited, or is awaited by one without a frame (weft::mark), or it has no caller.
 *
 * Whoever resumes a coroutine in the middle of other work (an event that is set, a lock
 * that is released, a task that is started with others) should do so with weft::resume(),
 * too: then that work and its callers are not shown among the coroutine's own.
 *
 * Nothing here allocates, throws, or locks. With -DWEFT_DISABLED there is no frame,
 * and the header has no effect.
 *
 * C++20, gcc 12 or clang 14 and later; before C++20 it is <weft/async.h> and no more.
 */
#ifndef WEFT_ASYNC_HPP
#define WEFT_ASYNC_HPP

#include "async.h"

/* Microsoft's compiler says it elsewhere. */
#if __cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)

/* So that a return address is of the line that called; elsewhere none is taken. */
#ifdef WEFT_DISABLED
#define WEFT_NOINLINE_
#define WEFT_INLINE_ inline
#else
#define WEFT_NOINLINE_ __attribute__((__noinline__))
#define WEFT_INLINE_   inline __attribute__((__always_inline__))
#endif

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace weft
{

class promise;

template <class P>
concept traced = std::derived_from<P, promise>;

namespace detail
{

/* The operation that waits for it: behind labels and contexts, which are its own. */
inline struct weft_frame *caller_of(const struct weft_frame *frame) noexcept
{
	struct weft_frame *caller = frame->parent;

#ifndef WEFT_DISABLED
	while (caller && weft_label_of_(caller))
		caller = caller->parent;
#endif
	return caller;
}

template <class A>
concept has_member_co_await = requires(A &&a)
{
	std::forward<A>(a).operator co_await();
};
template <class A>
concept has_free_co_await = requires(A &&a)
{
	operator co_await(std::forward<A>(a));
};

/* The awaiter of an awaitable, as co_await itself finds it. */
template <class A> decltype(auto) awaiter_of(A &&a)
{
	if constexpr (has_member_co_await<A>)
		return std::forward<A>(a).operator co_await();
	else if constexpr (has_free_co_await<A>)
		return operator co_await(std::forward<A>(a));
	else
		return std::forward<A>(a);
}

template <class Awaiter> class awaiting;

} // namespace detail

/* The base of a promise type. */
class promise
{
      public:
	promise() noexcept
	{
		weft_frame_init(&frame_, nullptr, nullptr);
	}

	promise(const promise &) = delete;
	promise &operator=(const promise &) = delete;

	~promise()
	{
		weft_stop(true);
	}

	/* This coroutine's frame; borrowed, for the functions of weft/async.h. */
	struct weft_frame *weft_frame_of() noexcept
	{
		return &frame_;
	}

	/* Out of line, so that its return address is in the co_await's line. */
	template <class A> WEFT_NOINLINE_ auto await_transform(A &&awaitable)
	{
		using awaiter = decltype(detail::awaiter_of(std::forward<A>(awaitable)));

		place_ = WEFT_CALLER();
		return detail::awaiting<awaiter>(this, std::forward<A>(awaitable));
	}

	/* The rest is this header's own. This coroutine runs on this thread from now on. If
	 * another one does, that has resumed it itself, and goes on when this one waits. */
	void weft_run() noexcept
	{
#ifndef WEFT_DISABLED
		struct weft_root *root = weft_root_current();
		promise *called = std::exchange(called_, nullptr);

		if (!root)
			return;
		below_ = root->top == &frame_ ? nullptr : root->top;
		/* one that has ended without weft::back() does not go on */
		if (called && below_ == &called->frame_)
			below_ = std::exchange(called->below_, nullptr);
		WEFT_PUBLISH_(&root->top, &frame_);
#endif
	}

	/* It waits, or has ended, and who awaited it runs; unless it was resumed within
	 * another. Nothing if it does not run: who awaited it may be gone then. */
	void weft_stop(bool has_ended) noexcept
	{
#ifndef WEFT_DISABLED
		struct weft_root *root = weft_root_current();
		struct weft_frame *below;

		if (!root || root->top != &frame_)
			return;
		below = std::exchange(below_, nullptr);
		WEFT_PUBLISH_(&root->top, below	      ? below
					  : has_ended ? weft_awaiter()
						      : nullptr);
#else
		(void)has_ended, (void)below_;
#endif
	}

	/* Nobody waits for it: it was asked for in the line of place. */
	void weft_ask(struct weft_frame *asker, void *place) noexcept
	{
		is_awaited_ = false;
		weft_frame_init(&frame_, asker, place);
	}

	/* Its co_await waits for that one. */
	void weft_await(promise *callee) noexcept
	{
		called_ = callee;
		callee->is_awaited_ = true;
		weft_frame_init(&callee->frame_, &frame_, place_);
	}

	/* The frame of the coroutine that waits for it, and so is there; or nullptr. */
	struct weft_frame *weft_awaiter() const noexcept
	{
		return is_awaited_ ? detail::caller_of(&frame_) : nullptr;
	}

	/* Its co_await calls that one, which runs now. */
	void weft_call(promise *callee) noexcept
	{
		weft_await(callee);
#ifndef WEFT_DISABLED
		callee->weft_run();
		if (callee->below_ == &frame_) /* this one had not stopped before */
			callee->below_ = std::exchange(below_, nullptr);
#endif
	}

      private:
	struct weft_frame frame_ = {};
	void *place_ = nullptr;		     /* of its last co_await */
	struct weft_frame *below_ = nullptr; /* what runs when this one stops */
	promise *called_ = nullptr;	     /* by the co_await that it is in */
	bool is_awaited_ = false;	     /* by the frame that is its parent */
};

namespace detail
{

/* Wraps another awaiter, which is kept by value or by reference, as it came. */
template <class Awaiter> class awaiting
{
      public:
	template <class A>
	awaiting(promise *running, A &&awaitable)
	    : running_(running), inner_(awaiter_of(std::forward<A>(awaitable)))
	{
	}

	decltype(auto)
	await_ready() noexcept(noexcept(std::declval<Awaiter &>().await_ready()))
	{
		return inner_.await_ready();
	}

	/*
	 * The coroutine may be resumed on another thread, or destroyed, before this
	 * returns. So it stops running first, and later code does not touch it.
	 */
	template <class P> auto await_suspend(std::coroutine_handle<P> self)
	{
		using result = decltype(inner_.await_suspend(self));
		again on_throw{ running_ };

		waited_ = true;
		running_->weft_stop(false);
		if constexpr (std::is_void_v<result>) {
			inner_.await_suspend(self);
			on_throw.running = nullptr;
		} else {
			result next = inner_.await_suspend(self);

			on_throw.running = nullptr;
			return next;
		}
	}

	decltype(auto)
	await_resume() noexcept(noexcept(std::declval<Awaiter &>().await_resume()))
	{
		if (waited_)
			running_->weft_run();
		return inner_.await_resume();
	}

      private:
	/* An await_suspend() that throws leaves the coroutine running. */
	struct again {
		promise *running;

		~again()
		{
			if (running)
				running->weft_run();
		}
	};

	promise *running_;
	bool waited_ = false;
	Awaiter inner_;
};

} // namespace detail

/*
 * In the await_suspend() of a task: caller awaits callee, which runs now, by
 * symmetric transfer or by a weft::resume() that follows. If caller has no frame (its
 * promise is not derived from weft's), callee is shown as asked for by whom it was
 * marked, else by the operation that runs now, if there is one. Returns callee.
 *
 * Whether caller has one its type says, so the await_suspend() is a template.
 */
template <traced P, class Caller>
std::coroutine_handle<P> call(std::coroutine_handle<P> callee,
			      std::coroutine_handle<Caller> caller) noexcept
{
	static_assert(!std::is_void_v<Caller>,
		      "weft::call: make await_suspend() a template, by whose argument "
		      "callers are found: std::coroutine_handle<Promise>");
	promise &called = callee.promise();

	if constexpr (traced<Caller>) {
		static_cast<promise &>(caller.promise()).weft_call(&called);
	} else {
		if (!called.weft_frame_of()->ip)
			called.weft_ask(weft_frame_asker(), nullptr);
		called.weft_run();
	}
	return callee;
}

/*
 * Instead of call(), of a task that has begun when it was made (its initial_suspend() does
 * not suspend), or that runs elsewhere: caller awaits callee from here on, and who runs
 * next is not changed. Call it before anything can resume caller.
 */
template <traced P, class Caller>
void awaits(std::coroutine_handle<P> callee,
	    std::coroutine_handle<Caller> caller) noexcept
{
	if constexpr (traced<Caller>)
		static_cast<promise &>(caller.promise()).weft_await(&callee.promise());
	else
		(void)callee, (void)caller;
}

/*
 * In the await_suspend() of a final awaiter, or of a co_yield that returns to a
 * caller: callee has ended or waits, and its caller runs again. Returns the
 * continuation, or, if there is none, a handle that returns to the loop.
 */
template <traced P>
std::coroutine_handle<> back(std::coroutine_handle<P> callee,
			     std::coroutine_handle<> continuation) noexcept
{
	static_cast<promise &>(callee.promise()).weft_stop(true);
	return continuation ? continuation : std::noop_coroutine();
}

/*
 * In the loop, and wherever else a coroutine is resumed, instead of handle.resume().
 * With the promise's type the chain is complete from the first instruction; without it,
 * from the point where the coroutine continues after its co_await.
 */
template <class P> WEFT_NOINLINE_ void resume(std::coroutine_handle<P> handle)
{
	if constexpr (traced<P>) {
		handle.promise().weft_stop(false); /* it runs here, not around this */
		WEFT_ROOT_SCOPE(handle.promise().weft_frame_of());
		handle.resume();
	} else {
		WEFT_ROOT_SCOPE(nullptr);
		handle.resume();
	}
}

/*
 * Runs a generator up to its next value, at once: shown as called from where this
 * was called, by the operation that runs now. Where none runs, it is a plain call.
 */
template <traced P> WEFT_NOINLINE_ void step(std::coroutine_handle<P> generator)
{
	struct weft_frame *caller = weft_frame_current();

	generator.promise().weft_ask(caller, WEFT_CALLER());
	if (caller)
		resume(generator);
	else
		generator.resume();
}

/*
 * The running operation asked for the coroutine on this line; the loop will resume
 * it. Detach it (weft_frame_detach(p.weft_frame_of())) if it may outlive the
 * running operation.
 */
template <traced P>
WEFT_INLINE_ void mark([[maybe_unused]] std::coroutine_handle<P> handle) noexcept
{
	/* the line itself: of a function that ends with this the compiler makes a jump */
	handle.promise().weft_ask(weft_frame_asker(), WEFT_HERE());
}

/*
 * While it lives, the coroutine that makes it, and all that it asks for or awaits, works
 * for this context, see weft_frame_carry(). A local variable of the coroutine; where none
 * runs, it does nothing. In a generator it ends with the next step.
 */
class carrying
{
      public:
	explicit carrying(const void *record) noexcept : frame_(weft_frame_asker())
	{
		if (frame_)
			weft_frame_carry(frame_, &context_, record);
	}

	carrying(const unsigned char *trace_id, const unsigned char *span_id) noexcept
	    : frame_(weft_frame_asker())
	{
		if (frame_)
			weft_frame_carry_ids(frame_, &context_, trace_id, span_id);
	}

	carrying(const carrying &) = delete;
	carrying &operator=(const carrying &) = delete;

	~carrying()
	{
		if (frame_)
			weft_frame_uncarry(frame_, &context_);
	}

      private:
	struct weft_frame *frame_;
	struct weft_context context_ = {};
};

/* This thread blocks until the coroutine is done, see weft_wait_begin(). */
template <traced P>
WEFT_NOINLINE_ void wait_for(std::coroutine_handle<P> handle,
			     struct weft_wait *wait) noexcept
{
	handle.promise().weft_ask(&wait->frame, WEFT_CALLER());
}

} // namespace weft

#endif /* C++20 */

#endif
