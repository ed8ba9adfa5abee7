#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What LuaJIT compiled runs on the interpreter's frame, which is found by what it holds. Its
# callers are those of the same program while nothing is compiled, which the call frame
# information of the interpreter tells.
# shellcheck disable=SC2154 # set by faults.bash

load lib
load faults

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

# FILE: samples a shape, by the callers of the last frame that is Lua's: these are L, in
# the interpreter, its library or a trace, and neighbours of them one
shapes_of() {
	awk '{
		samples = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, frames, ";")
		text = shape = ""
		for (i = 2; i <= n; i++) {
			is_lua = frames[i] ~ /luajit[^;]*!0x|\[jit\]/
			if (!is_lua || !was_lua)
				text = text ";" (is_lua ? "L" : frames[i])
			if (is_lua)
				shape = text
			was_lua = is_lua
		}
		sum[shape] += samples
	}
	END { for (shape in sum) print sum[shape], shape }' "$1" | sort -rn
}

# SHAPES MORE-SHAPES: nearly all samples of the second have shapes of the first
knows_shapes() {
	awk 'NR == FNR { sub(/^[0-9]+ /, ""); is_known[$0] = 1; next }
		{ n = $1; all += n; sub(/^[0-9]+ /, "") }
		!($0 in is_known) { other += n; print n, "of another shape:", $0 }
		END { exit other > all / 200 }' "$1" "$2"
}

@test "luajit: traces have the callers that the interpreter has" {
	needs_luajit
	record_luajit off
	record_luajit on
	shapes_of off.folded >off.shapes
	shapes_of on.folded >on.shapes
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
	shapes_of off.folded >off.shapes
	shapes_of whole >on.shapes
	awk '/\[jit\]/ { n += $NF } END { exit n < 1000 }' whole
	knows_shapes off.shapes on.shapes
}
