# SPDX-License-Identifier: BSD-2-Clause
# Loaded by tests of shell: waiting for what must come, by conditions and never by time.
# shellcheck shell=bash

# COMMAND…: until it succeeds. How long that takes is the machine's affair; the limit
# ends what would never come.
wait_for() {
	for _ in {1..1200}; do
		"$@" && return
		sleep 0.05
	done
	echo "never came: $*"
	return 1
}

# PID: the CPU time that its first thread has had, in ms
cpu_ms() {
	local ns
	read -r ns _ 2>/dev/null <"/proc/$1/schedstat" && echo $((ns / 1000000))
}

# PID MS: has it had so much CPU time since it began?
has_had() {
	[ "$(cpu_ms "$1" || echo 0)" -ge "$2" ]
}

# MS PID…: until each of these has had so much more CPU time, so that a recorder that
# runs has sampled it, on however busy a machine
runs_for() {
	local ms=$1 pid until=()
	shift

	for pid; do
		until+=($(($(cpu_ms "$pid") + ms)))
	done
	for pid; do
		wait_for has_had "$pid" "${until[0]}" || return
		until=("${until[@]:1}")
	done
}
