// SPDX-License-Identifier: BSD-2-Clause
// JSON, regular expressions, sorting with callbacks, recursion, for ever.
'use strict';

const data = { a: [...Array(200).keys()].map((i) => ({ ['k' + i]: [i, String(i)] })) };

function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function depth(n, then) {
	return n === 0 ? then() : depth(n - 1, then);
}

function text() {
	const there = JSON.stringify(data);
	return there.match(/"k(\d+)":\[(\d+)/g).length + JSON.parse(there).a.length;
}

function order() {
	const all = [...Array(2000).keys()].map((i) => (i * 7919) % 2003);
	return all.sort((x, y) => x - y)[0];
}

for (;;) {
	depth(10, () => fib(20));
	depth(20, text);
	depth(30, order);
}
