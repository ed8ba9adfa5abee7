# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # set by and for run
#
# Churn: programs that start and end, of which next to none is ever sampled. What each
# costs a profiler of the whole machine, at 19 Hz: it hears of a fork, an exec, some
# mappings and an end. perf writes these down and leaves the rest to perf report; weft
# agent finds the program's unwind tables, so that a sample of it would be whole.

# NAME COMMAND…: a round's figure of it, "-" if there is none
churn_by() {
	local profiler figure

	"${@:2}" >"$work/churn.$1" 2>&1 &
	profiler=$!
	sleep "$churn_settle_s"
	figure=$("$bin/churn" "$profiler" "$churn_rate" "$churn_programs" /bin/true \
		2>"$work/err") || figure=-
	kill -INT "$profiler"
	wait "$profiler"
	echo "$figure"
}

churn_round() {
	local ours peer=-

	ours=$(churn_by weft "$weft" agent -q --cpu-budget 100% \
		--keep "$work/churn.keep" --spool "$work/churn.spool" \
		--unwind-cache "$work/cache")
	! has perf || peer=$(churn_by perf perf record -q -a -F 19 -g \
		-o "$work/churn.data")
	round 'CPU a short program' "$ours" "$peer"
}

run_churn() {
	for _ in $(seq "$rounds"); do
		churn_round
	done
	row 'CPU a short program' ns - none \
		"/bin/true, $churn_rate a second, beside perf record at 19 Hz"
	has perf || no_row 'perf' "not installed"
}
