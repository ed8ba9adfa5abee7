#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What LuaJIT compiled runs on the interpreter's frame, which is found by what it holds. Its
# callers are those of the same program while nothing is compiled, which the call frame
# information of the interpreter tells.
# shellcheck disable=SC2154 # set by faults.bash

load lib
load faults
load shapes

needs_luajit() {
	[ "$(uname -m)" = x86_64 ] || skip "it is walked on x86-64 alone"
	luajit -e 'assert(jit.version_num >= 20100)' || skip "no LuaJIT 2.1"
}

# MODE OPTION…: into MODE.folded, once tables are there
record_luajit() {
	local mode=$1
	shift

	start luajit "$BATS_TEST_DIRNAME/luajit.lua" "$mode" 60
	weft_in_time record -q -p "$last_pid" -F 99 -d 1s -o first
	weft_in_time record -q -p "$last_pid" -F 1999 -d 5s -o "$mode.folded" \
		--stats-json "$mode.json" "$@"
	stop_all
}

lua_shapes_of() {
	shapes_of "$1" 'luajit[^;]*!0x|[[]jit[]]'
}

@test "luajit: traces have the callers that the interpreter has" {
	needs_luajit
	record_luajit off
	record_luajit on
	lua_shapes_of off.folded >off.shapes
	lua_shapes_of on.folded >on.shapes
	head -n 20 off.shapes on.shapes
	awk '/\[jit\]/ { n += $NF } END { print n + 0, "samples in traces"; exit n < 1000 }' on.folded
	# all ways through the program were met
	[ "$(wc -l <off.shapes)" -ge 6 ]
	grep -q 'qsort' on.shapes
	# and in none that was compiled is a caller missing, or one that did not call
	knows_shapes off.shapes on.shapes
	# Cut, where nothing switches a stack: at most what is cut at first instructions, of which
	# LuaJIT's call frame information says what holds behind them. How often a processor
	# is interrupted there is its own affair: never (Intel), or 1 to 9 times of 10,000 (AMD).
	jq -e '.views.thread.endings | .broken + .unreadable + .fp_zero <= .start / 500' on.json
}

@test "luajit: cut while ticks are loaded with what it takes, and as ever from then on" {
	needs_luajit
	record_luajit off
	record_luajit on --inject-fault late-parts
	grep -q '^luajit;\[cut\];' on.folded
	grep -v '^luajit;\[cut\];' on.folded >whole
	lua_shapes_of off.folded >off.shapes
	lua_shapes_of whole >on.shapes
	awk '/\[jit\]/ { n += $NF } END { exit n < 1000 }' whole
	knows_shapes off.shapes on.shapes
}
