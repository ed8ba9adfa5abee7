<?php
/* SPDX-License-Identifier: BSD-2-Clause */
/* PHP called by PHP, by C by way of callbacks, by generators and by destructors, for so
 * many seconds. */
function fib($n)
{
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

class Sum {
	public $value = 0;

	function add($n)
	{
		$this->value += $n;
		return $this;
	}

	function __destruct()
	{
		fib(12);
	}
}

function numbers($n)
{
	for ($i = 0; $i < $n; $i++)
		yield fib(8) + $i;
}

function work()
{
	$sum = new Sum;
	$list = [];
	for ($i = 0; $i < 2000; $i++)
		$sum->add($i);
	for ($i = 0; $i < 12; $i++)
		$list[] = $i * 7 % 12;
	/* so few are sorted in one way */
	usort($list, fn($a, $b) => fib(9) + $a <=> $b + fib(9));
	$list = array_map(fn($n) => md5((string)fib($n)), $list);
	$text = preg_replace_callback('/a(b|c)/', fn($m) => $m[1] . fib(10), implode($list));
	foreach (numbers(20) as $n)
		$sum->add($n);
	return strlen($text) + fib(15);
}

for ($end = microtime(true) + $argv[1]; microtime(true) < $end;)
	work();
