#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The agent of a host that the lottery leaves out of an hour: it samples nothing, has
# nothing in the kernel, says so, and still delivers what waits.
# shellcheck disable=SC2154 # set by lib

load lib

rests() {
	ask /readyz && [ "$status" = 200 ] && grep -q 'this hour is for other hosts' got
}

@test "lottery: who is left out rests, says so, and delivers what waits" {
	start_server took
	kill -9 "$server"
	wait "$server" || true
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for are_waiting 2
	stop_agent
	local waiting
	waiting=$(find spool -name '*.pb.gz' | wc -l)
	start_server took
	# one host in a million
	start_agent --push "pyroscope=http://127.0.0.1:$port" --keep kept \
		--hosts-sampled 0.0001% --listen "unix:$PWD/agent.sock"
	wait_for rests
	wait_for has_taken took "$waiting"
	! find "/proc/$agent/fd" -printf '%l\n' | grep -E 'bpf|perf_event' || return 1
	grep -qE 'lottery: of 0.0001 % of the hosts this is none for the next [0-9]+ min' said
	ask /metrics
	[ "$(metric weft_resting)" = 1 ]
	[ "$(metric weft_stopped)" = 0 ]
	[ "$(metric weft_sampling_frequency_hertz)" = 0 ]
	ask '/debug/pprof/profile?seconds=1'
	[ "$status" = 503 ]
	ask /
	grep -q 'at 0 Hz, rests' got
	stop_agent
	cat said
	adds_up pyroscope
	[ "$(taken took)" = "$waiting" ]
	[ -z "$(find kept -name '*.weft')" ]
	grep -q '^weft agent: 0 windows' said
}

@test "lottery: of all hosts each one samples, and half of them are half" {
	start_agent --hosts-sampled 100% --keep kept
	wait_for are_kept 2
	stop_agent
	! grep lottery said || return 1
	# made hosts, by the label of their names
	local i won=0 n=24
	for ((i = 0; i < n; i++)); do
		"$WEFT" agent --hosts-sampled 50% --label hostname=made-$i --keep "made$i" \
			--spool "$PWD/spool" -d 1ms 2>"said$i" 3>&-
		grep -q 'lottery: of 50 %' "said$i" || won=$((won + 1))
	done
	echo "$won of $n"
	# 4 standard errors, and none of both
	[ $won -ge 3 ] && [ $won -le $((n - 3)) ]
}
