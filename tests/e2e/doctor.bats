#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What weft doctor -p says of a process.
# shellcheck disable=SC2154 # set by run
# shellcheck disable=SC2030,SC2031 # each test is a shell of its own

load lib

setup() {
	in_a_folder
}

# PROGRAM: what doctor says of the names of its code.
names_of() {
	"./$1" 3>&- &
	wait_for [ "/proc/$!/exe" -ef "$1" ]
	run --separate-stderr weft doctor --json -p $!
	[ "$status" -eq 0 ]
	jq -c --arg file "/$1" '.processes[0].files[] |
		select(.file | endswith($file)).names' <<<"$output" >names
	run --separate-stderr weft doctor -p $!
	kill $!
}

@test "doctor -p shows a process, and as JSON" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	sleep 1000 3>&- &
	wait_for grep -qx sleep "/proc/$!/comm"
	run --separate-stderr weft doctor -p $!
	[ "$status" -eq 0 ]
	[[ $output == *"libc     glibc"* ]]
	[[ $output == *"threads  1"* ]]
	run --separate-stderr weft doctor --json -p $!
	[ "$status" -eq 0 ]
	jq -e ".processes[0].pid == $! and .processes[0].comm == \"sleep\"" <<<"$output"
	jq -e '.processes[0].files | length > 1' <<<"$output"
	kill $!
}

@test "doctor -p says how much of each file's code has a name, and what would bring more" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	for i in $(seq 400); do
		echo "__attribute__((noinline)) static int f$i(int n)
			{ return n ? n * $i + f$((i > 1 ? i - 1 : 1))(n - 1) : 0; }"
	done >many.c
	echo '#include <unistd.h>
		int main(int n, char **v) { sleep(1000); return f400(n) + !*v; }' >>many.c
	gcc -O1 -g -fasynchronous-unwind-tables -o whole many.c
	gcc -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -s -o untold many.c
	strip -o stripped whole
	objcopy --only-keep-debug whole split.debug
	objcopy --strip-all --add-gnu-debuglink=split.debug whole split

	names_of whole
	jq -e '.symbol > 0.9 * .addresses and .start < 5 and .remedy == null' names
	names_of stripped
	jq -e '.start > 0.9 * .addresses and .symbol < 5 and .remedy == "build"' names
	[[ $output == *"/stripped"*"-> it was stripped"* ]]
	names_of untold # but its instructions tell
	jq -e '.start > 0.9 * .addresses and .remedy == "build"' names
	names_of split
	jq -e '.debug_file > 0.9 * .addresses and .remedy == null' names
}

@test "doctor -p finds the key, and the threads that are in a dispatcher" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	top=$BATS_TEST_DIRNAME/../..
	gcc -O2 -fno-omit-frame-pointer -I"$top/include" -I"$top/tests/workloads" \
		-o roots "$top/tests/workloads/roots.c" -pthread
	./roots driven 20000 3 >ready 3>&- &
	wait_ready $! ready
	runs_for 20 $!
	run --separate-stderr weft doctor --json -p $!
	kill $!
	[ "$status" -eq 0 ]
	jq -e '.processes[0].keys | length == 1 and .[0].readable and .[0].value != null' \
		<<<"$output"
	jq -e '.processes[0].threads | .total == 1 and .with_root == 1 and .unknown == 0' \
		<<<"$output"
	jq -e '.processes[0].files[0].table | .keeps_frame_pointers and .rows > 10 and
		.functions > 5 and .bytes % 4096 == 0 and .unsupported == 0' <<<"$output"
	jq -e '.processes[0].files | map(select(.file | contains("libc."))) |
		length == 1 and (.[0].table.keeps_frame_pointers | not)' <<<"$output"
}
