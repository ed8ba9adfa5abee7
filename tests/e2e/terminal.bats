#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What weft does for the person at a terminal, and for who comes from perf.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib

setup() {
	in_a_folder
}

# COMMAND: at a terminal of 60 columns, what it shows in `shown`
at_terminal() {
	NO_COLOR=1 script -qec "stty cols 60; $1" /dev/null </dev/null | tr -d '\r' >shown
}

@test "report: rows are cut to the terminal's width, and nowhere else" {
	long=$(printf 'n%.0s' {1..90})
	printf 'comm;a;%sy 3\ncomm;a;%sz 4\n' "$long" "$long" >x.folded
	weft report x.folded | grep -q "${long}y"
	at_terminal "$WEFT report x.folded"
	grep -qE 'n…n+y$' shown
	grep -qE 'n…n+z$' shown
	run ! grep -q "$long" shown
	# the whole row is used, and no more
	sed 's/…/./' shown | awk 'length($0) > 60 { print; exit 1 }
		length($0) == 60 { n++ } END { exit n < 4 }'
	at_terminal "$WEFT report --long-names x.folded"
	grep -q "${long}y" shown
}

@test "report: a pager at a terminal, and only there" {
	printf 'comm;main;leaf 3\n' >x.folded
	export TERM=xterm PAGER="tr a-z A-Z >paged; cat >/dev/null"
	at_terminal "env -u WEFT_PAGER $WEFT report x.folded"
	grep -q 'MAIN' paged
	run ! grep -q . shown
	# ours goes before
	at_terminal "WEFT_PAGER='sed s/leaf/seen/' $WEFT report x.folded"
	grep -q 'seen' shown
	# none is wanted
	for none in 'WEFT_PAGER=' 'WEFT_PAGER=cat' '-u WEFT_PAGER TERM=dumb'; do
		rm -f paged
		at_terminal "env $none $WEFT report x.folded"
		grep -q 'leaf' shown
		[ ! -e paged ]
	done
	# less leaves what fits the screen, and the terminal, as it is
	if command -v less >/dev/null; then
		at_terminal "stty rows 40; env -u WEFT_PAGER -u PAGER $WEFT report x.folded"
		grep -q 'leaf' shown
	fi
	# data, and mistakes, are for nobody's pager
	env -u WEFT_PAGER "$WEFT" report x.folded | grep -q leaf
	at_terminal "env -u WEFT_PAGER $WEFT report --json x.folded"
	grep -q leaf shown
	at_terminal "env -u WEFT_PAGER $WEFT report none.weft; echo \$?"
	grep -q '^2$' shown
	[ ! -e paged ]
}

@test "record: progress fits the terminal, and leaves it to a command" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	needs_recording
	script -qec "stty cols 20; $WEFT record -d 1500ms -o out" /dev/null \
		</dev/null 2>&1 | tr '\r' '\n' >shown
	grep -qE '^ +[0-9]+ s  [0-9]+ sam' shown
	run ! grep -q 'per second' shown
	script -qec "$WEFT record -o out -- sleep 1.5" /dev/null </dev/null >shown 2>&1
	grep -q 'written' shown
	run ! grep -q 'per second' shown
}

@test "what users of other profilers type is explained" {
	refused "unknown command 'top'" top
	[[ $stderr == *"weft record -d 5s && weft report"* ]]
	refused "unknown command 'diff'" diff a b
	[[ $stderr == *"pprof -diff_base"* ]]
	refused '-g: .*always records callers' record -g
	refused '--call-graph: .*always records callers' record --call-graph=dwarf
	refused '-e: .*--event cycles' record -e cycles
	refused '-i: give the file alone' report -i perf.data
	refused '--rate: say --freq' record --rate 99 # samply, py-spy
	refused '-f: say --output x.folded' record -F 99 -f # bcc
	refused '--sort: say --group-by' report --sort=comm
	refused '--comm: say --filter comm=' report --comm redis
	refused '--node: say --label node=' agent --node n # parca-agent
	refused '--remote-store-address: say --push' agent --remote-store-address=h:1
	printf 'PERFILE2\0\0\0\0\0\0\0\0' >perf.data
	run --separate-stderr weft report perf.data
	[ "$status" -eq 1 ]
	[[ $stderr == *'perf script -i perf.data | weft report -'* ]]
}

@test "record -p: children that it leaves out are told" {
	needs_recording
	sh -c 'sh -c "sleep 9; :" & sh -c "sleep 9; :" & echo $! >child; wait' 3>&- &
	pids=$!
	wait_for test -s child
	wait_for eval "[ \"\$(cat /proc/$(cat child)/comm)\" = sh ]"
	run --separate-stderr weft record -p $pids -d 50ms -o out
	[ "${stderr_lines[0]}" = \
		"weft: process $pids (sh) has 2 child processes, which -p leaves out" ]
	[ "${stderr_lines[1]}" = "      to sample them, too: -p $pids,\$(pgrep -d, -P $pids);`
		` and those that start later: --comm sh" ]
	# as advised, nobody is left out but the grandchildren
	run --separate-stderr weft record -p "$pids,$(pgrep -d, -P $pids)" -d 50ms -o out
	[[ $stderr == *"weft: process $(pgrep -o -P $pids) (sh) has 1 child process,"* ]]
	run --separate-stderr weft record -q -p $pids -d 50ms -o out
	[ -z "$stderr" ]
	kill $(pgrep -d' ' -P "$(pgrep -d, -P $pids)") $(pgrep -P $pids)
	wait $pids || true
}
