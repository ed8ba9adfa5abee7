#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is said to a command line, before anything is recorded.
# shellcheck disable=SC2154 # set by run

load lib

setup() {
	in_a_folder
}

# A folder that others must be able to enter, which they can't the test's own.
teardown() {
	[ -z "${folder-}" ] || rm -rf "$folder"
}

# WANTED WORD…: what _weft offers after these words, as bash splits them
offers() {
	# shellcheck disable=SC2016 # that bash expands it
	run bash -c '. ./words
		compopt() { [ "$*" != "-o nospace" ] || printf "no space:"; }
		COMP_WORDBREAKS=${breaks-$COMP_WORDBREAKS}
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_weft
		echo "${COMPREPLY[*]}"' weft "${@:2}"
	[ "$output" = "$1" ] || { echo "${*:2}: '$output', not '$1'"; return 1; }
}

@test "help goes to stdout, with status 0, by every road" {
	for words in "--help" "-h" "help" "record --help" "record -h" "help record" \
		"report --help" "doctor -h" "help doctor"; do
		# shellcheck disable=SC2086
		run --separate-stderr weft $words
		[ "$status" -eq 0 ]
		[[ $output == *Usage:*Examples:* ]]
		[ -z "$stderr" ]
	done
}

@test "help fits a terminal of 80 columns" {
	for command in record report doctor; do
		[ "$(weft help $command | expand | wc -L)" -le 80 ]
	done
}

@test "man pages have the options that weft has" {
	run "$BATS_TEST_DIRNAME/../../tools/man" --check "$WEFT"
	[ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "completions: every option, for each shell that is here" {
	for shell in bash zsh fish; do
		weft completion "$shell" >made
		for command in record report doctor; do
			for option in $(weft help $command | grep -oE -- '--[a-z-]+' |
				grep -v -- '--help' | sort -u); do
				grep -qE -- "(--|-l )${option#--}([^a-z-]|\$)" made ||
					{ echo "$shell: no $command $option"; false; }
			done
		done
		if command -v "$shell"; then "$shell" -n made; fi
	done
	run --separate-stderr weft completion tcsh
	[ "$status" -eq 2 ]
	[[ $stderr == *bash* ]]
}

@test "completion in bash: commands, options, words" {
	weft completion bash >words
	run bash -c '
		. ./words
		try() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _weft; echo "${COMPREPLY[*]}"; }
		try weft rec
		try weft report --vi
		try weft report --view th
		try weft record --duration ""'
	[ "${lines[0]}" = record ]
	[ "${lines[1]}" = --view ]
	[ "${lines[2]}" = thread ]
	[ -z "${lines[3]-}" ]
}

@test "completion in bash: the words that options and commands take" {
	keys='comm= pid= tid= container= host= module= function= time='
	weft completion bash >words
	offers "$FORMATS" weft record --format ''
	offers "$FORMATS" weft report --format ''
	offers "no space:$keys" weft report --filter ''
	offers 'no space:comm= container=' weft report --filter co
	offers '' weft report --filter comm =
	offers '' weft report --filter comm = s
	offers --view weft report --filter comm = s --vi
	offers 'record report agent doctor completion help' weft help ''
	offers '' weft help record ''
	offers 'bash zsh fish --help' weft completion ''
	offers zsh weft completion z
}

@test "completion in bash: words after an equals sign" {
	touch this
	weft completion bash >words
	offers 'async thread' weft report --view =
	offers thread weft report --view = t
	offers 'speedscope svg' weft record --format = s
	offers this weft report --output = t
	offers 'no space:pid=' weft report --filter = p
	offers '' weft report --filter = pid =
	offers '' weft report --filter = pid = t
	offers '' weft report --top = t
	offers '' weft report --json = t
	offers this weft report --view = thread t
	export breaks=$' \t\n'
	offers --view=thread weft report --view=t
	offers --output=this weft report --output=t
	offers '' weft report --filter comm=t
	offers this weft report --view=thread t
}

@test "completions: the same words for each shell" {
	for shell in bash zsh fish; do
		weft completion "$shell" | tr -d '=\n' >made
		for words in "$FORMATS" \
			'comm pid tid container host module function time' \
			'record report agent doctor completion help' 'bash zsh fish'; do
			grep -qF "$words" made || { echo "$shell: no $words"; false; }
		done
	done
}

@test "an output of unknown ending or format names those known" {
	refused 'no format has that ending' record -o x.pdf
	[[ $stderr == *.pb.gz* ]]
	refused 'no such format' record --format pprf
	[[ $stderr == *"did you mean pprof"* ]]
	echo 'a;b 1' >x.folded
	refused 'no format has that ending' report x.folded -o x.pdf
	refused 'also an input' report x.folded -o x.folded
	refused 'no KEY=VALUE' report x.folded --filter comm
	refused 'no such key' report x.folded --filter colour=red
}

@test "report: what other tools wrote, from files and from stdin" {
	printf 'sh;main;leaf 3\nsh;main 1\n' >x.folded
	weft report x.folded -o x.weft
	weft report x.weft x.folded -o - >sum
	diff sum - <<<$'sh;main 2\nsh;main;leaf 6'
	weft report x.weft --format pprof | weft report - -o - >same
	diff same <(sort x.folded)
	weft report x.folded --format weft | weft report - --json >json
	[ "$(jq .total json)" -eq 4 ]
	[ "$(jq '.functions[] | select(.name == "main") | .total' json)" -eq 4 ]
	[ "$(jq '.functions[] | select(.name == "main") | .self' json)" -eq 1 ]
	[ "$(jq '[.stacks[] | .self] | add' json)" -eq 4 ]
}

@test "report: after -- there are files, whatever they begin with" {
	echo 'sh;main 4' >-dash.folded
	echo 'sh;main 3' >x.folded
	weft report -o - -- -dash.folded >sum
	diff sum - <-dash.folded
	refused "cannot read '--'" report x.folded -- -dash.folded --
	weft report -o - x.folded -- -dash.folded - <<<'sh;main 2' >sum
	diff sum - <<<'sh;main 9'
	weft report -o - x.folded -- >sum
	diff sum x.folded
	refused 'nothing to report on' report --
	refused "cannot read '--json'" report -- --json
	refused "cannot read '--help'" report -- --help
}

@test "report: what is no recording, empty, or is met by no filter" {
	echo hello >hello
	run --separate-stderr weft report hello
	[ "$status" -eq 1 ]
	[[ $stderr == *"in no format that weft reads"* && $stderr == *"perf script"* ]]
	: >empty
	run --separate-stderr weft report empty
	[ "$status" -eq 0 ]
	[[ $stderr == *"the profile is empty"* ]]
	echo 'sh;main;leaf 3' >x.folded
	run --separate-stderr weft report x.folded --filter comm=shh
	[ "$status" -eq 0 ]
	[[ $stderr == *"did you mean 'sh'"* ]]
	run --separate-stderr weft report x.folded --caller leef
	[ "$status" -eq 1 ]
	[[ $stderr == *"did you mean 'leaf'"* ]]
}

@test "report: colours only on a terminal, and never with NO_COLOR" {
	echo 'sh;main;leaf_[k] 3' >x.folded
	weft report x.folded >plain
	run ! grep -q $'\033' plain
	script -qec "env -u NO_COLOR TERM=xterm $WEFT report x.folded" /dev/null >coloured
	grep -q $'\033' coloured
	script -qec "env NO_COLOR=1 TERM=xterm $WEFT report x.folded" /dev/null >asked
	run ! grep -q $'\033' asked
	for term in '-u TERM' TERM=dumb TERM=; do
		script -qec "env -u NO_COLOR $term $WEFT report x.folded" /dev/null >unknown
		run ! grep -q $'\033' unknown
	done
}

@test "report: a reader that goes away, and a disk that is full" {
	for i in $(seq 20000); do echo "sh;main;leaf_$i 1"; done >x.folded
	weft report x.folded --top 0 --least 0 2>err | head -1 >/dev/null
	[ ! -s err ] || [[ $(<err) == weft:* ]]
	run --separate-stderr weft report x.folded -o /dev/full
	[ "$status" -eq 1 ]
	[[ $stderr == *"No space"* ]]
}

@test "every option is in the help and in the man page" {
	man=$BATS_TEST_DIRNAME/../../docs/man
	for command in record report doctor; do
		for option in $(weft help $command | grep -oE '^ +(-., )?--[a-z-]+' |
			grep -oE -- '--[a-z-]+'); do
			grep -qF "Fl -${option#--}" "$man/weft-$command.1" ||
				{ echo "$command $option is not in its man page"; false; }
		done
	done
}

@test "--version" {
	run --separate-stderr weft --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^weft\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "stdout that is full is a failure" {
	for words in "--help" "--version" "help record" "doctor --json"; do
		run bash -c "$WEFT $words >/dev/full"
		[ "$status" -eq 1 ]
		[[ $output == *"can't write to stdout"* ]]
	done
}

@test "no command, unknown commands" {
	refused 'no command given'
	refused "unknown command 'recrod'" recrod
	[[ $stderr == *"did you mean weft record"* ]]
	refused "unknown command 'xyzzy'" xyzzy
	[[ $stderr != *"did you mean"* ]]
	refused "unknown command 'nope'" help nope
	for word in version -v; do
		refused "unknown .* '$word'" $word
		[[ $stderr == *"did you mean weft --version"* ]]
	done
	refused "unknown option '-p'" -p 1
	[[ $stderr == *"weft record -p"* ]]
}

@test "unknown options, with what was meant" {
	refused 'unknown option --frq' record --frq 99
	[[ $stderr == *"did you mean --freq"* ]]
	refused 'unknown option --dur' record --dur 1s
	[[ $stderr == *"did you mean --duration"* ]]
	refused 'unknown option -Z' record -Z
	refused 'unknown option --json' record --json
	refused "unexpected argument 'ls'" record ls
	[[ $stderr == *"after --: -- ls"* ]]
	refused "unexpected argument '1235'" record -p 1234 1235
	[[ $stderr == *"--pid 12,34"* ]]
	refused "unexpected argument '1234'" doctor 1234
	[[ $stderr == *"--pid 12,34"* ]]
}

@test "a hidden option is not offered" {
	run weft help record
	[[ $output != *inject-fault* ]]
	refused 'unknown option --inject-faul' record --inject-faul no-key
	[[ $stderr != *inject-fault\?* ]]
}

@test "values that are none" {
	refused "freq '0'" record -F 0
	refused "pid 'redis'" record -p redis
	[[ $stderr == *"\$(pgrep -d, NAME)"* ]]
	refused "freq 'x'" record -F x
	refused "freq '-1'" record -F -1
	refused "freq '1e3'" record --freq=1e3
	refused 'freq needs a value' record -F
	refused "duration '10x'" record -d 10x
	refused "duration '0'" record -d 0
	refused "duration '-5s'" record -d -5s
	refused "duration '1.2.3s'" record -d 1.2.3s
	refused "duration '99999999999999999999s'" record -d 99999999999999999999s
	refused "max-frames '8'" record --max-frames 8
	refused "max-frames '1025'" record --max-frames 1025
	refused "view 'thraed'" record --view=thraed
	refused "event 'clock'" record --event clock
	refused 'quiet takes no value' record --quiet=yes
	refused "output ''" record --output=
	refused "pid '1,,2'" record -p 1,,2
	refused 'comm is given twice' record --comm a -F 99 -F 999 --comm b
	refused 'output is given twice' report x.folded -o a.svg -o b.svg
	refused "pid '12x'" record -p 12x
}

@test "control characters in a value are not passed on to the terminal" {
	refused 'unknown option' record $'--\e[31mred'
	[[ $stderr != *$'\e'* ]]
	refused 'duration' record -d $'1\e[31ms\n'
	[[ $stderr != *$'\e'* ]]
}

@test "a rate above the kernel's" {
	most=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	refused "the kernel allows $most" record -F $((most + 1))
	[[ $stderr == *perf_event_max_sample_rate* ]]
}

@test "processes that can't be sampled" {
	refused 'no such process' record -p 99999999
	refused 'no such process' record -t 99999999
	kernel_thread=$(pgrep -x kthreadd || true)
	[ -z "$kernel_thread" ] || refused 'a kernel thread' record -p "$kernel_thread"
	refused 'no such process' doctor -p 99999999
}

@test "a zombie has ended" {
	python3 -c '
import os, sys, time
pid = os.fork()
if pid == 0: os._exit(0)
print(pid, flush=True)
time.sleep(100)' >pid 3>&- &
	wait_for test -s pid
	wait_for grep -q ') Z ' "/proc/$(cat pid)/stat"
	refused 'has ended' record -p "$(cat pid)"
	kill %1
}

@test "a thread is no process" {
	python3 -c '
import threading, time
t = threading.Thread(target=time.sleep, args=(100,))
t.daemon = True
t.start()
print(t.native_id, flush=True)
time.sleep(100)' >tid 3>&- &
	wait_for test -s tid
	refused 'a thread of process' record -p "$(cat tid)"
	kill %1
}

@test "things that can't be asked for together" {
	refused 'all and --pid' record -a -p $$
	refused 'all and --tid' record -a -t $$
	refused 'all and --comm' record -a --comm sh
	refused 'all and a command' record -a -- true
	refused 'pid and a command' record -p $$ -- true
	refused 'tid and a command' record -t $$ -- true
	refused 'pid and --tid' record -p $$ -t $$
	refused 'kernel and --user' record --kernel --user
	refused 'no command after' record --
	refused 'takes nothing after' doctor -- true
	refused '--tape and files' report --tape x -- true
}

@test "a name longer than the kernel keeps" {
	refused '15 bytes' record --comm sixteen-byte-nam
}

@test "cgroups that are none, or of version 1" {
	grep -q ' - cgroup2 ' /proc/self/mountinfo || skip "no cgroup v2 here"
	refused 'no such cgroup' record --cgroup /nowhere/at/all
	refused 'not a cgroup' record --cgroup /proc
	v1=$(awk '/ - cgroup / { print $5; exit }' /proc/self/mountinfo)
	[ -z "$v1" ] || refused 'version 1' record --cgroup "$v1"
}

@test "outputs that can't be made" {
	: >file
	mkdir folder
	refused 'folder does not exist' record -o nowhere/x.folded
	refused 'is a folder' record -o folder
	refused 'is a file' record -o file/x
	refused 'name the same file' record -o x --tape ./x
	refused 'output names the same file twice' record -o x.weft -o y.weft -o ./x.weft
	refused 'format of one output' record -o x.weft -o y.svg --format svg
	refused 'name the same file' record --tape x --stats-json x
	refused 'too long' record -o "$(printf 'x%.0s' {1..300})"
	refused 'folder does not exist' record --stats-json nowhere/x
	refused 'folder does not exist' record --tape nowhere/x
	[ ! -e x ]
}

@test "an output that we may not write" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	chmod 755 . folder 2>/dev/null || true
	mkdir ours
	cp "$WEFT" /tmp/weft-e2e.$$
	run as_nobody '' /tmp/weft-e2e.$$ record -o "$PWD/ours/x"
	rm -f /tmp/weft-e2e.$$
	[ "$status" -eq 2 ]
	[[ $output == *"permission"* || $output == *"can't be reached"* ]]
}

@test "a tape that is none" {
	refused 'nothing to report on' report
	refused 'No such file' report --tape nowhere
	mkdir folder
	refused 'is a folder' report --tape folder
	echo 'not a tape' >tape
	run --separate-stderr weft report --tape tape -o out
	[ "$status" -eq 1 ]
	[[ $stderr == weft:* ]]
	[ ! -e out ]
}

@test "doctor: a table, and the same as JSON" {
	run --separate-stderr weft doctor
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	table_status=$status
	[ -z "$stderr" ]
	[[ $output != *$'\e'* ]]
	[ "$(grep -cE '^(ok|limited|missing) ' <<<"$output")" -ge 20 ]
	run --separate-stderr weft doctor --json
	[ "$status" -eq "$table_status" ]
	jq -e '.probes | length >= 20' <<<"$output"
	jq -e '[.probes[] | select(.state != "ok") | .todo | length > 0] | all' <<<"$output"
	jq -e '[.probes[] | .state] - ["ok", "limited", "missing"] == []' <<<"$output"
}

@test "doctor colours a terminal, unless NO_COLOR says otherwise" {
	run script -qec "TERM=xterm $WEFT doctor" /dev/null
	[[ $output == *$'\e[3'* ]]
	run script -qec "TERM=xterm NO_COLOR=1 $WEFT doctor" /dev/null
	[[ $output != *$'\e'* ]]
	for term in '-u TERM' TERM=dumb TERM=; do
		run script -qec "env $term $WEFT doctor" /dev/null
		[[ $output != *$'\e'* ]]
	done
}

@test "doctor names the capabilities that an ordinary user lacks" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	cp "$WEFT" /tmp/weft-e2e.$$
	run as_nobody '' /tmp/weft-e2e.$$ doctor
	[ "$status" -eq 3 ]
	[[ $output == *"CAP_BPF and CAP_PERFMON are missing"* ]]
	run as_nobody ,+bpf /tmp/weft-e2e.$$ doctor
	[ "$status" -eq 3 ]
	[[ $output == *"CAP_PERFMON is missing"* ]]
	rm -f /tmp/weft-e2e.$$
}

@test "the binary is hardened, and what is not is noticed" {
	[[ ${SAN-} ]] && skip "a sanitizer brings its own"
	tools=$BATS_TEST_DIRNAME/../../tools
	"$tools/hardening" "$WEFT"
	echo 'int main(void) { return 0; }' >soft.c
	gcc -no-pie -fno-stack-protector -z norelro -z execstack -o soft soft.c
	run "$tools/hardening" ./soft
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 6 ]
}

# setcap gives them to whoever starts weft, for whatever command
@test "weft report reads no file that its user may not read" {
	[ "$(id -u)" -eq 0 ] || skip "only root can make such a weft"
	folder=$(mktemp -d /tmp/weft-e2e.XXXXXX) # removed by teardown
	# nobody else is to start it
	install -m 700 -o 65534 "$WEFT" "$folder/weft"
	chown 65534 "$folder"
	setcap cap_dac_read_search+ep "$folder/weft" || skip "no file capabilities here"
	echo 'main;secret 1' >"$folder/theirs"
	chmod 600 "$folder/theirs"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/weft" report \
		"$folder/theirs"
	[ "$status" -eq 2 ]
	[[ $output != *secret* ]]
	[[ $output == *"no permission to read it"* ]]
}
