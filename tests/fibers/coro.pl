# SPDX-License-Identifier: BSD-2-Clause
# Two of Coro's threads that cede to each other: md5 is what no one else calls.
use strict;
use Coro;
use Digest::MD5 'md5';

my $text = 'weft' x 2000;

sub turns {
	while (1) {
		md5($text) for 1 .. 10;
		cede;
	}
}
async { turns } for 1 .. 2;
schedule;
