# SPDX-License-Identifier: BSD-2-Clause
# Loaded by the .bats files: weft by its path, a folder for each test, and words
# for what they claim. With `run --separate-stderr`, $output is stdout alone.
# shellcheck shell=bash disable=SC2154

bats_require_minimum_version 1.5.0

# what can be written, in the order in which it is shown
export FORMATS='weft folded pprof speedscope firefox svg html'

in_a_folder() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

weft() {
	"$WEFT" "$@"
}

needs_recording() {
	local words

	words=$(weft record -q -d 10ms -o /dev/null 2>&1) || skip "weft can't record here: $words"
}

# Exit status 2, nothing on stdout, one sentence and what to do on stderr.
# PATTERN (extended) is in the sentence. Nothing was made in the folder.
refused() {
	local pattern=$1
	shift

	run --separate-stderr weft "$@"
	[ "$status" -eq 2 ] || { echo "status $status: $stderr"; return 1; }
	[ -z "$output" ] || { echo "on stdout: $output"; return 1; }
	[ "${#stderr_lines[@]}" -le 2 ] || { echo "too many words: $stderr"; return 1; }
	[[ ${stderr_lines[0]} =~ ^weft:\ .*$pattern ]] || { echo "said: $stderr"; return 1; }
	[ ! -e profile.weft ]
}

# PID FILE: until it has said something there; fails if it ended before
wait_ready() {
	local i

	for ((i = 0; i < 600; i++)); do
		[ ! -s "$2" ] || return 0
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	echo "process $1 did not become ready"
	return 1
}

# Burns CPU until it is killed; $busy_pid
start_busy() {
	sh -c 'while :; do :; done' 3>&- &
	busy_pid=$!
}

stop_busy() {
	[ -z "${busy_pid-}" ] || kill "$busy_pid" 2>/dev/null || true
}

# Every line: frames, a space, a count.
is_folded() {
	[ -s "$1" ] && ! grep -qvE '^[^ ;].*[^ ] [0-9]+$' "$1"
}

# An ordinary user with these capabilities ("" or ",+bpf,+perfmon").
as_nobody() {
	local caps=$1
	shift

	setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps="-all$caps" --ambient-caps="-all$caps" "$@"
}
