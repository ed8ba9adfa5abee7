#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The kernel's own stacks, which weft walks by the kernel's tables where it can: beside
# those that the kernel's helper tells of at the same tick.
# shellcheck disable=SC2030,SC2031,SC2154 # a shell each; set by lib.bash and by run

load lib

busy=()

setup() {
	in_a_folder
	needs_recording
	weft record -v -d 10ms -o /dev/null 2>err
	! grep -q 'the kernel is asked for its stacks' err ||
		skip "this kernel has no ORC tables of a format that weft knows"
}

teardown() {
	kill_ours "${busy[@]}"
}

# Pipes, files, new programs and what interrupts them.
start_in_kernel() {
	sh -c 'while :; do cat /proc/self/maps /proc/kallsyms | head -c 1000000; done' \
		>/dev/null 3>&- &
	busy+=("$!")
	sh -c 'while :; do dd if=/dev/zero of=spill bs=64k count=64; done' 2>/dev/null 3>&- &
	busy+=("$!")
}

# NAME: of the kernel's stacks
walks() {
	sed -nE "s/.*\"kernel_stacks\":\{[^}]*\"$1\":([0-9]+).*/\1/p" stats.json
}

@test "the kernel's stacks are those that it tells of itself" {
	start_in_kernel
	for seconds in 1 4 16; do
		weft record -q -d "$seconds" -F 1999 -o out --stats-json=stats.json \
			--inject-fault check-orc
		[ "$(walks walked)" -lt 300 ] || break
	done
	cat stats.json
	[ "$(walks walked)" -ge 300 ]
	[ "$(walks checked)" -eq "$(walks walked)" ]
	[ "$(walks differed)" -eq 0 ]
}

@test "most samples are not compared with what the kernel tells" {
	start_in_kernel
	weft record -q -d 1 -F 1999 -o out --stats-json=stats.json
	cat stats.json
	[ "$(walks checked)" -gt 0 ]
	[ "$(walks checked)" -le $((16 * $(nproc --all) + $(walks walked) / 200)) ]
}

@test "a rule of the kernel's code that is wrong is noticed, and told" {
	start_in_kernel
	weft record -d 1 -F 1999 -o out.folded --stats-json=stats.json \
		--inject-fault orc-rule 2>err
	cat err stats.json
	[ "$(walks differed)" -ge 1 ]
	[ "$(walks differed)" -le "$(nproc --all)" ]
	[ "$(walks walked)" -le "$(nproc --all)" ]
	grep -q 'stacks of the kernel were not walked as it does itself' err
	grep -qE ';entry_SYSCALL_64_after_hwframe[^;]*;do_syscall_64[^;]*;' out.folded
}
