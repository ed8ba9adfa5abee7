#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Where a recording goes: what is replaced, what stays, and what is said if it can't.
# shellcheck disable=SC2030,SC2031,SC2154 # a shell each; set by lib.bash and by run

load lib

setup() {
	in_a_folder
	needs_recording
}

teardown() {
	stop_busy
	[ ! -d small ] || umount small 2>/dev/null || true
}

@test "the default output is profile.weft, which weft report finds" {
	start_busy
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499
	weft report -o out
	is_folded out
	run --separate-stderr weft report
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *"ASYNC VIEW"* ]]
}

@test "an output is replaced at once, or not at all" {
	start_busy
	echo before >out
	chmod 640 out
	ln out kept
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o out
	is_folded out
	[ "$(stat -c %a out)" = 640 ]
	[ "$(cat kept)" = before ]
	[ "$(find . -name '*.part' | wc -l)" -eq 0 ]
}

@test "a link keeps pointing" {
	start_busy
	echo before >target
	ln -s target out
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o out
	[ -L out ]
	is_folded target
}

@test "a device is written to, not replaced" {
	weft record -q -d 50ms -o /dev/null
	[ -c /dev/null ]
}

@test "a full disk is said, and the old output stays" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	mkdir small
	mount -t tmpfs -o size=8k none small || skip "no tmpfs here"
	echo before >small/out
	dd if=/dev/zero of=small/filler bs=1k 2>/dev/null || true
	start_busy
	ends=1 record_while "$busy_pid" 200 -F 499 -o small/out
	grep -q '^weft: .*No space left' err
	[ "$(cat small/out)" = before ]
	[ "$(find small -name '*.part' | wc -l)" -eq 0 ]
}

@test "stdout that is full is a failure" {
	start_busy
	ends=1 record_while "$busy_pid" 200 -F 499 -o - >/dev/full
	grep -q '^weft: .*No space left' err
}

@test "each -o is written, from the same samples" {
	start_busy
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 \
		-o x.html -o a.weft -o - -o b.weft >out
	is_folded out
	[ "$(grep -o ' written   [a-z.]*' err | tr -d '\n')" = \
		' written   x.html written   a.weft written   b.weft' ]
	grep -q '<html' x.html
	for file in a.weft b.weft; do
		weft report "$file" -o - | sort | cmp - <(sort out)
	done
}

@test "an output that can't be written costs no other" {
	# of what runs, so there is something to write
	# shellcheck disable=SC2016 # for the inner shell
	run --separate-stderr weft record -q -F 499 -o /dev/full -o x.weft -- \
		sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
	[ "$status" -eq 1 ]
	[[ ${stderr_lines[0]} == weft:*/dev/full*"No space left"* ]]
	[[ ${stderr_lines[1]} == "weft: 1 of 2 outputs were not written" ]]
	weft report x.weft
}

@test "a disk that fills up while recording: what was saved stays" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root to mount'
	mkdir small
	mount -t tmpfs -o size=16k none small
	run --separate-stderr weft record -F 1999 -o small/x.weft \
		-- sh -c 'seq 900 | while read -r _; do ls / >/dev/null; done'
	[ "$status" -eq 1 ]
	[[ $stderr == *"No space"* ]]
	run --separate-stderr weft report small/x.weft --json
	[ "$status" -eq 0 ]
	[[ $stderr == *"cut short"* ]]
}
