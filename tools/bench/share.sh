# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# What sampling costs the machine all day long: of all its CPU time, at 19 Hz, from the
# start to the written file. Beside it how many of the stacks were whole.
#
# All processes and BPF programs count. What ticks cost the kernel beside a program does
# not, for weft and for perf; of perf it is all that a tick costs, and its stacks are by
# frame pointer, without names.

# FILE of meter's: percent of all CPUs' time
share_of() {
	calc "100 * ($(figure "$1" cpu_ns) + $(figure "$1" all_run_ns)) / \
		($(figure "$1" wall_ns) * $(nproc))"
}

share_by_weft() {
	local json=$work/share.json

	"$bin/meter" -s "$share_ms" -o "$work/share.meter" "$weft" record -q -F 19 \
		--event cpu-clock -o "$work/share.weft" --stats-json "$json" \
		2>"$work/err" && [ "$(figure "$work/share.meter" status)" = 0 ] || return
	share_whole=$(whole_of "$json")
	figure "$work/share.meter" cpu_ns >"$work/share.weft.cpu"
	share_of "$work/share.meter" >"$work/share.weft.of"
}

share_by_perf() {
	has perf || return
	"$bin/meter" -s "$share_ms" -o "$work/share.meter" perf record -q -a -g -F 19 \
		-e cpu-clock -o "$work/share.data" >/dev/null 2>"$work/err"
	[ -s "$work/share.data" ] && share_of "$work/share.meter"
}

run_share() {
	local name="share of the machine, 19 Hz for $((share_ms / 1000)) s"

	for _ in $(seq "$rounds"); do
		if ! share_by_weft; then
			say "weft failed: $(tail -1 "$work/err")"
			return 1
		fi
		round "$name" "$(cat "$work/share.weft.of")" "$(share_by_perf || echo -)"
	done
	row "$name" % 0.15 ours \
		"$share_whole; the peer is perf record alone, whose ticks nobody counts"
}

# What is paid once, however short the recording.
run_start() {
	local name='CPU of a start and a stop' peer

	for _ in $(seq "$rounds"); do
		if ! share_ms=1000 share_by_weft; then
			say "weft failed: $(tail -1 "$work/err")"
			return 1
		fi
		peer=-
		! share_ms=1000 share_by_perf >/dev/null || peer=$(figure "$work/share.meter" cpu_ns)
		round "$name" "$(cat "$work/share.weft.cpu")" "$peer"
	done
	row "$name" ns 1.5e8 ours "19 Hz for 1 s; the peer is perf record alone"
}
