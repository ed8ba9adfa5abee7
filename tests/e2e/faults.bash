# SPDX-License-Identifier: BSD-2-Clause
# Loaded, after lib.bash, by tests of what goes wrong: programs to record, a
# recorder in the background, and what must hold whatever happens.
# shellcheck shell=bash disable=SC2154,SC2034

setup() {
	in_a_folder
	[ "$(id -u)" -eq 0 ] || skip "not root"
	[ -d "${E2E_BIN-}" ] || skip "no programs to record: make check-e2e builds them"
	pids=()
}

teardown() {
	stop_all
	[ ! -d small ] || umount small 2>/dev/null || true
	rm -f ${maps[@]+"${maps[@]}"}
}

# COMMAND…: in the background, on its way once this returns; $last_pid
start() {
	# of a session each, so that each has its share of a busy machine
	setsid "$@" >ready.${#pids[@]} 3>&- &
	last_pid=$!
	pids+=($!)
}

# PID COMMAND…: the same, as a process that has this pid, which was given back
start_as() {
	local pid=$1
	shift

	[ -w /proc/sys/kernel/ns_last_pid ] || skip "no pid can be chosen here"
	for _ in {1..50}; do
		echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
		start "$@"
		[ "$last_pid" != "$pid" ] || return 0
		kill -9 "$last_pid"
	done
	skip "another process took the pid"
}

start_target() {
	start "$E2E_BIN/target" "$@"
	wait_for grep -qs ready "ready.$((${#pids[@]} - 1))"
}

stop_all() {
	kill_ours ${pids[@]+"${pids[@]}"}
	pids=()
}

weft_in_time() {
	timeout 60 "$WEFT" "$@"
}

# PID DURATION: records it so long, again and again until the tables of its files are there
await_tables() {
	for _ in {1..10}; do
		weft_in_time record -q -p "$1" -F 99 -d "$2" -o first --stats-json first.json
		! jq -e '.samples.awaited == 0' first.json || break
	done
}

of_all() {
	local IFS=,
	echo "${pids[*]}"
}

# A folded file that any reader takes: UTF-8, no control characters, counts.
is_clean() {
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || return 1
	! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$1" || return 1
	[ -s "$1" ] && ! grep -qvE '^[^ ;].* [0-9]+$' "$1"
}

# FOLDED JSON: what was kept is in the file, and the ledger adds up.
adds_up() {
	local total
	total=$(awk '{ n += $NF } END { print n + 0 }' "$1")
	jq -e ".ledger.adds_up and .ledger.oncpu.outcomes.kept == $total" "$2" ||
		{ echo "folded $total; $(jq -c .ledger "$2")"; return 1; }
}
