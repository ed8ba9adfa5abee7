# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# True stacks of code without frame pointers, from the tick to folded stacks, over a
# recording on disk: ours, which are walked in the tick, beside perf's, which copies
# 8 KB of stack at each and has perf script walk them.
#
# What perf's ticks cost in the kernel nobody counts, in its favour.

dwarf_by_weft() {
	local meter=$work/dwarf.meter report=$work/dwarf.report json=$work/dwarf.json

	"$bin/meter" -s "$dwarf_ms" -o "$meter" "$weft" record -q -F 99 \
		--event cpu-clock -o "$work/dwarf.weft" --stats-json "$json" \
		2>"$work/err" || return
	[ "$(figure "$meter" status)" = 0 ] || return
	"$bin/meter" -o "$report" "$weft" report "$work/dwarf.weft" --format folded \
		-o "$work/dwarf.folded" 2>"$work/err" || return
	[ "$(figure "$report" status)" = 0 ] || return
	samples=$(json_figure "$json" kept)
	cpu=$(($(figure "$meter" cpu_ns) + $(figure "$meter" all_run_ns) +
		$(figure "$report" cpu_ns)))
	cpu=$(calc "$cpu / $samples")
	bytes=$(calc "$(stat -c %s "$work/dwarf.weft") / $samples")
	lost=$(calc "100 * $(lost_by_weft "$json") / $samples")
}

# Both count the same ones: as they were noticed, and in sum at the end.
lost_by_perf() {
	perf script --show-lost-events -i "$work/perf.data" 2>/dev/null | awk '
	/PERF_RECORD_LOST lost/ { noticed += $NF }
	/PERF_RECORD_LOST_SAMPLES lost/ { sum += $NF }
	END { print (sum > noticed ? sum : noticed) + 0 }'
}

dwarf_by_perf() {
	local meter=$work/perf.meter

	has perf || return
	"$bin/meter" -s "$dwarf_ms" -o "$meter" \
		perf record -q -a --call-graph dwarf -F 99 -e cpu-clock \
		-o "$work/perf.data" >/dev/null 2>"$work/err"
	[ -s "$work/perf.data" ] && perf_to_folded || return
	samples=$(tail -1 "$work/perf.samples")
	[ "$samples" -gt 0 ] || return
	cpu=$(($(figure "$meter" cpu_ns) + $(figure "$work/script.meter" cpu_ns)))
	cpu=$(calc "$cpu / $samples")
	bytes=$(calc "$(stat -c %s "$work/perf.data") / $samples")
	lost=$(calc "100 * $(lost_by_perf) / $samples")
}

dwarf_round() {
	local samples cpu bytes lost ours

	if ! dwarf_by_weft; then
		say "weft failed: $(tail -1 "$work/err")"
		return 1
	fi
	ours=("$cpu" "$bytes" "$lost")
	if ! dwarf_by_perf; then
		cpu=- bytes=- lost=-
		no_perf=1
	fi
	round 'CPU a sample, beside perf dwarf' "${ours[0]}" "$cpu"
	round 'bytes on disk a sample, beside perf dwarf' "${ours[1]}" "$bytes"
	round 'samples lost, beside perf dwarf' "${ours[2]}" "$lost"
}

run_dwarf() {
	local no_perf=

	for _ in $(seq "$rounds"); do
		dwarf_round || return
	done
	row 'CPU a sample, beside perf dwarf' ns 0.05 ratio \
		"99 Hz, recording and report, on a load:$load_names"
	row 'bytes on disk a sample, beside perf dwarf' bytes 0.05 ratio
	row 'samples lost, beside perf dwarf' % 0.05 ratio "- where neither lost any"
	[ -z "$no_perf" ] || no_row 'perf' "not installed, or it did not run here"
}
