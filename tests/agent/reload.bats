#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# weft agent and whoever looks after it: a service manager that is told how it is, a
# configuration that is read again, the files that are installed for both.
# shellcheck disable=SC2154 # set by run

load lib

# FILE LINE N: it says so as often, or oftener
says() {
	[ "$(grep -cxE "$2" "$1" 2>/dev/null)" -ge "$3" ]
}

# NAME: a service manager that listens there, and writes into `told`
start_manager() {
	python3 "$BATS_TEST_DIRNAME/notify.py" "$1" told 3>&- &
	pids+=($!)
	wait_for test -e told
	export NOTIFY_SOCKET=$1
}

# RECEIVER…: agent.ini sends to them, each a folder of a server that was started
configure() {
	printf '[agent]\nlabel = team=%s\n' "$1" >new.ini
	shift
	local name
	for name; do
		printf '[receiver %s]\nkind = pyroscope\nurl = http://127.0.0.1:%s\n' \
			"$name" "$(<"$name.port")" >>new.ini
	done
	mv new.ini agent.ini
}

@test "SIGHUP: the new configuration, the old one if that is wrong, and the manager knows" {
	start_server one
	start_server two
	configure a one
	start_manager "@weft-test-$$-$RANDOM"
	export WATCHDOG_USEC=400000
	start_agent --config agent.ini
	wait_for says told READY=1 1
	wait_for says told WATCHDOG=1 3
	wait_for has_taken one 1
	# a line that it does not know: nothing changes
	cp agent.ini right.ini
	echo 'colour = red' >>agent.ini
	kill -HUP "$agent"
	wait_for says told READY=1 2
	grep -q 'agent.ini: line 6: unknown key' said
	grep -q 'what was read before stays' said
	local before
	before=$(taken one)
	wait_for has_taken one $((before + 2))
	[ "$(taken two)" = 0 ]
	# another label, and one more server; the same process goes on
	configure b one two
	kill -HUP "$agent"
	wait_for says told READY=1 3
	wait_for has_taken two 2
	[ "$(cat "/proc/$agent/comm")" = weft ]
	# nothing of the first one is left: one keeper
	[ "$(pgrep -c -P "$agent" -x weft-keeper)" = 1 ]
	stop_agent
	cat said told
	says told 'MONOTONIC_USEC=[0-9]+' 2
	[ "$(grep -xE 'RELOADING=1|READY=1|STOPPING=1' told | tr '\n' ' ')" = \
		'READY=1 RELOADING=1 READY=1 RELOADING=1 READY=1 STOPPING=1 ' ]
	# what was made was taken or waits, by both of its lives
	is_orderly one
	is_in_order one
	is_orderly two
	adds_up one
	adds_up two
	[ "$(grep -c '^weft agent: ' said)" = 2 ]
	[ "$(sed -nE 's/^  one .* of ([0-9]+) made.*/\1/p' said |
		awk '{ n += $1 } END { print n }')" = \
		$(($(taken one) + $(find spool/one -name '*.pb.gz' | wc -l))) ]
	jq -es 'map(.labels.team) | unique == ["a", "b"]' one/*.json
	jq -es 'map(.labels.team) | unique == ["b"]' two/*.json
}

@test "SIGHUP while a server hangs: it is not waited for without end, nothing is lost" {
	start_server one hang
	configure a one
	start_manager "$PWD/manager"
	start_agent --config agent.ini
	wait_for grep -qs hang one/requests
	local first
	first=$(find spool/one -name '*.pb.gz' -printf '%f\n' | sort | head -1)
	start_server one ok
	configure a one
	kill -HUP "$agent"
	wait_for says told READY=1 2
	wait_for has_taken one 3
	stop_agent
	cat said
	adds_up one
	is_orderly one
	is_in_order one
	[ "$(jq -r .id one/*.json | head -1)" = "$first" ]
}

@test "what is installed for systemd: the unit is right, and as tight as is said" {
	command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
	make -s -C "$BATS_TEST_DIRNAME/../.." install-units DESTDIR="$PWD/root" PREFIX=/usr
	local units=root/usr/lib/systemd/system unit=weft-agent.service
	! grep -q '@PREFIX@' "$units/$unit" || return 1
	# what it starts, and what it stands behind
	install -D "$(type -P true)" root/usr/bin/weft
	install -D "$(type -P true)" root/bin/kill
	cp /usr/lib/systemd/system/*.{target,slice} "$units"
	run systemd-analyze verify --man=no --root="$PWD/root" "/usr/lib/systemd/system/$unit"
	[[ $output != *weft-agent* ]] || { echo "$output"; return 1; }
	run -0 systemd-analyze security --offline=yes --threshold=30 --no-pager \
		"$PWD/$units/$unit"
	run -0 systemd-sysusers --dry-run "$PWD/root/usr/lib/sysusers.d/weft.conf"
}
