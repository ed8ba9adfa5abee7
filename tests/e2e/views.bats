#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# One recording, read both ways: the stacks of a program are known by its making
# (tests/workloads/chain.c), and each view has all of its samples, and no others.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib

setup() {
	in_a_folder
	needs_recording
}

teardown() {
	kill_ours ${chain_pid-}
}

# PROGRAM ARG…: one of tests/workloads runs as $chain_pid
start_workload() {
	local top=$BATS_TEST_DIRNAME/../.. name=$1

	shift
	gcc -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -I"$top/include" \
		-I"$top/tests/workloads" -Wl,-z,now -o "$name" "$top/tests/workloads/$name.c" \
		-pthread
	rm -f ready
	"./$name" "$@" >ready 3>&- &
	chain_pid=$!
	wait_ready "$chain_pid" ready
}

# Three async callers over step(), three quarters of the time.
record_chain() {
	start_workload chain plain 20000 3
	record_while "$chain_pid" 1500 -F 1999 -p "$chain_pid" -o x.weft
	kill "$chain_pid"
}

# FILE: what its lines add up to
sum_of() {
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

@test "one recording, both views: exact, and of the same samples" {
	record_chain
	for view in async thread; do
		weft report x.weft --view $view --no-kernel -o $view.folded
	done
	total=$(weft report x.weft --json | jq .total)
	[ "$total" -gt 100 ]
	[ "$(sum_of async.folded)" -eq "$total" ]
	[ "$(sum_of thread.folded)" -eq "$total" ]
	# not one stack that cannot be; how the C library starts main is its own
	start='chain;_start;(_*libc_start[a-z_]*;)+main'
	grep -vE "^$start;dispatch(;step|;housekeeping)? [0-9]+\$" thread.folded && false
	grep -vE "^(chain;hop_000;hop_001;hop_002;--;(step|dispatch)|$start;dispatch(;housekeeping)?) [0-9]+\$" \
		async.folded && false
	# the work that was asked for is in both as often, and is most of it
	asked=$(grep -E ';hop_002;--;step ' async.folded | sum_of /dev/stdin)
	[ "$asked" -eq "$(grep -E ';dispatch;step ' thread.folded | sum_of /dev/stdin)" ]
	[ $((asked * 100)) -gt $((total * 60)) ]
	[ $((asked * 100)) -lt $((total * 90)) ]
}

# innermost() is inlined into middle(), that into outer()
@test "what was inlined, and lines, from debug information" {
	few=$BATS_TEST_DIRNAME/../inlines/few.c
	gcc -O2 -g -o few "$few"
	weft record -q -F 499 --inlines -o x.weft -- ./few
	total=$(weft report x.weft --json | jq .total)
	[ "$total" -gt 50 ]
	weft report x.weft --no-kernel -o - | grep ';main' >with
	grep -q ';main;outer;middle_\[i\];innermost_\[i\] ' with
	grep -q ';main;plain ' with
	grep -vE ';main(;outer(;middle_\[i\](;innermost_\[i\])?)?|;plain)? [0-9]+$' with && false
	# their weight stays with the function that holds their code
	weft report x.weft --no-kernel --no-inlines -o - | grep ';main' >without
	[ "$(sum_of with)" -eq "$(sum_of without)" ]
	grep -vE ';main(;outer|;plain)? [0-9]+$' without && false
	# other writers have the chain, too
	weft report x.weft --view thread -o x.speedscope.json
	jq -e '.shared.frames as $f | [.profiles[].samples[] | map($f[.].name) | join(";")]
		| any(endswith("main;outer;middle;innermost"))' x.speedscope.json
	weft report x.weft -o x.html
	grep -q '"innermost"' x.html
	# the loop of innermost() is in its lines, and called from middle()'s only
	line=$(grep -n 'sink += x' "$few" | head -1 | cut -d: -f1)
	call=$(grep -n 'innermost(x + 1)' "$few" | cut -d: -f1)
	weft report x.weft -o x.pb.gz
	gzip -dc x.pb.gz >x.pb
	command -v protoc || skip 'lines are looked at with protoc'
	proto=/usr/share/gocode/src/github.com/google/pprof/proto
	[ -f $proto/profile.proto ] || skip 'golang-github-google-pprof-dev is not there'
	protoc --decode=perftools.profiles.Profile -I$proto profile.proto <x.pb >text
	grep -qE "^    line: ($line|$((line - 1)))\$" text
	grep -qE "^    line: $call\$" text
	grep -q 'few.c' text
}

@test "that there is no debug information is told" {
	gcc -O2 -static -o few "$BATS_TEST_DIRNAME/../inlines/few.c"
	weft record -F 499 --user --inlines -o x.weft --stats-json stats -- ./few 2>said
	jq -e '.symbols | .inlines_sought > 0 and .inlines_found == 0' stats
	grep -q 'no file that ran has debug information' said
	gcc -O2 -static -g -o few "$BATS_TEST_DIRNAME/../inlines/few.c"
	weft record -F 499 --user --inlines -o x.weft --stats-json stats -- ./few 2>said
	jq -e '.symbols.inlines_found == 1' stats
	run ! grep -q 'debug information' said
}

# packed by a method of which there is no number 9: the program runs all the same
@test "debug information that can't be read is told, and costs no name" {
	gcc -O2 -g -gz -o few "$BATS_TEST_DIRNAME/../inlines/few.c"
	at=$(objdump -h few | awk '$2 == ".debug_info" { print $6 }')
	printf '\t' | dd of=few bs=1 seek=$((16#$at)) conv=notrunc status=none
	weft record -v -F 499 --inlines -o x.weft -- ./few 2>said
	grep -q "1 files' debug information could not be read" said
	grep -q 'inlined functions of .*/few: ' said
	weft report x.weft --no-kernel -o - | grep -q ';main;outer '
}

@test "one recording, both views: in each format that holds both" {
	record_chain
	total=$(weft report x.weft --json | jq .total)
	weft report x.weft -o x.speedscope.json
	[ "$(jq -c '[.profiles[] | .weights | add] | unique | length' x.speedscope.json)" -eq 1 ]
	# through every format that has one view, in each of them
	for view in async thread; do
		weft report x.weft --view $view -o $view.folded
		weft report x.weft --view $view -o $view.pb.gz
		for file in $view.folded $view.pb.gz; do
			weft report "$file" --top 0 --json >json
			[ "$(jq .total json)" -eq "$total" ]
			jq -r '.functions[] | [.name, .self, .total] | @tsv' json |
				sed 's/_\[k\]//' | sort >theirs
			weft report x.weft --view $view --top 0 --json |
				jq -r '.functions[] | [.name, .self, .total] | @tsv' | sort >ours
			diff ours theirs
		done
	done
}

# A chain that was cut lacks callers: each output says how many, and why.
@test "chains that were cut are told, and what raises the limit" {
	start_workload chain plain 20000 700
	record_while "$chain_pid" 300 -F 499 -p "$chain_pid" -o x.weft \
		--stats-json stats
	[[ $(<err) == *" chains were cut: more frames than the budget"* ]]
	[[ $(<err) == *"--max-frames raises the budget, up to 1024"* ]]
	jq -e '.chains.endings.budget > 20 and .ledger.oncpu.endings.budget == 0 and
		.views.async.endings.budget == .chains.endings.budget and
		.views.thread.complete > .views.async.complete and
		(.views.async.endings | add) == .samples.total' stats || { cat stats; false; }
	cut=$(jq .chains.endings.budget stats)
	weft report x.weft --json | jq -e ".ledger[\"chain.budget\"] == $cut"
	weft report x.weft -o x.pb.gz
	gunzip -c <x.pb.gz | grep -aq "chain.budget[ =:]*$cut"
	weft report x.weft -o x.html
	grep -q '"chain"' x.html
	grep -q "$cut" x.html
	# with all of its frames nothing is cut
	record_while "$chain_pid" 300 -F 499 -p "$chain_pid" -o y.weft \
		--stats-json stats --max-frames 1024
	[[ $(<err) != *" chains were cut"* ]]
	jq -e '.chains.endings.budget == 0 and .samples.async > 20' stats
}

@test "roots beyond the last that is followed are counted, and leave a gap" {
	start_workload levels 20000 70
	record_while "$chain_pid" 300 -F 499 -p "$chain_pid" -o out \
		--stats-json stats
	[[ $(<err) == *"have more than 64 async roots: a gap replaces the rest"* ]]
	jq -e '.samples.roots_cut > 20 and .views.async.gaps >= .samples.roots_cut and
		.views.async.complete == 0 and
		.views.thread.complete > 0.9 * .samples.total' stats || { cat stats; false; }
	grep -qF 'drive;loop;[missing frames];' out
}

@test "labels that cannot be read are counted, and shown as that" {
	start_workload label lost 20000
	record_while "$chain_pid" 300 -F 499 -p "$chain_pid" -o out \
		--stats-json stats
	[[ $(<err) == *" labels can't be read: their text is not in memory"* ]]
	jq -e '.samples.labels_unreadable > 20 and
		.samples.labels_unreadable <= .samples.async' stats || { cat stats; false; }
	grep -qF "hop_000;[a label that can't be read];hop_001;[retry];hop_002;--;" out
}

# Ten of eleven samples are entry;work;burn on the made stack; three of byhand's seven kinds
# end there. A tape without its end has no names and nothing that was found out from files:
# it shows what the walk said.
@test "the walk itself ends where a stack was made by hand" {
	for way in 'fiber alive .75' 'fiber gone .75' 'byhand each .3' 'byhand thread .3'; do
		read -r program mode least <<<"$way"
		start_workload "$program" "$mode" 60000
		record_while "$chain_pid" 500 -F 999 -p "$chain_pid" --tape whole -o named
		kill "$chain_pid"
		head -c $(($(stat -c %s whole) * 3 / 4)) whole >tape
		weft report -q --tape tape -o out || [ $? -eq 1 ]
		awk -v way="$way" -v least="$least" '/^(fiber|byhand);/ && !/_\[k\]/ {
				n = $NF; all += n
				short += split($1, frames, ";") - /\[cut\]/ == 4 ? n : 0
			}
			END {
				print way ": " short " of " all
				exit !(all > 100 && short > all * least)
			}' out
	done
}

# MODE ENDING OTHER: of the workload's samples most have this ending, and none the other
most_end() {
	start_workload wide "$1" 60000
	record_until 'jq -e ".views.thread.endings | add > 50" stats' \
		weft record -q -F 999 --comm wide -o out --stats-json stats
	kill "$chain_pid"
	jq -e ".views.thread.endings | .$2 > 50 and .$3 == 0" stats || {
		cat stats
		return 1
	}
}

@test "a thread's start is where that thread began, whatever lies between" {
	most_end thread start fiber
	most_end forked start fiber
	most_end near fiber start
}

@test "a function's part is below its callers" {
	[ "$(uname -m)" = x86_64 ] || skip "its code is x86-64's"
	weft record -q -F 999 --user --stats-json stats -o out -- \
		prlimit --cpu=1:9 "$E2E_BIN/part" || [ $? -eq 152 ]
	jq -e '.views.thread.endings.fiber == 0' stats
	# cut: before its table was there
	awk '/^part;.*dies\.cold/ && !/\[cut\]/ {
			all += $NF
			whole += /;main;fails;dies\.cold [0-9]+$/ ? $NF : 0
		}
		END { print whole " of " all; exit !(all > 100 && whole == all) }' out
}
