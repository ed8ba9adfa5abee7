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
	[ -z "${chain_pid-}" ] || kill "$chain_pid" 2>/dev/null || true
}

# Three async callers over step(), three quarters of the time.
record_chain() {
	local top=$BATS_TEST_DIRNAME/../..

	gcc -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -I"$top/include" \
		-I"$top/tests/workloads" -Wl,-z,now -o chain "$top/tests/workloads/chain.c" \
		-pthread
	./chain plain 20000 3 >ready 3>&- &
	chain_pid=$!
	for _ in {1..50}; do
		[ -s ready ] && break
		sleep 0.1
	done
	weft record -q -F 1999 -p $chain_pid -d 3s -o x.weft
	kill $chain_pid
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
