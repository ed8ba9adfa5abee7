// SPDX-License-Identifier: BSD-2-Clause
// sum() is compiled into twice(), and then gets an object of another shape: V8 makes the
// frames of both anew, as of its interpreter, and goes on in sum() for long.
'use strict';
const fs = require('fs');

function Shape(x) {
	this.x = x;
}

function sum(object, n) {
	let all = 0;
	for (let i = 0; i < n; i++)
		all = (all + object.x * i) % 1000003;
	return all;
}

function twice(object, n) {
	return 2 * sum(object, n);
}

const usual = new Shape(3);
let total = 0;
for (let i = 0; i < 60000; i++)
	total += twice(usual, 20);
fs.writeSync(1, 'ready\n');
total += twice({ y: 1, x: 7 }, 1e12);
