// SPDX-License-Identifier: BSD-2-Clause
// C that Go calls, for ever.
package main

/*
static int burn(int n)
{
	volatile int sum = n;

	for (int i = 0; i < 3000; i++)
		sum += i % 7;
	return sum;
}

int work(int n)
{
	volatile int sum = burn(n);

	return sum + 1;
}
*/
import "C"

//go:noinline
func calls(n int) int {
	return int(C.work(C.int(n))) + 1
}

func main() {
	for n := 0; ; {
		n = calls(n) % 100
	}
}
