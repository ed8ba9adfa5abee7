#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The stop file of weft agent: while it exists nothing is sampled or sent, and nothing of
# weft is in the kernel.
# shellcheck disable=SC2154,SC2030,SC2031 # set by lib; what a test starts is its own

load lib

is_stopped() {
	ask /readyz && [ "$status" = 503 ] && grep -q 'the stop file exists' got
}

# SECONDS: while which no profile is taken
nothing_comes() {
	local before
	before=$(taken took)
	sleep "$1"
	[ "$(taken took)" = "$before" ]
}

# Of the agent and all that it started
has_in_kernel() {
	find "/proc/$agent/fd" -printf '%l\n' | grep -qE 'bpf|perf_event'
}

@test "while the stop file exists nothing is sampled or sent, and then again" {
	start_server took
	"$E2E_BIN/mild" >/dev/null 3>&- & # so each window has samples
	pids+=($!)
	start_agent -F 199 --push "pyroscope=http://127.0.0.1:$port" --keep kept \
		--listen "unix:$PWD/agent.sock" --stop-file "$PWD/stop"
	wait_for has_taken took 2
	has_in_kernel
	touch stop
	wait_for is_stopped
	! has_in_kernel || return 1
	grep -q "$PWD/stop exists: weft samples and sends nothing" said
	ask /metrics
	[ "$(metric weft_stopped)" = 1 ]
	[ "$(metric weft_sampling_frequency_hertz)" = 0 ]
	local windows
	windows=$(metric weft_windows_total)
	ask '/debug/pprof/profile?seconds=1'
	[ "$status" = 503 ]
	# once what was on its way has arrived, three windows' time brings nothing more
	local before kept
	wait_for nothing_comes 1
	before=$(taken took) kept=$(find kept -name '*.weft' | wc -l)
	nothing_comes 3
	[ "$(find kept -name '*.weft' | wc -l)" = "$kept" ]
	ask /metrics
	[ "$(metric weft_windows_total)" = "$windows" ]
	rm stop
	wait_for has_taken took $((before + 3))
	is_ready
	has_in_kernel
	ask /metrics
	[ "$(metric weft_stopped)" = 0 ]
	grep -q "$PWD/stop is gone: weft samples and sends again" said
	stop_agent
	cat said
	adds_up pyroscope
	is_orderly took
	is_in_order took
	# one profile a window, and one recording
	[ "$(weft report --json kept/* | jq .total)" = \
		"$(sed -nE 's/.* ([0-9]+) samples.*/\1/p' said)" ]
}

@test "a stop file at the start: nothing begins until it is gone" {
	start_server took
	"$E2E_BIN/mild" >/dev/null 3>&- & # so each window has samples
	pids+=($!)
	touch stop
	start_agent -F 499 --push "pyroscope=http://127.0.0.1:$port" \
		--listen "unix:$PWD/agent.sock" --stop-file "$PWD/stop"
	wait_for is_stopped
	! has_in_kernel || return 1
	rm stop
	wait_for has_taken took 1
	# and it ends when it is told to, without sending what waits
	touch stop
	wait_for is_stopped
	stop_agent
	cat said
	are_waiting 1
	adds_up pyroscope
	is_orderly took
}
