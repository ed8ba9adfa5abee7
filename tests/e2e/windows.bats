#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A recording in a hundred windows (tests/e2e/windows.c), each closed, named and freed
# while the next one fills. The program itself checks what must be exact: the ledgers
# of all windows, one by one and their sum, and each sample's place in one of them.
# shellcheck disable=SC2154 # set by run

load lib
load faults

@test "a hundred windows of a known program: nothing lost or twice, shares as they are" {
	"$E2E_BIN/windows" 100 60 "$E2E_BIN/turns" 600000 >said
	cat said
	grep -v '^ready' said >out
	jq -e '.windows == 101' out
	# 4 : 3 : 2 : 1, within 4 standard errors
	jq -e '.leaves as $n | ([$n.do_a, $n.do_b, $n.do_c, $n.do_d] | add) as $all |
		[[$n.do_a, 0.4], [$n.do_b, 0.3], [$n.do_c, 0.2], [$n.do_d, 0.1]] |
		all(.[1] as $p | (.[0] / $all - $p) | fabs < 4 * ($p * (1 - $p) / $all | sqrt))' \
		out
}

# The program checks at each window that there are no more modules and descriptors than
# are needed, or were a moment ago. What else grows with lives or files would be seen
# between storms: 300 bytes of each of 3,500 programs.
@test "storms of processes, each of a file of its own: tables, descriptors and heap stay" {
	"$E2E_BIN/windows" 1000 100 "$E2E_BIN/storms" 1500 "$E2E_BIN/brief" >out
	cat out
	# two of each, the fork and the program, but for those whose records were lost
	jq -e '.windows >= 100 and .lives + .records_lost >= 12000 and
		.modules_let_go > 1000' out
	# what the machine itself runs now, it may have begun since
	jq -e 'def more(n): .late[n] - .early[n] | if . > 0 then . else 0 end;
		.late.live_bytes <= .early.live_bytes + 1048576 + 16384 * more("processes") +
			4096 * more("modules")' out
	jq -e '.late.places <= .early.places + 2048' out
}

# PATTERN: two windows have it
has_twice() {
	[ "$(grep -ls "$1" kept/* | wc -l)" -ge 2 ]
}

# alpha and beta are at the same addresses of files of their own.
@test "names that are kept for later windows are of their own file" {
	start "$E2E_BIN/alpha"
	start "$E2E_BIN/beta"
	start "$WEFT" agent -q --keep kept --keep-format folded --spool spool \
		--unwind-cache none --window 1s -F 499
	# by the names that an earlier window has brought, too
	wait_for has_twice '^alpha;.*;alpha_burn'
	wait_for has_twice '^beta;.*;beta_burn'
	kill -TERM "$last_pid"
	wait "$last_pid"
	cat kept/* >out
	run ! grep -E '^alpha;.*;beta_|^beta;.*;alpha_' out
}
