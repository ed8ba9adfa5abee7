#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Each process of weft agent, taken over: what it could do (intrude.c has it try).
# shellcheck disable=SC2154 # set by lib

load lib

setup_file() {
	[ "$(uname -m)" = x86_64 ] || skip "it makes calls by x86-64's registers"
}

# COMM: a process of the agent's, of that name; one that was killed has a successor
one_of() {
	local pid
	for pid in $(below "$agent"); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] || continue
		echo "$pid"
		return 0
	done
	return 1
}

# PID: and all that it has started
below() {
	local child children=()
	read -ra children 2>/dev/null <"/proc/$1/task/$1/children" || true
	for child in ${children[@]+"${children[@]}"}; do
		echo "$child"
		below "$child"
	done
}

# COMM TRY [WHAT]: what came of it, in $answer, from one that could be stopped within a
# call; agent: itself
tries() {
	local pid
	if [ "$1" = weft ]; then
		pid=$agent
	else
		pid=$(one_of "$1") || return
	fi
	answer=$(timeout 10 "$E2E_BIN/intrude" "$pid" "${@:2}" 2>>intruded)
}

# COMM TRY [WHAT]: it can't
cannot() {
	wait_for tries "$@"
	echo "$*: $answer"
	[ "$answer" != yes ]
}

can() {
	wait_for tries "$@"
	echo "$*: $answer"
	[ "$answer" = yes ]
}

@test "a process that was taken over has no more than its work needs" {
	local who
	echo secret >secret
	chmod 600 secret
	# a server that never answers, so the sender waits
	start_server server hang
	start_agent --by-service --push "pyroscope=http://127.0.0.1:$port" \
		--listen "unix:$PWD/agent.sock"
	wait_for is_ready
	wait_for grep -qs hang server/requests
	# what these calls come to where nothing forbids them: in the agent's own process
	can weft read "$PWD/secret"
	can weft write "$PWD/written"
	can weft socket
	can weft bpf
	can weft perf
	can weft memory "$server"
	can weft kill "$server"
	for who in weft-keeper weft-sender weft-listener weft-supervisor weft-parser; do
		cannot "$who" read "$PWD/secret"
		cannot "$who" read /etc/shadow
		cannot "$who" read "/proc/$agent/mem"
		cannot "$who" read "/proc/$agent/environ"
		cannot "$who" write "$PWD/spool/written"
		cannot "$who" bpf
		cannot "$who" perf
		cannot "$who" memory "$agent"
		cannot "$who" memory "$server"
		cannot "$who" trace "$agent"
		cannot "$who" kill "$agent"
	done
	# what parses, and what answers, reads nothing and opens nothing by itself
	for who in weft-listener weft-parser; do
		cannot "$who" read /etc/hostname
		cannot "$who" socket
	done
	# what sends has the network, and runs and writes nothing
	can weft-sender socket
	for who in weft-sender weft-listener weft-parser; do
		cannot "$who" write /tmp/weft-intruder
		cannot "$who" run /bin/true
	done
	# what opens others' files has our right to read them, and no other
	can weft-opener read "$PWD/secret"
	can weft-opener memory "$server"
	for who in trace kill; do
		cannot weft-opener "$who" "$agent"
	done
	cannot weft-opener socket
	cannot weft-opener bpf
	cannot weft-opener perf
	cannot weft-opener run /bin/true
	cannot weft-opener write "$PWD/spool/written"
	cannot weft-opener write /tmp/weft-intruder
	[ ! -e spool/written ]
	[ ! -e /tmp/weft-intruder ]
	# and the agent did not mind
	ask /metrics
	[ "$(metric weft_windows_total)" -ge 1 ]
	kill -9 "$agent"
}
