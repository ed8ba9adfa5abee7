// SPDX-License-Identifier: BSD-2-Clause
// One builtin of V8's sorts, another calls what compares, by one that makes no frame.
'use strict';
const fs = require('fs');

function before(a, b) {
	return a - b;
}

fs.writeSync(1, 'ready\n');
for (let round = 0;; round++) {
	const numbers = [];

	for (let i = 0; i < 1000; i++)
		numbers.push((i * 7919 + round) % 1009);
	numbers.sort(before);
}
