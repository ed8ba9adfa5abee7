#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Generated code by the dumps of those who generate it: by time, and by whose they are.
# shellcheck disable=SC2030,SC2031,SC2154 # set by faults.bash and by run, for one test

load lib
load faults

needs_jit() {
	[ "$(uname -m)" = x86_64 ] || skip "it generates code of x86-64"
}

# ARGS…: a JIT, $last_pid
start_jit() {
	start "$E2E_BIN/jitdump" "$@"
	wait_for grep -qs ready "ready.$((${#pids[@]} - 1))"
}

# FILE: samples in all; in generated code under a known caller; of these those with the
# name of other code; in generated code without any name
count_names() {
	awk '{ n = $NF; all += n }
		/;run_(even|odd);.*_\[j\]/ { known += n }
		/;run_even;.*jit_odd/ || /;run_odd;.*jit_even/ ||
			/jit_even_\[j\];spin_odd/ || /jit_odd_\[j\];spin_even/ { false_ += n }
		/\[jit\]\+0x/ { unnamed += n }
		END { print all + 0, known + 0, false_ + 0, unnamed + 0 }' "$1"
}

@test "jitdump: code that changes every 100 us has the name that it had when it ran" {
	needs_jit
	mkdir dumps
	start_jit dumps
	record_while "$last_pid" 2000 -p "$last_pid" -F 999 -o out --tape tape \
		--stats-json stats
	read -r all known false unnamed <<<"$(count_names out)"
	echo "$all samples, $known of known code, $false named falsely, $unnamed not"
	[ "$known" -ge 200 ]
	[ "$false" = 0 ]
	[ "$unnamed" -le $((all / 100)) ]
	jq -e '.jitdumps == { found: 1, foreign: 0, unreadable: 0, over_limit: 0,
		failed: 0 }' stats
	# by its frame pointers alone, out of named code
	jq -e ".samples | .unproven_generated > 100 and
		.unproven - .unproven_generated <= $((all / 100))" stats
	weft report --tape tape -o again
	cmp out again
}

@test "jitdump: of a process that has ended, and of a command" {
	needs_jit
	mkdir dumps
	weft_in_time record -q -F 999 -o out -- \
		sh -c "prlimit --cpu=1:9 '$E2E_BIN/jitdump' dumps || true"
	read -r all known false unnamed <<<"$(count_names out)"
	echo "$all samples, $known of known code, $false named falsely, $unnamed not"
	[ "$known" -ge 100 ]
	[ "$false" = 0 ]
	[ "$unnamed" -le $((all / 20)) ] # before the dump is heard of
}

@test "jitdump: a CPU's counter is no time" {
	needs_jit
	mkdir dumps
	start_jit dumps counter
	record_while "$last_pid" 200 -p "$last_pid" -F 999 -o out --stats-json stats
	jq -e '.jitdumps.failed == 1' stats
	jq -e '.samples | .unproven > 0 and .unproven_generated == 0' stats
	grep -q '1 jitdumps could not be read' err
	read -r all known _ unnamed <<<"$(count_names out)"
	[ "$known" -gt 0 ]
	[ "$unnamed" -ge "$known" ]
}

@test "jitdump: not that of another user, nor of another process" {
	needs_jit
	mkdir dumps
	chmod 777 dumps
	start_jit dumps
	chown 65534 "dumps/jit-$last_pid.dump"
	start_jit dumps 0 12345678
	record_while "$(of_all)" 200 -p "$(of_all)" -F 999 -o out --stats-json stats
	jq -e '.jitdumps.foreign == 2 and .jitdumps.found == 0' stats
	grep -q '2 jitdumps were ignored' err
	run ! grep jit_even out
}

# FILE: samples; whole ones, from run_even() and from run_odd(), of the code that spins; with
# a caller that never called
count_callers() {
	awk '{ n = $NF; all += n }
		/;main;run_even;\[jit\][^;]*;back;\[jit\][^;]* [0-9]+$/ { even += n }
		/;main;run_odd;\[jit\][^;]*;back;\[jit\][^;]* [0-9]+$/ { odd += n }
		/decoy/ || /;main;(back|\[jit\])/ || /run_(even|odd);back/ ||
			/main;run_(even|odd);\[jit\][^;]*;\[jit\]/ || (/back/ && !/run_/ &&
			!/\[cut\];back[; ]/ && !/\[cut\];\[jit\][^;]*;back[; ]/) { wrong += n }
		END { print all + 0, even + 0, odd + 0, wrong + 0 }' "$1"
}

start_compiled() {
	start "$E2E_BIN/compiled" "$@"
	wait_for grep -qs ready "ready.$((${#pids[@]} - 1))"
}

@test "compiled: generated code without frame pointers is walked by a copy of it" {
	needs_jit
	start_compiled
	record_while "$last_pid" 2000 -p "$last_pid" -F 999 -o out --stats-json stats
	read -r all even odd wrong <<<"$(count_callers out)"
	echo "$all samples, whole $even and $odd, $wrong wrong"
	[ "$even" -ge 100 ]
	[ "$odd" -ge 100 ]
	[ "$wrong" = 0 ]
	jq -e '.samples.unproven == 0' stats
}

@test "compiled: not by a copy that is of other code by now" {
	needs_jit
	start_compiled changes
	record_while "$last_pid" 2000 -p "$last_pid" -F 999 -o out
	read -r all even odd wrong <<<"$(count_callers out)"
	echo "$all samples, whole $even and $odd, $wrong wrong"
	[ "$all" -ge 200 ]
	[ $((even + odd)) -gt 0 ]
	[ "$wrong" = 0 ]
}

@test "compiled: of a command, from its first second on" {
	needs_jit
	weft_in_time record -q -F 999 -d 2s -o out -- timeout 5 "$E2E_BIN/compiled"
	read -r all even odd wrong <<<"$(count_callers out)"
	echo "$all samples, whole $even and $odd, $wrong wrong"
	[ "$even" -ge 100 ]
	[ "$odd" -ge 100 ]
	[ "$wrong" = 0 ]
}

@test "compiled: V8's builtins that make no frame have their callers" {
	needs_jit
	start node "$BATS_TEST_DIRNAME/sort.js"
	wait_for grep -qs ready "ready.$((${#pids[@]} - 1))"
	await_tables "$last_pid" 1s
	record_while "$last_pid" 300 -p "$last_pid" -F 1999 -o out
	stop_all
	grep -q Builtins_SortCompareUserFn out || skip "this node names no builtins"
	# who calls what compares
	awk '/;Builtins_Call(Function)?_ReceiverIsNullOrUndefined [0-9]+$/ {
			n += /;Builtins_SortCompareUserFn;Builtins_Call[^;]*$/ ? $NF : 0
			all += $NF
		}
		END { print n " of " all; exit all < 10 || n < 0.98 * all }' out
}

@test "compiled: frames that V8 makes anew for inlined functions have their callers" {
	needs_jit
	start node "$BATS_TEST_DIRNAME/deopt.js"
	wait_for grep -qs ready "ready.$((${#pids[@]} - 1))"
	await_tables "$last_pid" 1s
	record_while "$last_pid" 200 -p "$last_pid" -F 999 -o out --stats-json stats
	stop_all
	jq -c .samples stats
	# node's other threads may be cut where they wake up
	jq -e '.samples | .total >= 100 and .complete >= 0.98 * .total' stats
	# and none is whole for want of callers
	awk '/;__libc_start_call_main;/ { n += $NF } { all += $NF } END { exit n < 0.95 * all }' out
}
