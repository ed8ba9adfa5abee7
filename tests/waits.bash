# SPDX-License-Identifier: BSD-2-Clause
# Loaded by tests of shell: waiting for what must come, by conditions and never by time.
# shellcheck shell=bash

# A pipe that nobody writes: to wait for it starts no process. Made here, since it takes
# one, and whoever calls wait_for may still need $!.
exec {waits_silence}<> <(:)

# COMMAND…: until it succeeds, asked less and less often. How long that takes is the
# machine's affair; the limit ends what would never come.
wait_for() {
	local pause ms=10

	for _ in {1..1000}; do
		"$@" && return
		printf -v pause '0.%03d' $ms
		read -rt "$pause" -u "$waits_silence" || true
		ms=$((ms < 150 ? ms * 3 / 2 : 200))
	done
	echo "never came: $*"
	return 1
}

# PID or PID/task/TID: the CPU time that its threads have had, or that one alone, in ms:
# utime and stime of /proc/PID/stat, in the kernel's 100ths of a second, behind a name that
# may hold anything
cpu_ms() {
	local stat
	{ stat=$(<"/proc/$1/stat"); } 2>/dev/null || return
	read -ra stat <<<"${stat##*) }"
	echo $(((stat[11] + stat[12]) * 10))
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

# CONDITION COMMAND…: weft record or agent for a second, and for longer each time until
# the condition holds: who is looked for gets a CPU when the host gives it one
record_until() {
	local condition=$1 seconds
	shift

	for seconds in 1 4 16 64; do
		"$@" -d "${seconds}s" || return
		! eval "$condition" || return 0
	done
	echo "not within $seconds s: $condition"
	return 1
}
