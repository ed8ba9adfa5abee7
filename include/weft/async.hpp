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
 * another thread, when an exception leaves an awaiter or a coroutine, and when a
 * suspended coroutine is destroyed. A coroutine must not outlive the coroutine
 * that awaits it (it seldom can). Mark a coroutine that is started and not awaited
 * (weft::mark), or it has no caller.
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
#else
#define WEFT_NOINLINE_ __attribute__((noinline))
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

/* Sets what runs on this thread from now on; nullptr: the dispatcher itself. */
inline void run(struct weft_frame *frame) noexcept
{
#ifndef WEFT_DISABLED
	if (struct weft_root *root = weft_root_current())
		WEFT_PUBLISH_(&root->top, frame);
#else
	(void)frame;
#endif
}

/* If frame is the running frame here, runs others from now on. */
inline void run_instead(struct weft_frame *frame, struct weft_frame *others) noexcept
{
#ifndef WEFT_DISABLED
	struct weft_root *root = weft_root_current();

	if (root && root->top == frame)
		WEFT_PUBLISH_(&root->top, others);
#else
	(void)frame;
	(void)others;
#endif
}

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

/* Wraps another awaiter, which is kept by value or by reference, as it came. */
template <class Awaiter> class awaiting
{
      public:
	template <class A>
	awaiting(struct weft_frame *frame, A &&awaitable)
	    : frame_(frame), inner_(awaiter_of(std::forward<A>(awaitable)))
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
		again on_throw{ frame_ };
		using result = decltype(inner_.await_suspend(self));

		waited_ = true;
		run_instead(frame_, nullptr);
		if constexpr (std::is_void_v<result>) {
			inner_.await_suspend(self);
			on_throw.frame = nullptr;
		} else {
			result next = inner_.await_suspend(self);

			on_throw.frame = nullptr;
			return next;
		}
	}

	decltype(auto)
	await_resume() noexcept(noexcept(std::declval<Awaiter &>().await_resume()))
	{
		if (waited_)
			run(frame_);
		return inner_.await_resume();
	}

      private:
	/* An await_suspend() that throws leaves the coroutine running. */
	struct again {
		struct weft_frame *frame;

		~again()
		{
			if (frame)
				run(frame);
		}
	};

	struct weft_frame *frame_;
	bool waited_ = false;
	Awaiter inner_;
};

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
		detail::run_instead(&frame_, frame_.parent);
	}

	/* This coroutine's frame; borrowed, for the functions of weft/async.h. */
	struct weft_frame *weft_frame_of() noexcept
	{
		return &frame_;
	}

	/* The address of this coroutine's last co_await. */
	void *weft_place() const noexcept
	{
		return place_;
	}

	/* Out of line, so that its return address is in the co_await's line. */
	template <class A> WEFT_NOINLINE_ auto await_transform(A &&awaitable)
	{
		using awaiter = decltype(detail::awaiter_of(std::forward<A>(awaitable)));

		place_ = WEFT_CALLER();
		return detail::awaiting<awaiter>(&frame_, std::forward<A>(awaitable));
	}

      private:
	struct weft_frame frame_ = {};
	void *place_ = nullptr;
};

/*
 * In the await_suspend() of a task: caller awaits callee, which runs now, by
 * symmetric transfer or by a resume that follows. A caller without a frame (whose
 * promise is not derived from weft's) is skipped. Returns callee.
 */
template <traced P, class Caller>
std::coroutine_handle<P> call(std::coroutine_handle<P> callee,
			      std::coroutine_handle<Caller> caller) noexcept
{
	struct weft_frame *frame = callee.promise().weft_frame_of();

	if constexpr (traced<Caller>)
		weft_frame_init(frame, caller.promise().weft_frame_of(),
				caller.promise().weft_place());
	else
		weft_frame_init(frame, weft_frame_asker(), nullptr);
	detail::run(frame);
	return callee;
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
	struct weft_frame *frame = callee.promise().weft_frame_of();
	struct weft_frame *parent = detail::caller_of(frame);

	/* a thread that waits for it is not run here */
	if (parent && !parent->parent && parent->root)
		parent = nullptr;
	detail::run_instead(frame, parent);
	return continuation ? continuation : std::noop_coroutine();
}

/*
 * In the loop, instead of handle.resume(). With the promise's type the chain is
 * complete from the first instruction; without it, from the point where the
 * coroutine continues after its co_await.
 */
template <class P> WEFT_NOINLINE_ void resume(std::coroutine_handle<P> handle)
{
	if constexpr (traced<P>) {
		WEFT_ROOT_SCOPE(handle.promise().weft_frame_of());
		handle.resume();
	} else {
		WEFT_ROOT_SCOPE(nullptr);
		handle.resume();
	}
}

/*
 * Runs a generator up to its next value, at once: shown as called from where this
 * was called.
 */
template <traced P>
WEFT_NOINLINE_ void step(std::coroutine_handle<P> generator)
{
	struct weft_frame *frame = generator.promise().weft_frame_of();
	struct popped {
		struct weft_frame *frame, *caller;

		~popped()
		{
			detail::run_instead(frame, caller);
		}
	} at_end{ frame, weft_frame_current() };

	weft_frame_init(frame, at_end.caller, WEFT_CALLER());
	detail::run(frame);
	generator.resume();
}

/*
 * The running operation asked for the coroutine on this line; the loop will resume
 * it. Detach it (weft_frame_detach(p.weft_frame_of())) if it may outlive the
 * running operation.
 */
template <traced P>
WEFT_NOINLINE_ void mark(std::coroutine_handle<P> handle) noexcept
{
	weft_frame_init(handle.promise().weft_frame_of(), weft_frame_asker(),
			WEFT_CALLER());
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
	struct weft_context context_;
};

/* This thread blocks until the coroutine is done, see weft_wait_begin(). */
template <traced P>
WEFT_NOINLINE_ void wait_for(std::coroutine_handle<P> handle,
					struct weft_wait *wait) noexcept
{
	weft_frame_init(handle.promise().weft_frame_of(), &wait->frame, WEFT_CALLER());
}

} // namespace weft

#endif /* C++20 */

#endif
