<?php // SPDX-License-Identifier: BSD-2-Clause
// A Fiber that suspends after some work: crc32() is what no one else calls.
$text = str_repeat('weft', 2000);
$fiber = new Fiber(function () use ($text) {
	for (;;) {
		for ($i = 0; $i < 10; $i++)
			crc32($text);
		Fiber::suspend();
	}
});
$fiber->start();
for (;;)
	$fiber->resume();
