#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# For which trace a thread works, where the program publishes it (traced.c): the function
# of each sample says which ids it must have.
# shellcheck disable=SC2154 # set by run

load lib

setup() {
	in_a_folder
	needs_recording
}

teardown() {
	stop_busy
}

# NAME FLAG…
build_traced() {
	local name=$1
	shift
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread \
		-o "$name" "$BATS_TEST_DIRNAME/traced.c" "$@"
}

EXPORTED=-Wl,--export-dynamic-symbol=otel_thread_ctx_v1

# PROGRAM OPTION…: until each of its threads has had so much CPU time that none of its
# functions is missed; who gets how much of it is the host's affair
record_traced() {
	local program=$1 threads
	shift
	"./$program" 600000 >ready 3>&- &
	busy_pid=$!
	wait_for test -s ready
	start_recorder -p "$busy_pid" -F 1999 --stats-json stats "$@"
	threads=(/proc/"$busy_pid"/task/*)
	if ! { recorder_runs && runs_for 60 "${threads[@]#/proc/}"; }; then
		kill_ours "$recorder"
		return 1
	fi
	kill -INT "$recorder"
	recorder_ends
	stop_busy
	rm ready
}

# HEX: a digit, as often as it takes
id() {
	printf "$1%.0s" $(seq "$2")
}

# FILE: each function's samples have its ids, and there are enough of each. A thread
# that takes turns is interrupted between its word and its work, too.
is_true() {
	local k

	"$BATS_TEST_DIRNAME/traces.py" "$1" >got
	cat got
	for k in 1 2 3 4; do
		grep -q "^works_for_$k $(id $k 32) $(id ${k}a 8) " got
	done
	for k in 5 6; do
		grep -q "^turns_to_$k $(id $k 32) $(id ${k}a 8) " got
	done
	for k in not_valid no_span garbage kernel_address nothing; do
		grep -q "^$k - - " got
	done
	[ "$(wc -l <got)" -eq 11 ] # and no other ids
	awk '$4 < 10 { bad = 1 } END { exit bad }' got
}

# FILE PATTERN: how many samples functions of such a name have in it
samples_in() {
	awk -v pattern="^($2)" '$1 ~ pattern { n += $4 } END { print n + 0 }' "$1"
}

@test "each sample has the ids of the trace that its thread works for" {
	build_traced pie -DEARLIER=100 -pie -fPIE $EXPORTED
	record_traced pie --trace-ids -o pie.pb.gz
	is_true pie.pb.gz
	# also those that point nowhere are samples, and counted
	jq -e --argjson ids "$(samples_in got 'works_for|turns_to')" \
		--argjson lost "$(samples_in got 'garbage|kernel_address')" \
		--argjson none "$(samples_in got 'not_valid|no_span|nothing')" \
		'.ledger.adds_up and (.samples |
		.traced >= $ids and .traced <= .total - $lost - $none and
		.no_context >= $lost and .no_context <= .total - $ids - $none)' stats
	grep -q 'have the ids of a trace and a span' err
	grep -q "are of threads whose trace context can't be read" err
}

@test "so it is wherever the linker has put the variable" {
	build_traced odd -DEARLIER=1 -no-pie -rdynamic
	record_traced odd --trace-ids -o odd.weft
	weft report odd.weft -o odd.pb.gz
	is_true odd.pb.gz
	build_traced padded -DEARLIER=5003 -static-pie -fPIE $EXPORTED
	record_traced padded --trace-ids -o padded.pb.gz --unwind fp
	is_true padded.pb.gz
	# also merged
	weft report odd.weft odd.weft -o twice.pb.gz
	is_true twice.pb.gz
}

# OUT FLAG…: a library, and a program that loads it
build_library() {
	local name=$1
	shift
	gcc -O1 -fPIC -shared -o "lib$name.so" "$BATS_TEST_DIRNAME/libtraced.c" "$@"
	build_traced "$name" -DEARLIER=100 "-DLIBRARY=\"$PWD/lib$name.so\""
	# and one that has it from its start
	build_traced "$name-linked" -DEARLIER=100 "-DLIBRARY=\"$PWD/lib$name.so\"" \
		-Wl,--no-as-needed "$PWD/lib$name.so"
}

# NAME: both of them, and the library is used in this way
library_is_true() {
	readelf -rW "lib$1.so" | grep -q "$2"
	record_traced "$1" --trace-ids -o "$1.pb.gz"
	is_true "$1.pb.gz"
	record_traced "$1-linked" --trace-ids -o "$1-linked.pb.gz"
	is_true "$1-linked.pb.gz"
}

needs_dialects() {
	[ "$(uname -m)" = x86_64 ] || skip "the compiler's options differ"
}

@test "so it is in a library, initial-exec" {
	needs_dialects
	build_library static -DMORE=64 -ftls-model=initial-exec
	library_is_true static TPOFF64.*otel
}

@test "so it is in a library, general-dynamic" {
	needs_dialects
	build_library general -DMORE=64 -mtls-dialect=gnu
	library_is_true general DTPMOD64.*otel
}

@test "so it is in a library, by descriptor" {
	needs_dialects
	build_library descriptor -DMORE=64 -mtls-dialect=gnu2
	library_is_true descriptor TLSDESC.*otel
}

@test "so it is in a library whose variables are allocated later" {
	needs_dialects
	build_library large -DMORE=100000 -mtls-dialect=gnu2
	library_is_true large TLSDESC.*otel
}

@test "nobody who did not ask for ids gets any" {
	build_traced plain -DEARLIER=100 $EXPORTED
	record_traced plain -o plain.pb.gz --tape plain.tape
	"$BATS_TEST_DIRNAME/traces.py" plain.pb.gz >got
	cat got
	[ "$(wc -l <got)" -eq 11 ]
	run ! grep -vE '^[a-z_0-9]+ - - [0-9]+$' got
	jq -e '.samples.traced == 0 and .samples.no_context == 0' stats
	run ! grep -qa "$(printf '\x33%.0s' {1..16})" plain.tape
	run ! grep -q trace err
	# with them the tape has them: this test can fail
	record_traced plain -o traced.pb.gz --tape traced.tape --trace-ids
	grep -qa "$(printf '\x33%.0s' {1..16})" traced.tape
	weft report --tape traced.tape -o again.pb.gz
	is_true again.pb.gz
}

@test "a symbol that is not exported is not followed" {
	build_traced hidden -DEARLIER=100 -Wl,--exclude-libs,ALL
	readelf --dyn-syms -W hidden >symbols
	run ! grep -q otel symbols
	record_traced hidden --trace-ids -o hidden.pb.gz
	jq -e '.samples.total > 500 and .samples.traced == 0 and .samples.no_context == 0' stats
}

# PROGRAM K…: in its samples each function works for that trace or, as `nothing` and
# says_inner do, for none; enough of each
carries() {
	local k program=$1
	shift
	"./$program" >ready 3>&- &
	busy_pid=$!
	wait_for test -s ready
	record_until "have_all $program $*" \
		weft record -p "$busy_pid" -F 1999 --trace-ids -o "$program.pb.gz"
	stop_busy
	cat got
}

# PROGRAM K…: each of these traces, and no trace, was sampled; what was, in `got`
have_all() {
	local k

	"$BATS_TEST_DIRNAME/traces.py" "$1.pb.gz" >got
	grep -q '^nothing - - ' got || return
	for k in "${@:2}"; do
		grep -qE "^(works_for|turns_to)_$k $(id "$k" 32) $(id "${k}a" 8) " got ||
			return
	done
}

@test "work on another thread has the trace of who asked for it, in C" {
	gcc -O1 -g -Wall -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread \
		-I"$BATS_TEST_DIRNAME/../../include" -o carried \
		"$BATS_TEST_DIRNAME/carried.c" $EXPORTED
	carries carried 1 2 4 5
	grep -q '^says_inner - - ' got
	grep -q '^nothing - - ' got
	[ "$(wc -l <got)" -eq 6 ]
}

@test "work on another thread has the trace of who asked for it, in C++20" {
	g++ -std=c++20 -O1 -g -Wall -fno-omit-frame-pointer -pthread \
		-I"$BATS_TEST_DIRNAME/../../include" -o carried_tasks \
		"$BATS_TEST_DIRNAME/carried_tasks.cpp"
	carries carried_tasks 1 2 5
	grep -q '^nothing - - ' got
	[ "$(wc -l <got)" -eq 4 ]
}
