#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What goes wrong while weft records: nothing crashes or hangs, what was there
# stays, what is lost is told. What it reads is for foreign.bats.
# shellcheck disable=SC2154 # set by faults.bash and by run

load lib
load faults

small_disk() {
	mkdir small
	mount -t tmpfs -o size=64k none small || skip "no tmpfs here"
	echo before >small/old
	dd if=/dev/zero of=small/filler bs=4k 2>/dev/null || true
}

# The supervisors of $recorder, and their parsers: not those of anybody else.
supervisors() {
	pgrep -P "$recorder" -x weft-supervisor
}

parsers() {
	local supervisor
	for supervisor in $(supervisors); do
		pgrep -n -P "$supervisor" -x weft-parser
	done
}

@test "a reader that is stopped: what the ring can't hold is told" {
	for _ in 1 2 3 4; do start_target deep 490; done
	targets=("${pids[@]}")
	start "$E2E_BIN/alpha"
	kill -STOP "$last_pid"
	start_recorder -F 4000 -p "$(IFS=,; echo "${targets[*]},$last_pid")" -o out \
		--stats-json stats
	recorder_runs
	kill -STOP "$recorder"
	runs_for 500 "${targets[@]}"
	kill -CONT "$recorder"
	# and it goes on afterwards
	kill -CONT "$last_pid"
	runs_for 300 "$last_pid"
	kill -INT "$recorder"
	recorder_ends
	adds_up out stats
	jq -e '.ledger.oncpu.outcomes.ring_full > 0' stats
	grep -q 'ring buffer full' err
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
}

# MS: beta begins while a reader is stopped, among more than the ring holds; the reader
# has so much of beta's time afterwards to find that out
beta_begins_meanwhile() {
	start "$E2E_BIN/alpha"
	start_recorder -F 499 -o out --stats-json stats
	recorder_runs
	kill -STOP "$recorder"
	"$E2E_BIN/target" storm 2000 1500 "$E2E_BIN/alpha"
	"$E2E_BIN/beta" 300
	start "$E2E_BIN/beta"
	runs_for 200 "$last_pid"
	kill -CONT "$recorder"
	runs_for "$1" "$last_pid"
	kill -INT "$recorder"
	recorder_ends
	adds_up out stats
	# told if it was more than the ring holds
	[ "$(jq '.processes.records_lost > 0' stats)" = false ] || grep -q 'were lost' err
	stop_all
}

@test "a reader that is stopped hears of what was mapped meanwhile" {
	# a second after a loss it looks again, and reads a new table when the host lets it
	for ms in 500 3000 12000; do
		beta_begins_meanwhile "$ms"
		! grep -q '^beta;.*;beta_work;beta_burn ' out || return 0
	done
	false
}

# SECONDS: twenty end while the recorder is stopped, and it runs so long again. On one
# CPU, as the ring that they are told by is; nothing else need happen there afterwards.
end_unheard() {
	local sleepers=()

	for _ in {1..20}; do start taskset -c 0 sleep 1000; done
	sleepers=("${pids[@]}")
	start_recorder -F 99 -o out --stats-json stats
	recorder_runs
	kill -STOP "$recorder"
	# more than it holds, so that what comes then is lost
	for ((n = 0; n < 2000; n += more)); do
		more=$(taskset -c 0 "$E2E_BIN/target" storm 3000 500 /bin/true)
	done
	kill -9 "${sleepers[@]}"
	wait "${sleepers[@]}" || true # kill comes back before they have ended
	kill -CONT "$recorder"
	sleep "$1"
	kill -INT "$recorder"
	recorder_ends
	pids=()
	[ "$(jq .processes.records_lost stats)" -gt 0 ]
}

@test "processes whose end was lost are not known for ever" {
	# a second after it has heard of a loss it looks again, when the host lets it
	for s in 2.5 10 30; do
		end_unheard "$s"
		! jq -e '.processes.lost_exits >= 15' stats || return 0
	done
	jq -c .processes stats
	false
}

@test "a full disk: the folded file" {
	small_disk
	start "$E2E_BIN/alpha"
	ends=1 record_while "$last_pid" 100 -p "$last_pid" -o small/old --tape tape \
		--stats-json stats
	grep -q '^weft: .*No space left' err
	[ "$(cat small/old)" = before ]
	[ "$(find small -name '*.part' | wc -l)" -eq 0 ]
	# what was recorded is not lost with it
	weft_in_time report -q --tape tape -o again
	grep -q ';alpha_work;' again
}

@test "a full disk: the tape" {
	small_disk
	start "$E2E_BIN/alpha"
	ends=1 record_while "$last_pid" 300 -F 999 -o out --tape small/old --stats-json stats
	grep -q '^weft: .*small/old.*No space left' err
	[ "$(cat small/old)" = before ]
	[ "$(find small -name '*.part' | wc -l)" -eq 0 ]
	adds_up out stats
	grep -q '^alpha;.*;alpha_work' out
}

@test "a full disk: the statistics" {
	small_disk
	start "$E2E_BIN/alpha"
	ends=1 record_while "$last_pid" 300 -p "$last_pid" -o out --stats-json small/old \
		--tape tape
	grep -q '^weft: .*small/old.*No space left' err
	[ "$(cat small/old)" = before ]
	[ "$(find small -name '*.part' | wc -l)" -eq 0 ]
	grep -q '^alpha;.*;alpha_work' out
	weft_in_time report -q --tape tape -o again
	cmp out again
}

@test "an existing tape is replaced at once" {
	echo before >tape
	ln tape kept
	start_recorder -d 300ms -o out --tape tape
	recorder_ends
	[ "$(cat kept)" = before ]
	weft_in_time report -q --tape tape -o again
	cmp out again
}

@test "a process that is killed ends its recording" {
	start "$E2E_BIN/alpha"
	start_recorder -F 999 -p "$last_pid" -o out --stats-json stats
	recorder_runs
	runs_for 300 "$last_pid"
	kill -9 "$last_pid"
	recorder_ends
	adds_up out stats
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
}

@test "a process that is killed and stays a zombie ends its recording" {
	# shellcheck disable=SC2016 # for the inner shell
	start sh -c 'setsid "$0" >/dev/null & echo $! >zombie; exec sleep 1000' \
		"$E2E_BIN/alpha"
	wait_for test -s zombie
	start_recorder -p "$(cat zombie)" -o out
	recorder_runs
	runs_for 300 "$(cat zombie)"
	kill -9 "$(cat zombie)"
	recorder_ends
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
}

# PID: it is killed, and the pid is beta's
give_to_beta() {
	kill -9 "$1"
	wait_for eval "! kill -0 $1 2>/dev/null"
	start_as "$1" "$E2E_BIN/beta"
	wait_for grep -qs beta "/proc/$last_pid/comm"
}

@test "a process that reuses the pid of one that has ended is not sampled" {
	for option in -p -t; do
		start "$E2E_BIN/alpha"
		first=$last_pid
		start_target deep 10
		start_recorder -F 999 $option "$first,$last_pid" -o out --stats-json stats
		recorder_runs
		runs_for 300 "$first" "$last_pid"
		give_to_beta "$first"
		runs_for 300 "$last_pid"
		kill -INT "$recorder"
		recorder_ends
		stop_all
		adds_up out stats
		grep -q '^alpha;.*;alpha_work;alpha_burn ' out
		grep -q '^target;' out
		run ! grep -i beta out
	done
}

@test "a process that reuses the pid of one that has ended does not prolong its recording" {
	for option in -p -t; do
		start "$E2E_BIN/alpha"
		first=$last_pid
		start_recorder -F 999 $option "$first" -o out --stats-json stats
		recorder_runs
		runs_for 300 "$first"
		# so that it can't see that the pid is nobody's for a moment
		kill -STOP "$recorder"
		give_to_beta "$first"
		runs_for 100 "$last_pid"
		kill -CONT "$recorder"
		recorder_ends
		stop_all
		adds_up out stats
		grep -q "^weft: \(process\|thread\) $first has ended" err
		grep -q '^alpha;.*;alpha_work;alpha_burn ' out
		run ! grep -i beta out
	done
}

@test "a thread that ends, ends its recording" {
	start "$E2E_BIN/alpha"
	start_recorder -t "$last_pid" -o out
	recorder_runs
	runs_for 300 "$last_pid"
	kill -9 "$last_pid"
	recorder_ends
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out || { cat out; false; }
}

@test "a program that becomes another at the same addresses" {
	start_recorder -F 999 -o out --stats-json stats -- \
		"$E2E_BIN/alpha" 500 "$E2E_BIN/beta" 500 "$E2E_BIN/alpha" 200
	recorder_ends
	adds_up out stats
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
	grep -q '^beta;.*;beta_work;beta_burn ' out
	run ! grep -E '^alpha;.*beta_|^beta;.*alpha_' out
}

@test "the same of a process that was there before" {
	start "$E2E_BIN/alpha" 1000 "$E2E_BIN/beta" 500
	start_recorder -F 999 -p "$last_pid" -o out
	recorder_ends
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
	grep -q '^beta;.*;beta_work;beta_burn ' out
	run ! grep -E '^alpha;.*beta_|^beta;.*alpha_' out
}

@test "a thousand short processes a second" {
	start_recorder -F 999 -o out --stats-json stats
	recorder_runs
	n=$("$E2E_BIN/target" storm 1000 3000 "$E2E_BIN/alpha")
	rss_kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$recorder/status")
	kill -INT "$recorder"
	recorder_ends
	adds_up out stats
	is_clean out
	# every one of them was seen, or else it is told that records were lost
	lost=$(jq .processes.records_lost stats)
	echo "$n processes, $lost records lost, $rss_kb KiB"
	[ "$lost" -gt 0 ] || [ "$(jq .processes.seen stats)" -ge "$n" ]
	[ "$lost" -eq 0 ] || grep -q 'were lost' err
	grep -qa __asan_init "$WEFT" || [ "$rss_kb" -lt 100000 ]
}

@test "two Ctrl-C leave a whole file or none" {
	start "$E2E_BIN/alpha"
	last_alpha=$last_pid
	for pause in 0 0.01 1.02; do
		echo before >out
		start_recorder -F 999 -o out
		recorder_runs
		runs_for 300 "$last_alpha"
		kill -INT "$recorder"
		sleep $pause
		kill -INT "$recorder" 2>/dev/null || true
		wait "$recorder" || [ $? -eq 130 ]
		[ "$(cat out)" = before ] || is_clean out
		[ "$(cat out)" != before ] ||
			grep -q 'ended before all was written: the rest is lost' err
	done
}

# At least one: an idle one that has ended is missed within a second, or when it is asked.
kill_parsers() {
	local pid killed=
	for pid in $(parsers); do
		! kill -9 "$pid" || killed=1 # it may just have ended
	done
	[ "$killed" ]
}

@test "the parse worker is killed, again and again" {
	start "$E2E_BIN/alpha"
	start_recorder -F 499 -o out --stats-json stats
	recorder_runs
	for _ in 1 2 3; do
		runs_for 200 "$last_pid"
		wait_for kill_parsers
		"$E2E_BIN/beta" 200
	done
	supervisors | xargs kill -9
	runs_for 200 "$last_pid"
	kill -INT "$recorder"
	recorder_ends
	adds_up out stats
	jq -e '.worker.restarts >= 1' stats
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
	grep -q '^beta;.*;beta_work;beta_burn ' out
}

@test "a parse worker that is gone costs no time" {
	start "$E2E_BIN/alpha"
	start_recorder -F 99 -p "$last_pid" -o out --stats-json stats
	recorder_runs
	parsers | xargs kill -9
	runs_for 200 "$last_pid"
	# a loop would take as much of a CPU as alpha gets, whoever else wants one
	before=$(cpu_ms "$recorder") alpha=$(cpu_ms "$last_pid")
	runs_for 1000 "$last_pid"
	spent=$(($(cpu_ms "$recorder") - before)) alpha=$(($(cpu_ms "$last_pid") - alpha))
	kill -INT "$recorder"
	recorder_ends
	echo "$spent ms beside $alpha"
	[ $((spent * 4)) -lt $alpha ]
	grep -q '^alpha;.*;alpha_work;alpha_burn ' out
}

@test "an ordinary user with CAP_BPF and CAP_PERFMON sees its own names" {
	folder=$(mktemp -d /tmp/weft-e2e.XXXXXX)
	cp "$WEFT" "$E2E_BIN/alpha" "$folder"
	chmod -R a+rX "$folder"
	chown 65534 "$folder"
	start setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/alpha"
	wait_for grep -q alpha "/proc/$last_pid/comm"
	nobody_records() {
		as_nobody ,+bpf,+perfmon timeout 100 "$folder/weft" record -q -F 499 \
			-p "$last_pid" --tape "$folder/tape" -o - "$@" >out 2>err
	}
	record_until 'grep -q "^alpha;.*;alpha_work;alpha_burn " out' nobody_records
	# a sample says whose it is, behind its thread's name and its flags
	LC_ALL=C grep -qaP 'alpha\x00{11}..\xfe\xff' "$folder/tape"
	rm -r "$folder"
	is_clean out
	[ ! -s err ]
}

@test "an ordinary user without capabilities hears which" {
	folder=$(mktemp -d /tmp/weft-e2e.XXXXXX)
	cp "$WEFT" "$folder"
	chmod -R a+rX "$folder"
	run as_nobody ,+bpf,+sys_ptrace "$folder/weft" record -q -d 100ms -o -
	rm -r "$folder"
	[ "$status" -eq 3 ]
	[[ $output == *"CAP_PERFMON is missing"* ]]
}

holds() {
	[ -n "$(find "/proc/$recorder/fd" -lname "*$1*")" ]
}

holds_not() {
	! holds "$1"
}

# once a second, so that no sample wants its names
@test "a file is let go when nobody needs it any more" {
	cp "$E2E_BIN/brief" unsampled
	start_recorder -F 1 -o out
	recorder_runs
	# it may have ended before a recorder without a CPU came to it
	runs_and_is_held() {
		./unsampled
		holds unsampled
	}
	wait_for runs_and_is_held
	rm unsampled
	for _ in {1..6}; do
		wait_for holds_not unsampled && break
	done
	holds_not unsampled
}

# COMMAND…: as an ordinary user who may load BPF programs, and no more
as_loader() {
	as_nobody ,+bpf,+perfmon timeout 60 "$@"
}

# Records the whole machine as such a user, into FOLDER
loader_records() {
	local to=$1

	as_loader "$to/weft" record -F 499 -d 1s -o "$to/out" \
		--stats-json "$to/stats" 2>err || { cat err; return 1; }
	jq -e '.keys.hidden >= 1' "$to/stats"
	grep -q 'hides .* processes' err
	grep -q 'CAP_SYS_PTRACE' err
	run ! grep -q 'arrived before' err
}

@test "doctor does not take an empty file for the kernel's types" {
	[ "$(id -u)" = 0 ] && [ -e /sys/kernel/btf/vmlinux ] || skip "needs root and BTF"
	: >empty
	# shellcheck disable=SC2016 # the inner shell's
	run unshare -m sh -c 'mount --bind empty /sys/kernel/btf/vmlinux && exec "$0" doctor' \
		"$WEFT"
	[ "$status" -eq 3 ]
	[[ $output == *'missing  kernel types (BTF)'*'/sys/kernel/btf/vmlinux: not BTF'* ]]
}

@test "a cgroup with too little memory: what to do is told" {
	local group limit=memory.max

	group=$(awk '/ - cgroup2? / && / [^ ]*memory[^ ]*$/ { print $5; exit }' \
		/proc/self/mountinfo)
	[ -z "$group" ] || limit=memory.limit_in_bytes
	[ -n "$group" ] || group=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	group+=/weft-e2e-$$
	mkdir "$group" 2>/dev/null && echo 12M >"$group/$limit" ||
		{ rmdir "$group"; skip "no cgroup that limits memory can be made here"; }
	# The kernel gives maps of 1 MB each until it has no more. If that leaves next to nothing,
	# it ends weft at the next page that it touches: of three limits that can be true of one.
	for most in 3000000 3500000 4000000; do
		echo "$most" >"$group/$limit"
		# shellcheck disable=SC2016 # the inner shell's
		run --separate-stderr sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" \
			"$WEFT" record -d 200ms -o out
		[ "$status" -ne 1 ] || break
		[ "$status" -eq 137 ]
	done
	rmdir "$group"
	[ "$status" -eq 1 ]
	[[ $stderr == *'no memory'*'--unwind-memory'* ]]
}

# What root runs is not an ordinary user's to look at: that is said, and no other reason;
# also where /proc does not even show it.
@test "processes that /proc hides are told, and what to do" {
	start "$E2E_BIN/alpha"
	local to

	to=$(mktemp -d /tmp/weft-e2e.XXXXXX)
	cp "$WEFT" "$to"
	chmod 755 "$to/weft"
	chown 65534 "$to"
	loader_records "$to"
	export -f as_nobody as_loader loader_records
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m bash -ec 'mount -t proc -o hidepid=2 none /proc
		run() { shift; ! "$@"; }
		loader_records "$1"' - "$to"
	rm -r "$to"
}

@test "clocks that are not the kernel's are refused" {
	unshare -T --boottime 1000 true || skip "no namespaces of time"
	run -3 --separate-stderr unshare -T --boottime 1000 "$WEFT" record -d 100ms -o out
	grep -q 'time namespace' <<<"$stderr"
	[ ! -e out ]
}
