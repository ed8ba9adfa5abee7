// SPDX-License-Identifier: BSD-2-Clause
// Inlined functions that g++ gives no linkage names; those expected are at the end.
#define INLINE	__attribute__((always_inline)) inline
#define OUTLINE __attribute__((noinline))
#define LAMBDA	__attribute__((always_inline))

extern "C" {
volatile unsigned long sink;
}

namespace ns
{
namespace
{
struct S {
	unsigned long k;
	INLINE void method(unsigned long x)
	{
		sink += x * k;
	}
	template <class T> INLINE void generic(T x)
	{
		sink += x;
	}
};
INLINE void hidden(unsigned long x)
{
	sink += x;
}
}

struct {
	INLINE void method(unsigned long x)
	{
		sink -= x;
	}
} nameless;

OUTLINE void go(unsigned long x)
{
	struct Local {
		INLINE void method(unsigned long y)
		{
			sink += y;
		}
	};
	S s = { x };
	auto outer = [&](int a) LAMBDA {
		auto inner = [&](int b) LAMBDA { sink += a * b; };
		sink ^= x;
		inner(7);
	};

	s.method(x);
	s.generic(3u);
	hidden(x);
	Local().method(x);
	nameless.method(x);
	outer(3);
}
}

extern "C" INLINE void plain(unsigned long x)
{
	sink *= x;
}

int main(int argc, char **argv)
{
	ns::go(argc);
	plain(argc);
	[=]() LAMBDA { sink += argc; }();
}

//= ns::(anonymous namespace)::S::method
//= ns::(anonymous namespace)::S::generic<unsigned int>
//= ns::(anonymous namespace)::hidden
//= ns::{unnamed type}::method
//= ns::go::Local::method
//= ns::go::<lambda:48>::operator()
//= ns::go::<lambda:48>::operator()::<lambda:49>::operator()
//= plain
//= main::<lambda:72>::operator()
