// SPDX-License-Identifier: BSD-2-Clause
// D's core.thread.Fiber: one that yields to who calls it again.
import core.thread : Fiber;

__gshared uint turned;

pragma(inline, false)
extern (C) void fiber_work(int n)
{
    foreach (i; 0 .. n)
        turned = turned * 1_664_525 + 1_013_904_223;
}

void turns()
{
    for (;;)
    {
        fiber_work(20_000);
        Fiber.yield();
    }
}

void main()
{
    auto fiber = new Fiber(&turns);

    for (;;)
        fiber.call();
}
