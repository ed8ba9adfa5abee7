#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Java's code, which keeps no frame pointers and writes down no names: HotSpot's own code
# cache says how large its frames are, and which methods it is of.
# shellcheck disable=SC2154 # set by faults.bash

load lib
load faults

# FOLDER N
has_files() {
	[ "$(find "$1" -type f 2>/dev/null | wc -l)" -ge "$2" ]
}

needs_java() {
	needs_recording
	javac -version 2>&1 | grep -Eq '^javac (1[7-9]|[2-9][0-9])' || skip "no JDK 17"
	javac -d . "$BATS_TEST_DIRNAME/Spin.java"
}

# OPTION…: works for a while, and none of its methods is inlined; $last_pid
start_java() {
	start java -XX:+UnlockDiagnosticVMOptions -XX:CompileCommand=quiet \
		'-XX:CompileCommand=dontinline,Spin::*' "$@" Spin 60
	maps+=("/tmp/perf-$last_pid.map")
	wait_for grep -qs ready "ready.$((${#pids[@]} - 1))"
}

# Into out
record_java() {
	weft_in_time record -q -p "$last_pid" -F 499 -d 4s -o out --stats-json stats
}

# FILE METHODS: of stacks through f3(): how many there are, and how many have exactly
# these of Java's frames, from the first on, with leaf() behind or without; into counted.
# Code that the JVM threw away before it was asked has no name.
count_exact() {
	awk -v want="$2" '
		function is_exact(got, n,    i) {
			if (n != n_want - 1 && n != n_want)
				return 0
			for (i = 1; i <= n; i++)
				if (got[i] != wanted[i] && got[i] != "nameless")
					return 0
			return 1
		}
		BEGIN { n_want = split(want " leaf", wanted, " ") }
		/Spin\.f3\(/ {
			samples = $NF
			sub(/ [0-9]+$/, "")
			count = split($0, frames, ";")
			n = 0
			for (i = 1; i <= count; i++)
				if (match(frames[i], /Spin\.[a-z0-9]+\(/))
					got[++n] = substr(frames[i], RSTART + 5, RLENGTH - 6)
				else if (frames[i] ~ /\[jit\]/)
					got[++n] = "nameless"
				else if (frames[i] ~ /Interpreter_\[j\]/ && i < count ||
					frames[i] ~ /\[cut\]|\[missing/)
					got[++n] = "?"
			all += samples
			if (is_exact(got, n))
				exact += samples
			else
				print
		}
		END { print all + 0, exact + 0 >"counted" }' "$1"
}

# METHODS
has_exact_stacks() {
	count_exact out "$1"
	read -r all exact <counted
	echo "$exact of $all samples are exact"
	[ "$all" -ge 100 ]
	[ "$exact" = "$all" ]
}

@test "java: compiled code, C2's and C1's" {
	needs_java
	start_java
	record_java
	has_exact_stacks 'main run f0 f1 f2 f3'
	kill_ours "$last_pid"
	start_java -XX:TieredStopAtLevel=1
	record_java
	has_exact_stacks 'main run f0 f1 f2 f3'
}

@test "java: cut while ticks are loaded with what it takes, and exact from then on" {
	needs_java
	start_java
	weft_in_time record -v -p "$last_pid" -F 499 -d 4s -o out \
		--inject-fault late-parts 2>err
	grep -q 'another program' err
	grep -q '^[^;]*;\[cut\];[^;]* [0-9]*$' out
	grep -v '^[^;]*;\[cut\];[^;]* [0-9]*$' out >whole
	count_exact whole 'main run f0 f1 f2 f3'
	read -r all exact <counted
	echo "$exact of $all samples are exact"
	[ "$all" -ge 100 ]
	[ "$exact" = "$all" ]
}

@test "java: the interpreter between compiled code" {
	needs_java
	start_java '-XX:CompileCommand=exclude,Spin::f2' '-XX:CompileCommand=exclude,Spin::main'
	record_java
	has_exact_stacks 'main run f0 f1 f2 f3'
	# which stays, so it has a name
	grep -q ';void Spin.main(java.lang.String\[\])_\[j\];.*;long Spin.f2(.*;long Spin.f3(' out
}

@test "java: what it wrote down goes before what weft reads" {
	needs_java
	start_java
	jcmd "$last_pid" Compiler.perfmap >/dev/null
	sed -i 's/Spin.leaf/Spin.renamed/' "/tmp/perf-$last_pid.map"
	record_java
	grep -q 'Spin.renamed(' out
	run ! grep -q 'Spin.leaf(' out
}

@test "java: a program that ends before it has its names, and windows" {
	needs_java
	weft_in_time record -q -F 499 -o out -- java -XX:+UnlockDiagnosticVMOptions \
		-XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Spin::*' Spin 3
	grep -q 'long Spin.f0(long)_\[j\];.*Spin.f3(.*Spin.leaf(' out
	start_java
	timeout -s INT 30 "$WEFT" agent -q --window 3s --keep kept --spool spool &
	wait_for has_files kept 3
	kill_ours $!
	for window in $(find kept -type f | sort | sed -n 2,3p); do
		weft report "$window" -o out --format folded
		grep -q 'long Spin.f0(long)_\[j\];.*Spin.f3(.*Spin.leaf(' out
	done
}

@test "java: from its start on, and by all collectors' ways to begin a function" {
	needs_java
	for collector in Serial Parallel G1 Z; do
		weft_in_time record -q -F 499 -o out.weft -- \
			java "-XX:+Use${collector}GC" -cp . Spin 2
		# by then, seconds after its start, somebody has read the JVM
		end=$(weft report out.weft --json | jq '.runs[0].duration_ns / 1e9 | floor')
		weft report out.weft --filter "time=$((end - 1))..$end" -o out --format folded
		awk '{ all += $NF }
			/^[^;]*;\[cut\];[^;]*_\[j\]/ { cut += $NF }
			END { print all, cut + 0 }' out >counted
		read -r all cut <counted
		echo "$collector: $cut of $all samples are cut in generated code"
		[ "$all" -gt 100 ]
		[ "$cut" -le $((all / 50)) ]
	done
}
