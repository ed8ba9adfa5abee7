#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A user whose file system does not answer holds up nobody: recordings end while it still
# stalls, other programs keep their names, and the recording says whose files were left
# out. Without an answer open(2), read(2) and close(2) wait in a way that no signal ends.
# shellcheck disable=SC2030,SC2031,SC2154 # set by faults.bash and by run, for one test

load lib
load faults

teardown() {
	stop_all
	stop_stalling
}

# The server dies with its process, and with it whatever waits for it.
stop_stalling() {
	[ -z "${stalling-}" ] || kill -9 "$stalling" 2>/dev/null || true
	[ -z "${stall_folder-}" ] || wait_for rmdir "$stall_folder"
	unset stalling stall_folder
}

# OP HOW: as an ordinary user; $stalling
start_stalling() {
	[ -e device ] || mknod -m 666 device c 10 229
	chmod 755 .
	setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		"$E2E_BIN/stall" "$@" >stalling 2>stalling.err 3>&- &
	stalling=$!
	wait_for eval "grep -qs ready stalling || ! kill -0 $stalling 2>/dev/null"
	kill -0 "$stalling" 2>/dev/null ||
		skip "no user namespace or FUSE: $(cat stalling.err)"
	stall_folder=$(sed -n 's/^ready //p' stalling)
	[ -n "$stall_folder" ]
}

# OP HOW [CONDITION]: the recording ends while the file system stalls; it had been asked,
# another program has its names, and this holds of the statistics. Who is looked at within
# a recording on a busy machine, a longer one tells.
survives() {
	start "$E2E_BIN/alpha"
	start_stalling "$1" "$2"
	[ "$2" != lock ] || wait_for grep -q stalled stalling
	record_until "is_seen '${3-true}'" timeout -s KILL 100 "$WEFT" record -q -F 499 \
		-o out --stats-json stats
	kill -0 "$stalling"
	adds_up out stats
	# Ctrl-C, or one second after the other: 1 s, and what the deadlines take
	jq '{finish_ms: .finish_ms, opener}' stats
}

# CONDITION
is_seen() {
	grep -q '^alpha;.*alpha' out && grep -q stalled stalling && jq -e "$1" stats
}

@test "a file system of one's own does not answer an open" {
	survives open overlay '.opener.held >= 1'
}

@test "a file system of one's own does not answer a close" {
	survives flush overlay '.opener.held >= 1'
}

@test "a file system of one's own does not answer a read" {
	survives read overlay '.opener.held >= 1'
}

@test "a perf map that cannot be opened, when all is named at the end" {
	survives open perf-map '.opener.held >= 1'
}

@test "somebody holds the lock of his mappings" {
	survives read lock
}

@test "a process that does not come out of its exec" {
	survives flush exec '.opener.held >= 1'
}

@test "a process that does not come out of its exec, asked for by its number" {
	local held
	start_stalling flush exec
	wait_for grep -q stalled stalling
	held=$(tr ' ' '\n' <"/proc/$stalling/task/$stalling/children" | sed '/^$/d' | tail -n 1)
	timeout -s KILL 10 "$WEFT" record -p "$held" -d 100ms -o out
	timeout -s KILL 10 "$WEFT" record -t "$held" -d 100ms -o out
	run timeout -s KILL 10 "$WEFT" doctor -p "$held"
	[ "$status" -eq 1 ]
	grep -q 'mappings of process .*: no answer' <<<"$output"
}

# three times of a user that is known are enough, and one before it is asked for
@test "who holds up the opener and has ended when one looks whose it is" {
	start_stalling read flee
	record_until 'jq -e ".opener.held >= 2 and .opener.refused >= 1" stats' \
		timeout -s KILL 100 "$WEFT" record -q -F 499 -o out --stats-json stats
	adds_up out stats
	jq -e '.opener.held <= 4' stats
}

# who answers is read: what it maps comes as a copy
@test "a file system of one's own that answers" {
	start_stalling none overlay
	answered() {
		timeout -s KILL 100 "$WEFT" record -F 499 -o out --stats-json stats "$@" 2>err
	}
	record_until 'jq -e ".files.copied >= 1" stats' answered
	adds_up out stats
	# others on this machine may be such people
	run ! grep "process $stalling " err
}

# who is kept from the file by its file system, root or not, has what is mapped of it
@test "a program of a file system that lets in its user alone" {
	cat >program.c <<-'END'
		volatile unsigned long sink;
		void leaf(void)
		{
			for (int i = 0; i < 20000; i++)
				sink = sink * 3 + i;
		}
		void middle(int n)
		{
			while (n--)
				leaf();
			sink++;
		}
		int main(void)
		{
			for (;;)
				middle(5);
		}
	END
	cc -O2 -fno-inline -rdynamic -o program program.c
	start_stalling none program program
	run ! head -c 1 "/proc/$stalling/exe"
	recorded() {
		timeout -s KILL 100 "$WEFT" record -q -p "$stalling" -F 499 -o out \
			--stats-json stats "$@"
	}
	record_until 'grep -q ";middle;leaf" out' recorded
	adds_up out stats
	jq -e '.files.copied >= 1 and .samples.unproven == 0' stats
	grep -E ';__libc_start_main[^ ]*;main;middle;leaf( |;[^;]*_\[k\])' out
	# what came before its table was there is told
	run ! grep -vE '\[cut\]|;main;middle(;leaf)?( |;[^;]*_\[k\])' <(grep -E 'leaf|middle' out)
}
