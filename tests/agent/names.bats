#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Names that weft agent finds elsewhere: below a folder, and at servers, for which no
# window waits.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib
load ../e2e/debug

start_burn() {
	./burn 3>&- >/dev/null 2>&1 &
	pids+=($!)
}

# Folds each recording that came since, once, beside it.
fold_new() {
	local file
	for file in kept/*.weft; do
		if [ ! -e "$file.folded" ] && weft report -o - "$file" >unread 2>/dev/null; then
			mv unread "$file.folded"
		fi
	done
}

# Is the last recording one with the function's name?
last_is_named() {
	local all
	fold_new
	all=(kept/*.folded)
	[ -e "${all[-1]}" ] && grep -qE '^burn;.*main;one' "${all[-1]}"
}

# N: so many recordings have the program, without the function's name
are_nameless() {
	fold_new
	run ! grep -qsE '^burn;.*main;one' kept/*.folded
	[ "$(grep -ls '^burn;.*burn!0x' kept/*.folded | wc -l)" -ge "$1" ]
}

@test "files with symbols below a folder that the configuration names" {
	build 3
	mkdir -p "symbols$PWD"
	mv whole "symbols$PWD/burn"
	rm whole.debug
	printf '[agent]\nsymfs = %s\n' "$PWD/symbols" >agent.ini
	start_burn
	start_agent -F 99 --keep "$PWD/kept" --config agent.ini
	wait_for last_is_named
	stop_agent
	refused "--symfs 'none'" agent --keep kept --symfs none
}

@test "debug files of servers come while windows go on, and are kept" {
	command -v python3 >/dev/null || skip "no python3"
	build 3
	mkdir served
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mv whole.debug "served/$id"
	serve late
	printf '[agent]\ndebuginfod = %s\n' "$url" >agent.ini
	start_burn
	start_agent -F 99 --keep "$PWD/kept" --unwind-cache "$PWD/cache" \
		--config agent.ini
	wait_for grep -qs "$id" served/asked
	wait_for are_nameless 3
	[ "$(grep -c "$id" served/asked)" -eq 1 ]
	touch served/go
	wait_for last_is_named
	stop_agent
	# and the next one finds it without a server
	rm -r kept served/asked
	start_agent -F 99 --keep "$PWD/kept" --unwind-cache "$PWD/cache" \
		--config agent.ini
	wait_for last_is_named
	stop_agent
	run ! grep -s "$id" served/asked
}

@test "an agent asks no server that only the environment names" {
	command -v python3 >/dev/null || skip "no python3"
	build 3
	mkdir served
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mv whole.debug "served/$id"
	serve well
	export DEBUGINFOD_URLS=$url
	start_burn
	start_agent -F 99 --keep "$PWD/kept" --unwind-cache "$PWD/cache"
	wait_for are_nameless 3
	stop_agent
	[ ! -e served/asked ]
	# unless it is to
	rm -r kept
	start_agent -F 99 --keep "$PWD/kept" --unwind-cache "$PWD/cache" --debuginfod env
	wait_for last_is_named
	stop_agent
	unset DEBUGINFOD_URLS
	refused 'DEBUGINFOD_URLS is not set' agent --keep kept --debuginfod env
	refused 'no folder for debug files' agent --keep kept --unwind-cache none \
		--debuginfod "$url"
}

# N: so many JITs, each with its dump; $jits is their group
start_jits() {
	# shellcheck disable=SC2016 # for the inner shell
	setsid sh -c 'for i in $(seq "$1"); do
			timeout --foreground -s KILL 120 "$0" dumps >"way.$i" &
		done
		wait' "$E2E_BIN/jitdump" "$1" 3>&- 2>/dev/null &
	jits=$!
	pids+=("$jits")
	wait_for are_on_their_way "$1"
	rm way.*
}

are_on_their_way() {
	[ "$(find . -maxdepth 1 -name 'way.*' -size +0 | wc -l)" -eq "$1" ]
}

# MIN MAX: so many descriptors of dumps has the agent: one as of any file that is mapped,
# until it is sure that nobody needs that, and one for the names
holds_dumps() {
	local n
	n=$(find "/proc/$agent/fd" -lname '*/dumps/jit-*' 2>/dev/null | wc -l)
	[ "$n" -ge "$1" ] && [ "$n" -le "$2" ]
}

a_jit_is_named() {
	fold_new
	grep -qsE '^jitdump;.*jit_(even|odd)' kept/*.folded
}

@test "a JIT is named by its dump, however many of its user came and went before" {
	start_agent -F 99 --keep "$PWD/kept"
	wait_for are_kept 1
	mkdir dumps
	start_jits 70
	kill -STOP -- "-$jits"
	wait_for holds_dumps $((70 + 64)) 140
	kill -KILL -- "-$jits"
	wait_for holds_dumps 0 70
	rm -f kept/*
	start_jits 1
	wait_for a_jit_is_named
	kill -KILL -- "-$jits"
	stop_agent
}
