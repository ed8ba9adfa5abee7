#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Code that lies on one frame, which its host says or is known for.
# shellcheck disable=SC2154 # set by faults.bash

load lib
load faults
load shapes

needs_x86() {
	[ "$(uname -m)" = x86_64 ] || skip "it is walked on x86-64 alone"
}

# NAME COMMAND…: into NAME.folded, once tables are there and all is compiled
record_hosted() {
	local name=$1
	shift

	start "$@"
	await_tables "$last_pid" 2s
	weft_in_time record -q -p "$last_pid" -F 1999 -d 4s -o "$name.folded" \
		--stats-json "$name.json"
	stop_all
}

# JSON: nearly nothing is cut. Where the code is entered and left, a few samples are.
is_whole() {
	jq -e '.views.thread.endings | .broken + .unreadable + .fp_zero <= .start / 200' "$1"
}

@test "hosted: PHP's JIT has the callers that its interpreter has" {
	local mode php=(php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M)

	needs_x86
	"${php[@]}" -d opcache.jit=function -r \
		'exit(empty(opcache_get_status()["jit"]["on"]) ? 1 : 0);' || skip "no PHP with a JIT"
	for mode in off function tracing; do
		record_hosted "$mode" "${php[@]}" -d "opcache.jit=$mode" \
			"$BATS_TEST_DIRNAME/hosted.php" 60
		shapes_of "$mode.folded" '^execute_ex$|[[]jit[]]' >"$mode.shapes"
	done
	head -n 20 ./*.shapes
	for mode in function tracing; do
		# all ways through the program were met
		grep -q 'zend_insert_sort' "$mode.shapes"
		grep -q 'zend_generator_resume;L$' "$mode.shapes"
		grep -q 'zend_objects_destroy_object' "$mode.shapes"
		awk '/\[jit\]/ { n += $NF } END { exit n < 1000 }' "$mode.folded"
		knows_shapes off.shapes "$mode.shapes"
		is_whole "$mode.json"
	done
}

@test "hosted: Ruby's YJIT has each of its callers" {
	needs_x86
	ruby --yjit -e 'exit RubyVM::YJIT.enabled?' || skip "no Ruby with YJIT"
	record_hosted ruby ruby --yjit "$BATS_TEST_DIRNAME/hosted.rb" 60
	awk '/\[jit\]/ { n += $NF } END { exit n < 1000 }' ruby.folded
	# who is busy has all that lie above: C, and Ruby that it called, eight times
	awk '{
		n = $NF
		sub(/ [0-9]+$/, "")
		levels = gsub(/;rb_ary_each;rb_yield;rb_vm_exec;\[jit\]/, "")
		sum[levels] += n
		all += n
	} END {
		for (levels in sum)
			print sum[levels], "samples with", levels
		exit sum[8] < 0.9 * all
	}' ruby.folded
	# and nobody called in another way
	awk '/;rb_yield;\[jit\]/ { n += $NF } END { exit n > 0 }' ruby.folded
	is_whole ruby.json
}

# Such a script that ShellCheck is busy for a while.
# shellcheck disable=SC2016 # for the script's shell
write_script() {
	seq "$1" | sed 's/.*/f&() {\n\tlocal a=$1 b\n\tfor b in "${a[@]}"; do\n\t\t[ $b -gt & ] '\
'\&\& echo $((b * &)) "$(f& $b)" | sed "s\/x\/&\/"\n\tdone\n}/'
}

@test "hosted: Haskell's code in a stripped file has the callers of who entered it" {
	needs_x86
	write_script 1500 >script.sh
	record_hosted haskell shellcheck -s bash script.sh
	# the scheduler, by which all of it is entered, has one way from main()
	awk '{
		n = $NF
		split($0, frames, ";")
		way = ""
		for (i = 2; i <= 7; i++)
			way = way ";" frames[i]
		sum[way] += n
		all += n
		if (sum[way] > sum[most])
			most = way
	} END {
		print sum[most], "of", all, most
		exit all < 1000 || sum[most] < 0.98 * all || most !~ /;__libc_start_call_main;/
	}' haskell.folded
	is_whole haskell.json
}

# FILE: nearly all that runs generated code has one way from its thread's start to there,
# and there is much of it
has_one_way() {
	awk '{
		n = $NF
		sub(/^[^;]*;/, "")
		if (!sub(/;[^;]*_\[j\].*/, ""))
			next
		sum[$0] += n
		all += n
		if (sum[$0] > sum[most])
			most = $0
	} END {
		print sum[most], "of", all, "by", most
		exit all < 1000 || sum[most] < 0.995 * all || most !~ /;start_thread;/
	}' "$1"
}

@test "hosted: Erlang's code has the callers of its processes, or of their scheduler" {
	needs_x86
	command -v erlc || skip "no Erlang"
	erlc "$BATS_TEST_DIRNAME/ways.erl"
	# its processes' stacks can't be told, but who runs them
	record_hosted unnamed erl -noshell -s ways main
	has_one_way unnamed.folded
	is_whole unnamed.json

	record_hosted named erl +JPperf true -noshell -s ways main
	has_one_way named.folded
	is_whole named.json
	jq -e '.samples | .unproven <= .total / 200' named.json
	awk '{
		n = $NF
		way = ""
		for (i = split($0, frames, ";"); i > 0; i--)
			for (j = split("loop/1 one/2 two/2_ two/2-lc kind/3_ thrower/1 " \
					"down/1", names, " "); j > 0; j--)
				if (frames[i] ~ "^ways:.*" names[j])
					way = j way
		if (way == "")
			next
		sum[way] += n
		all += n
	} END {
		for (way in sum)
			if (way !~ /^1(2(3(4+(5(6*|7*))?)?)?)?$/) {
				print sum[way], "of", all, "by way", way
				false_ += sum[way]
			}
		exit all < 1000 || false_ > all / 200
	}' named.folded
	# C that it calls, on the thread's own stack
	awk '/ways:kind\/3.*_\[j\];ets_insert/ { n += $NF } END { exit n < 10 }' named.folded
}
