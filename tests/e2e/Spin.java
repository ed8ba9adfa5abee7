// SPDX-License-Identifier: BSD-2-Clause
/** Works in leaf(), which f3() calls, which f2() calls …; says so once all is compiled. */
public class Spin {
	static long sum;

	static long leaf(long at, int a, int b, int c, int d, int e, int f, long g) {
		long r = at;

		for (int i = 0; i < 20; i++)
			r = r * 31 + i + g;
		return r + a + b + c + d + e + f;
	}

	static long f3(long n, int a, int b, int c, int d, int e, int f, long g, double h) {
		long r = 0;

		for (long i = 0; i < n; i++)
			r ^= leaf(i, a, b, c, d, e, f, g);
		return r + (long)h;
	}

	// more arguments than go into registers: an interpreted one's caller makes room for them
	static long f2(long n, int a, int b, int c, int d, int e, int f, long g, double h) {
		return f3(n, a, b, c, d, e, f, g, h) * 3 + a + g;
	}

	static long f1(long n, int a, int b, int c, int d, int e, int f, long g, double h) {
		return f2(n, b, a, d, c, f, e, g, h) + b + (long)h;
	}

	static long f0(long n) {
		return f1(n, 1, 2, 3, 4, 5, 6, 7, 8.0) + 1;
	}

	static void run(long seconds) {
		long end = System.nanoTime() + seconds * 1000000000L;

		while (System.nanoTime() < end)
			sum += f0(300);
	}

	public static void main(String[] args) {
		for (int i = 0; i < 40000; i++)
			sum += f0(20);
		run(2);
		System.out.println("ready");
		run(Long.parseLong(args[0]));
		System.out.println(sum);
	}
}
