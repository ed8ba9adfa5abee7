# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # sourced by run and costs, which set $build
#
# A folder, recordings of the whole machine, and an ordinary user's attacks beside them.

# shellcheck source=tests/waits.bash
. "${BASH_SOURCE[0]%/*}/../waits.bash"

weft=$build/weft programs=$build/tests/e2e
attacker=64998 # a user id that nobody has
pids=()
SECRET=an_entry_of_a_file_that_is_roots_alone

work=$(mktemp -d /var/tmp/weft-attacks.XXXXXX)
attackers=$work/attackers
# What has ended is nobody's any more, or another's. The attacks take their maps away.
kill_running() {
	local running

	if [ -n "${making-}" ]; then
		kill "$making" 2>/dev/null
		wait "$making" 2>/dev/null
		making=
	fi
	mapfile -t running < <(jobs -pr)
	[ ${#running[@]} -eq 0 ] || kill -9 "${running[@]}" 2>/dev/null
	wait 2>/dev/null
}
finish() {
	kill_running
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

start() {
	"$@" &
	pids+=($!)
}

# NAME: a recorder of the whole machine, into $work/NAME.*; $recorder
start_recorder() {
	cd "$work" || exit
	start "$weft" record -v -F 499 -o "$1.folded" --tape "$1.tape" \
		--stats-json "$1.json" 2>"$1.err"
	recorder=${pids[-1]}
	wait_for grep -qs 'unwind tables: ' "$1.err"
}

# NAME: the agent instead, which asks for all that it can; its windows go to $work/NAME
start_agent() {
	cd "$work" || exit
	start "$weft" agent -v -F 499 --window 1s --cpu-budget 1000% --spool "$1.spool" \
		--keep "$1" --by-service --environment PATH,HOME --trace-ids \
		2>"$1.err" >"$1.out"
	recorder=${pids[-1]}
	wait_for grep -qs 'unwind tables: ' "$1.err"
}

# PID
is_over() {
	! kill -0 "$1" 2>/dev/null
}

# into $ended: its status
stop_recorder() {
	kill -INT "$recorder"
	ended=0
	wait_for is_over "$recorder" || return
	wait "$recorder" || ended=$?
}

# As newuidmap(1) does, which need not be there: ids for who asks.
lend_ids() {
	wait_for [ -s "$attackers/lend" ] >/dev/null &&
		echo "0 640000 1000" >"/proc/$(<"$attackers/lend")/uid_map"
}
all_said() {
	local attack
	for attack in "${attacks[@]}"; do
		[ -s "$attackers/said.$attack" ] || return
	done
}

prepare() {
	mkdir "$attackers"
	cp "$here"/attacks*.py "$programs/alpha" "$attackers"
	for _ in {1..9}; do
		echo "1000 7fffffffe000 $SECRET"
	done >"$work/secret"
	chmod 600 "$work/secret"
	chmod 755 "$work"
	chown $attacker "$attackers"
}

# NAME…: these attacks, or all of them
start_attacks() {
	start setpriv --reuid=$attacker --regid=$attacker --clear-groups \
		/usr/bin/python3 "$attackers/attacks.py" "$attackers" "$work/secret" "$@" \
		2>"$work/attackers.err"
	making=${pids[-1]}
}
