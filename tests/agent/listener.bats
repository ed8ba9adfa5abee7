#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What an agent answers over HTTP: its numbers, which add up, a page, and profiles of the
# seconds that somebody asks for. Who answers has nothing but its sockets.
# shellcheck disable=SC2030,SC2031,SC2154 # set by lib, and by start_agent for one test

load lib

@test "metrics: well formed, and they add up" {
	start_server busy 503
	start_agent -F 99 --push "pyroscope=http://127.0.0.1:$port" --spool-size 20K \
		--listen "unix:$PWD/agent.sock"
	wait_for is_ready
	[ "$(stat -c %a agent.sock)" = 600 ]
	wait_for grep -q 'dropped undelivered' said
	wait_for grep -q 'try 1 failed' said
	ask /metrics
	cat got
	# each family: HELP, TYPE, then its values; counters are called so
	awk '/^# HELP / { family = $3; next }
		/^# TYPE / { bad += $3 != family || ($4 == "counter") != (family ~ /_total$/); next }
		{ name = $1; sub(/{.*/, "", name); bad += name != family || NF != 2
			bad += seen[$1]++ }
		END { exit bad || NR < 40 }' got
	# what was made is delivered, waits, was refused or dropped
	[ "$(($(metric 'weft_receiver_made_total{receiver="pyroscope"}') +
		$(metric 'weft_receiver_found_total{receiver="pyroscope"}')))" = \
		"$(($(metric 'weft_receiver_delivered_total{receiver="pyroscope"}') +
			$(metric 'weft_receiver_spool_profiles{receiver="pyroscope"}') +
			$(metric 'weft_receiver_refused_total{receiver="pyroscope"}') +
			$(metric 'weft_receiver_dropped_total{receiver="pyroscope"}')))" ]
	[ "$(metric 'weft_receiver_dropped_total{receiver="pyroscope"}')" -gt 0 ]
	[ "$(metric 'weft_receiver_up{receiver="pyroscope"}')" = 0 ]
	[ "$(metric weft_samples_total)" = "$(metric 'weft_ticks_total{outcome="kept"}')" ]
	[ "$(metric process_resident_memory_bytes)" -gt 1000000 ]
	ask /healthz
	[ "$status" = 200 ]
	ask /
	grep -q pyroscope got
	ask /window.html
	grep -q '</html>' got
	ask /etc/passwd
	[ "$status" = 404 ]
	ask /metrics -X POST -d x
	[ "$status" = 405 ]
	stop_agent
	cat said
	adds_up pyroscope
	[ ! -e agent.sock ]
}

# URL VIEW: a profile of that view, with all functions of the program
brings_all() {
	curl -sS -o "$2.pb.gz" "$1" || return
	go tool pprof -comments "$2.pb.gz" | grep -q "the $2 view" || return
	[ "$(weft report -o - "$2.pb.gz" | grep '^turns' | grep -o 'do_[a-d]' | sort -u |
		wc -l)" = 4 ]
}

@test "a profile of the next seconds, by either view, for go tool pprof as well" {
	"$E2E_BIN/turns" 600000 >/dev/null 3>&- &
	pids+=($!)
	# its own windows are longer
	start_agent -F 499 --window 60s --listen 127.0.0.1:0 -v
	wait_for grep -q 'listens at' said
	local at
	at=$(sed -n 's/.*listens at //p' said)
	# two at a time, until each has a second in which the program had a CPU
	wait_for brings_all "http://$at/debug/pprof/profile?seconds=2" async >words 2>&1 &
	local first=$!
	wait_for brings_all "http://$at/debug/pprof/profile?seconds=1&view=thread" thread
	wait $first || { cat words; false; }
	[ "$(curl -s -o /dev/null -w '%{http_code}' "http://$at/debug/pprof/profile?seconds=601")" = 400 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "http://$at/debug/pprof/profile?view=x")" = 400 ]
	# a page of another site that has its name point here
	[ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "http://$at/")" = 421 ]
	stop_agent
}

@test "who answers has its sockets and nothing else, and another one takes its place" {
	start_agent --listen "unix:$PWD/agent.sock"
	wait_for is_ready
	local child
	child=$(pgrep -P "$(pgrep -P "$agent" -x weft-keeper)" -x weft-listener)
	grep -qE '^Uid:(\s+65534){4}$' "/proc/$child/status"
	grep -qE '^CapEff:\s+0+$' "/proc/$child/status"
	grep -qE '^NoNewPrivs:\s+1$' "/proc/$child/status"
	grep -qE '^Seccomp:\s+2$' "/proc/$child/status"
	! find "/proc/$child/fd" -printf '%l\n' | grep -vE '^(/dev/null|socket:.*|anon_inode:.*event.*|)$' || return 1
	kill -9 "$child"
	wait_for is_ready
	ask /metrics
	[ "$(metric weft_listener_restarts_total)" = 1 ]
	stop_agent
}

@test "who holds all connections and all places keeps nobody from asking" {
	start_agent --listen 127.0.0.1:0 -v
	wait_for grep -q 'listens at' said
	local port
	port=$(sed -n 's/.*listens at .*://p' said)
	wait_for curl -sf -m 60 -o got "http://127.0.0.1:$port/readyz" # it listens first
	python3 "$BATS_TEST_DIRNAME/holders.py" "$port" >holders 3>&- &
	pids+=($!)
	wait_for grep -q there holders
	for page in healthz readyz metrics; do
		[ "$(curl -s -m 60 -o got -w '%{http_code}' "http://127.0.0.1:$port/$page")" = 200 ]
	done
	grep -q '^weft_listener_restarts_total 0' got
	stop_agent
}

@test "a token is asked for where other machines could ask" {
	run weft agent --listen 0.0.0.0:0 --check-config
	[ "$status" -eq 2 ]
	[[ $output == *'other machines reach it'* ]]
	for wrong in localhost :9464 127.0.0.1:99999 127.0.0.1:0x1; do
		run weft agent --listen $wrong --check-config
		[ "$status" -eq 2 ]
		[[ $output == *'is no address to listen at'* ]]
	done
	weft agent --listen localhost:9464 --check-config
	echo s3cret >token
	chmod 600 token
	start_agent -v --listen 0.0.0.0:0 --listen-token-file token
	wait_for grep -q 'listens at' said
	local port
	port=$(sed -n 's/.*listens at .*://p' said)
	code() {
		curl -s -o got -w '%{http_code}' "http://127.0.0.1:$port/metrics" "$@"
	}
	[ "$(code)" = 401 ]
	[ "$(code -H 'Authorization: Bearer s3cre')" = 401 ]
	[ "$(code -H 'Authorization: Bearer s3creT')" = 401 ]
	[ "$(code -H 'Authorization: Bearer s3cret')" = 200 ]
	stop_agent
}
