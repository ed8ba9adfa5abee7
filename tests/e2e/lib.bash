# SPDX-License-Identifier: BSD-2-Clause
# Loaded by the .bats files: weft by its path, a folder for each test, and words
# for what they claim. With `run --separate-stderr`, $output is stdout alone.
# shellcheck shell=bash disable=SC2154

bats_require_minimum_version 1.5.0

# no test asks a server that it does not run itself
unset DEBUGINFOD_URLS

# nor waits for a person
export WEFT_PAGER=cat

# what can be written, in the order in which it is shown
export FORMATS='weft folded pprof speedscope firefox svg html'

# shellcheck source=tests/waits.bash
. "${BASH_SOURCE[0]%/*}/../waits.bash"

# bats 1.8 forgets the clock of a test that ends before it is set, and at the end waits for it
teardown_file() {
	local pid

	for pid in $(pgrep -x sleep); do
		! grep -qsz "^BATS_RUN_TMPDIR=$BATS_RUN_TMPDIR\$" "/proc/$pid/environ" ||
			kill "$pid"
	done
}

in_a_folder() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

weft() {
	"$WEFT" "$@"
}

# Status 3 alone says that this machine can't; any other is weft's own failure. Asked
# once a run.
needs_recording() {
	local words status=0

	[ ! -e "$BATS_RUN_TMPDIR/records" ] || return 0
	words=$(weft record -q -d 10ms -o /dev/null 2>&1) || status=$?
	[ $status -ne 3 ] || skip "weft can't record here: $words"
	[ $status -eq 0 ] || { echo "weft record: status $status: $words"; return 1; }
	touch "$BATS_RUN_TMPDIR/records"
}

# A recorder in the background, whose words are in err; $recorder
start_recorder() {
	"$WEFT" record -v "$@" 2>err 3>&- &
	recorder=$!
	pids+=($!)
}

# It has looked at everybody who runs, and samples.
recorder_runs() {
	wait_for grep -qs 'unwind tables: ' err
}

# PID: a process that we started and that has not ended. Once it has, its pid may be
# another's.
runs_still() {
	[[ " $(jobs -pr | tr '\n' ' ')" == *" $1 "* ]]
}

# [STATUS]: it ended, and so.
recorder_ends() {
	local want=${1:-0} status=0

	wait_for eval "! runs_still $recorder" || { echo "it hangs"; return 1; }
	wait "$recorder" || status=$?
	[ $status -eq "$want" ] || { echo "status $status: $(cat err)"; return 1; }
}

# PIDS MS OPTION…: records until each of the PIDS (a comma between them) has had so
# much CPU time, then Ctrl-C; the recorder must end with status $ends, or 0. Until it
# samples, and once it has, they would only take CPUs from it, so they are stopped; but not
# before they are themselves, and no shell any more.
record_while() {
	local ms=$2 of pid
	IFS=, read -ra of <<<"$1"
	shift 2

	for pid in "${of[@]}"; do
		wait_for has_had "$pid" 50 || return
	done
	kill -STOP "${of[@]}"
	start_recorder "$@"
	# no recorder outlives its test
	if ! { recorder_runs && kill -CONT "${of[@]}" && runs_for "$ms" "${of[@]}"; }; then
		kill_ours "$recorder"
		return 1
	fi
	kill -STOP "${of[@]}"
	kill -INT "$recorder"
	recorder_ends "${ends:-0}" || return
	kill -CONT "${of[@]}"
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
	wait_for eval "[ -s '$2' ] || ! kill -0 $1 2>/dev/null"
	[ -s "$2" ] || { echo "process $1 did not become ready"; return 1; }
}

# PID…: those that we started and that still run, with their groups where they lead
# one. No pkill: it reads command lines, and waits for whoever holds the lock of his
# mappings.
kill_ours() {
	local pid

	for pid; do
		runs_still "$pid" || continue
		kill -9 -- "-$pid" 2>/dev/null || kill -9 "$pid" 2>/dev/null || true
	done
}

# Burns CPU until it is killed; $busy_pid
start_busy() {
	sh -c 'while :; do :; done' 3>&- &
	busy_pid=$!
}

stop_busy() {
	kill_ours ${busy_pid-}
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
