#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A recording from the prompt: how it ends, what it leaves behind, who hears
# what. That its stacks are true is for tests/truth.
# shellcheck disable=SC2030,SC2031,SC2154 # a shell each; set by lib.bash and by run

load lib

setup() {
	in_a_folder
	needs_recording
}

teardown() {
	stop_busy
}

@test "stdout carries data only, stderr the talk" {
	start_busy
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o - >out
	is_folded out
	grep -q samples err
	run ! grep $'\r' err
}

@test "-q is quiet" {
	run --separate-stderr weft record -q -d 100ms -o -
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "a filter by process leaves only that" {
	start_busy
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o out
	is_folded out
	run ! grep -qv '^sh[;-]' out
}

@test "a filter by name leaves only those" {
	start_busy
	record_while "$busy_pid" 200 --comm sh -F 499 -o out
	is_folded out
	run ! grep -qv '^sh[;-]' out
}

@test "a thread may call itself anything, also nothing" {
	cat >names.py <<-'END'
		import ctypes, time
		libc = ctypes.CDLL(None)
		for name in b"", b" ", b";a;", b"\xff\xfe", b"a\nb", b"12", b"--", b"\x1b[31m":
		    libc.prctl(15, name, 0, 0, 0)
		    end = time.process_time() + 0.1
		    while time.process_time() < end: pass
	END
	weft record -q -F 499 -o out -- /usr/bin/python3 names.py
	is_folded out
	for name in '[no_name]' _ :a: '??' 'a?b' 12 _-- '?[31m'; do
		cut -d';' -f1 out | sed 's/ [0-9]*$//' | grep -qxF -- "$name" ||
			{ echo "no line of $name"; cut -d';' -f1 out | sort -u; false; }
	done
}

@test "the command's exit status is passed on" {
	run weft record -q -o out -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	[ -e out ]
	run weft record -q -o out -- true
	[ "$status" -eq 0 ]
	run weft record -q -o out -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "a command that Ctrl-C ends, too, passes on its exit status" {
	set -m # a process group of their own
	env --default-signal=INT "$WEFT" record -q -o out -- \
		sh -c 'trap "exit 5" INT; : >up; while :; do :; done' 3>&- &
	recorder=$!
	until [ -e up ]; do sleep 0.1; done
	kill -INT -- -$recorder
	status=0
	wait $recorder || status=$?
	[ "$status" -eq 5 ]
}

@test "a Ctrl-C that comes as the command ends is no second one" {
	for _ in {1..5}; do
		# shellcheck disable=SC2016 # for the inner shell
		run weft record -q -o out -- sh -c 'kill -INT $PPID; exit 5'
		[ "$status" -eq 5 ]
	done
}

@test "a command that goes on is told" {
	run --separate-stderr weft record -d 300ms -o out -- \
		sh -c 'echo $$ >pid; exec sleep 1000 >/dev/null 2>&1 3>&-'
	[ "$status" -eq 0 ]
	wait_for test -s pid
	kill "$(cat pid)"
	[[ $stderr == *"weft: sh keeps running as process $(cat pid)" ]]
}

@test "an empty profile is one that can be read" {
	run --separate-stderr weft record --comm nobody -d 200ms -o out.folded
	[ "$status" -eq 0 ]
	[[ $stderr == *"the profile is empty"* && $stderr != *"weft report"* ]]
	run --separate-stderr weft report out.folded
	[ "$status" -eq 0 ]
	[[ $output == *"no samples"* && $stderr == *"the profile is empty"* ]]
}

@test "a command that can't be run is said, and nothing written" {
	run --separate-stderr weft record -q -o out -- ./no-such-command
	[ "$status" -ne 0 ]
	[[ $stderr == weft:*no-such-command* ]]
	[ ! -e out ]
}

@test "the command's stdin, stdout and arguments are its own" {
	run --separate-stderr weft record -q -o out -- printf '%s|' a 'b c' --freq
	[ "$output" = 'a|b c|--freq|' ]
	result=$(echo words | weft record -q -o out -- cat)
	[ "$result" = words ]
}

@test "children of the command are followed" {
	cp /bin/sh kid
	cp /bin/sh grandkid
	weft record -q -F 999 -o out -- sh -c "./kid -c '
		./grandkid -c \"i=0; while [ \\\$i -lt 100000 ]; do i=\\\$((i + 1)); done\"
		i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done'; true"
	grep -q '^kid[;-]' out
	grep -q '^grandkid[;-]' out
}

@test "Ctrl-C stops and writes, and so do SIGTERM and a terminal that goes" {
	start_busy
	for signal in INT TERM HUP; do
		# whoever runs the tests may have had it ignored, as nohup does
		env --default-signal=HUP "$WEFT" record -v -p "$busy_pid" -d 1000s \
			-o "$signal" 2>err 3>&- &
		recorder=$!
		recorder_runs
		runs_for 200 "$busy_pid"
		kill -$signal $recorder
		recorder_ends
		is_folded "$signal"
		grep -q samples err
	done
}

# It opens a FIFO for writing, which nobody reads.
waits_for_reader() {
	wait_for grep -qE 'fifo|wait_for_partner' "/proc/$recorder/wchan"
}

@test "a second Ctrl-C aborts, and leaves nothing half written" {
	start_busy
	echo before >out
	# a FIFO that nobody reads holds the writer
	mkfifo stats
	start_recorder -p "$busy_pid" -o out --stats-json stats
	recorder_runs
	kill -INT "$recorder"
	waits_for_reader
	sleep 1.1 # until then it is the first one once more
	kill -INT "$recorder"
	recorder_ends 130
	[ "$(find . -name '*.part' | wc -l)" -eq 0 ]
}

@test "a second Ctrl-C leaves no tape that it does not name" {
	start_busy
	mkfifo stats
	start_recorder -p "$busy_pid" -o out --stats-json stats --tape tape
	recorder_runs
	kill -INT "$recorder"
	waits_for_reader
	sleep 1.1 # until then it is the first one once more
	kill -INT "$recorder"
	recorder_ends 130
	[ ! -e tape ]
	left=$(find . -name '*.part')
	[ "$left" = "./tape.$recorder.part" ]
	grep -qx "weft: tape.$recorder.part holds what was written so far" err
	# and it can be read
	run --separate-stderr weft report -q --tape "$left" -o again
	[ "$status" -eq 0 ]
	[[ $stderr == *"cut short"* ]]
}

@test "the end of the process ends the recording" {
	sh -c 'until [ -e end ]; do :; done' 3>&- &
	busy_pid=$!
	start_recorder -p "$busy_pid" -o out
	recorder_runs
	runs_for 200 "$busy_pid"
	touch end
	recorder_ends
	is_folded out
}

@test "--stats-json adds up" {
	start_busy
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o out --stats-json stats
	# ticks of others are counted where they are left out
	jq -e '.ledger.oncpu | .outcomes.filtered > 0 and .entered == (.outcomes | add)' stats
	total=$(awk '{ n += $NF } END { print n + 0 }' out)
	[ "$(jq '[.. | numbers] | index('"$total"') != null' stats)" = true ]
}

@test "a tape gives the same bytes again" {
	start_busy
	record_while "$busy_pid" 200 -F 499 -o live --tape tape
	weft report -q --tape tape -o again
	cmp live again
	weft report -q --tape tape --view thread -o thread
	is_folded thread
}

@test "a tape needs no privileges to be read" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	start_busy
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o live --tape tape
	folder=$(mktemp -d /tmp/weft-e2e.XXXXXX)
	cp "$WEFT" "$folder/weft"
	cp tape "$folder/tape"
	chmod -R a+rX "$folder"
	as_nobody '' "$folder/weft" report -q --tape "$folder/tape" -o - >again
	rm -r "$folder"
	cmp live again
}

@test "an ordinary user is told what is missing" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	cp "$WEFT" /tmp/weft-e2e.$$
	run as_nobody '' /tmp/weft-e2e.$$ record -d 1s -o -
	[ "$status" -eq 3 ]
	[[ $output == *"CAP_BPF and CAP_PERFMON are missing"* ]]
	run as_nobody ,+perfmon /tmp/weft-e2e.$$ record -d 1s -o -
	[ "$status" -eq 3 ]
	[[ $output == *"CAP_BPF is missing"* ]]
	rm -f /tmp/weft-e2e.$$
}

@test "an ordinary user with CAP_BPF and CAP_PERFMON can record" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	start_busy
	cp "$WEFT" /tmp/weft-e2e.$$
	nobody_records() {
		as_nobody ,+bpf,+perfmon /tmp/weft-e2e.$$ record -q -F 499 -o - "$@" >out
	}
	record_until 'grep -q "^sh[;-]" out' nobody_records
	rm -f /tmp/weft-e2e.$$
	is_folded out
}

@test "in a container without the host's pids nothing is recorded" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	run unshare -pf --mount-proc "$WEFT" record -d 1s -o out
	[ "$status" -eq 3 ]
	[[ $output == *hostPID* ]]
	[ ! -e out ]
}

@test "progress is for a terminal" {
	at_a_terminal() {
		script -qec "$WEFT record -o out $*" /dev/null >shown
	}
	record_until $'grep -q "\r.*samples" shown' at_a_terminal
	run script -qec "$WEFT record -q -d 1200ms -o out" /dev/null
	[[ $output != *samples* ]]
}

# N OPTION…: what is written so far has so many samples, or more
has_part() {
	[ "$(weft report killed.weft.*.part "${@:2}" --json 2>/dev/null | jq .total)" -ge "$1" ]
}

@test "a recording that is killed is there up to its last second, without names" {
	start_busy
	start_recorder -p "$busy_pid" -F 499 -o killed.weft
	recorder_runs
	wait_for has_part 100
	# the first two seconds are there, and some of the third
	wait_for has_part 1 --filter time=2..
	kill -KILL "$recorder"
	wait "$recorder" || true
	ls killed.weft.*.part
	refused 'No such file' report killed.weft
	grep -q '^      killed.weft.[0-9]*.part holds what is recorded so far' <<<"$stderr"
	run --separate-stderr weft report killed.weft.*.part --json
	[ "$status" -eq 0 ]
	[[ $stderr == *"cut short"* ]]
	[ "$(jq .total <<<"$output")" -gt 100 ]
	[ "$(jq .truncated <<<"$output")" = true ]
	[ "$(jq -r '.runs[0].rate_hz' <<<"$output")" -eq 499 ]
	has_part 1 --filter time=2..
}

@test "a recording says whose its samples are, when, and what was lost" {
	start_busy
	# over a second, on a machine that has nothing else to do as well
	record_while "$busy_pid" 1300 -p "$busy_pid" -F 499 -o x.weft
	weft report x.weft --json >json
	total=$(jq .total json)
	[ "$total" -gt 100 ]
	[ "$(jq '.ledger["oncpu.outcome.kept"]' json)" -eq "$total" ]
	[ "$(jq -r '.runs[0].host' json)" = "$(uname -n)" ]
	weft report x.weft --filter "pid=$busy_pid" --json | jq .total | grep -qx "$total"
	weft report x.weft --filter time=0..60 --json | jq .total | grep -qx "$total"
	# no second has all: the first one in which it had a CPU
	for ((first = 0, end = 1; first == 0; end++)); do
		first=$(weft report x.weft --filter time=0..$end --json | jq .total)
	done
	[ "$first" -lt "$total" ]
	run ! grep -q ffffffff8 <(weft report x.weft -o -)
}

has_samples() {
	[ "$(weft report "$1" --json | jq .total)" -gt 0 ]
}

@test "a cgroup's path means the same in a cgroup namespace" {
	root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -n "$root" ] || skip "no cgroup v2 here"
	above=$root/weft-test-$$
	mkdir -p "$above/below" || skip "no cgroup can be made here"
	start_busy
	others=$busy_pid
	start_busy
	echo "$busy_pid" >"$above/below/cgroup.procs"
	mkdir seen
	export -f weft record_until has_samples
	# shellcheck disable=SC2016 # for the inner shell
	bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$above" \
		unshare -Cm bash -c 'mount -t cgroup2 none seen && exec "$@"' - \
		bash -c 'record_until "has_samples out.weft" \
			weft record -q --cgroup seen/below -F 499 -o out.weft'
	kill "$busy_pid" "$others"
	wait "$busy_pid" || true
	rmdir "$above/below" "$above"
	# however little CPU time it was given: all of it is its own
	total=$(weft report out.weft --json | jq .total)
	own=$(weft report out.weft --filter "pid=$busy_pid" --json | jq .total)
	[ "$total" -gt 0 ] && [ "$total" -eq "$own" ]
}

@test "a command has its signals as its caller had them" {
	cat >caller.py <<-'END'
		import os, signal, sys
		signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
		signal.signal(signal.SIGINT, signal.SIG_IGN)
		signal.signal(signal.SIGPIPE, signal.SIG_IGN)
		os.execv(sys.argv[1], sys.argv[1:])
	END
	# SigQ, what is queued, is of all that the user runs
	/usr/bin/python3 caller.py /bin/grep '^Sig[^Q]' /proc/self/status >want
	/usr/bin/python3 caller.py "$WEFT" record -q -o out -- \
		grep '^Sig[^Q]' /proc/self/status >got
	diff want got
}

@test "a process whose first thread has ended is seen whole" {
	cat >led.c <<-'END'
		#include <pthread.h>
		static void *spin_on(void *arg) { for (volatile int i = 0;; i++); return arg; }
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, 0, spin_on, 0);
			pthread_exit(0);
		}
	END
	cc -o led led.c -pthread
	./led 3>&- &
	busy_pid=$!
	wait_for grep -q zombie "/proc/$busy_pid/status"
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o out
	is_folded out
	run ! grep -v ';spin_on[; ]' out
}

@test "a container is sampled by its name, and two of one name are refused" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	mount=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -n "$mount" ] || skip "no cgroup v2 here"
	name=weft-e2e-$$
	inside=$mount/lxc.payload.$name/system.slice
	mkdir -p "$inside" || skip "no cgroup can be made here"
	start_busy
	echo "$busy_pid" >"$inside/cgroup.procs"
	record_while "$busy_pid" 500 --cgroup "$name" -F 499 -o x.weft
	mkdir -p "$mount/twin/lxc.payload.$name"
	run ! --separate-stderr weft record -q --cgroup "$name" -F 499 -d 1s -o y.weft
	rmdir "$mount/twin/lxc.payload.$name" "$mount/twin"
	stop_busy
	wait_for rmdir "$inside" "${inside%/*}"
	[[ $stderr == *"2 cgroups are of a container with that name"* ]]
	weft report x.weft --json | jq -e '.total > 100'
	weft report x.weft --filter "container=$name" --json | jq -e '.total > 100'
}

@test "processes that end at once are told by their parent's container" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	mount=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -n "$mount" ] || skip "no cgroup v2 here"
	cgroup=$mount/weft-e2e-$$.service
	mkdir "$cgroup" || skip "no cgroup can be made here"
	# each of them is gone before anybody can look at it
	cp /bin/true here-and-gone
	weft record -q -F 1999 -o x.weft -- sh -c "echo \$\$ >'$cgroup/cgroup.procs'
		i=0; while [ \$i -lt 1500 ]; do ./here-and-gone; i=\$((i + 1)); done"
	rmdir "$cgroup"
	total=$(weft report x.weft --filter comm=here-and-gone --json | jq .total)
	inside=$(weft report x.weft --filter comm=here-and-gone \
		--filter "container=weft-e2e-$$.service" --json | jq .total)
	[ "$total" -gt 100 ]
	[ $((inside * 100)) -ge $((total * 98)) ] || { echo "$inside of $total"; false; }
}

@test "code that was moved is found where it is" {
	weft record -q -F 499 -o out --stats-json stats -- "$E2E_BIN/moved" 4
	grep -q ';main;moved_spin [0-9]' out || { cat out; false; }
}
