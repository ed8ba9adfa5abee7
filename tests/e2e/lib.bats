#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The words that other tests are made of (lib.bash).
# shellcheck disable=SC2034,SC2154 # for lib.bash; set by run

load lib

setup() {
	in_a_folder
}

# STATUS: a weft that does nothing but end so
make_weft() {
	printf '#!/bin/sh\nexit %d\n' "$1" >fake
	chmod +x fake
	WEFT=$PWD/fake
}

@test "only what a machine lacks is a reason to skip" {
	skip() { exit 77; }

	rm -f "$BATS_RUN_TMPDIR/records" # what the real one was found to do
	for fault in 1 2 127 139; do
		make_weft $fault
		run needs_recording
		[ "$status" -eq 1 ]
	done
	make_weft 3
	run needs_recording
	[ "$status" -eq 77 ]
}

@test "who waits for a process's CPU time waits for that" {
	sh -c 'while :; do :; done' 3>&- &
	runs_for 50 $!
	[ "$(cpu_ms $!)" -ge 50 ]
	kill $!
}
