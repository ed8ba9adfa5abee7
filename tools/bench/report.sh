# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# What it takes to look at a recording: one of 64 CPUs at 99 Hz (tests/readers/
# generate makes it), in each format, beside perf script and a collapse. perf's
# cost a sample is measured on fewer of them, of the load at hand; it does not
# depend on how many they are.

# ns of CPU a sample, or "-"
perf_script_cost() {
	if ! has perf || ! perf record -q -a -g -F 499 -e cpu-clock \
		-o "$work/perf.data" -- sleep "$report_perf_s" >/dev/null 2>"$work/err" ||
		! perf_to_folded; then
		echo -
		return
	fi
	calc "$(figure "$work/script.meter" cpu_ns) / $(tail -1 "$work/perf.samples")"
}

# NAME COMMAND…: rounds of CPU a sample and of memory
report_costs() {
	local name=$1 meter=$work/report.meter
	shift

	for _ in $(seq "$rounds"); do
		"$bin/meter" -o "$meter" "$weft" report "$work/long.weft" "$@" \
			>/dev/null 2>"$work/err"
		[ "$(figure "$meter" status)" = 0 ] ||
			{ say "weft report failed: $(tail -1 "$work/err")"; return 1; }
		round "report: $name, a sample" \
			"$(calc "$(figure "$meter" cpu_ns) / $report_samples")" "$report_peer"
		round "report: $name, memory" "$(figure "$meter" rss_kb)" -
	done
	row "report: $name, a sample" ns 0.1 ratio
	row "report: $name, memory" kB 307200 ours
}

run_report() {
	local format bytes

	report_samples=$("$build/tests/readers/generate" "$work/long.weft" 64 99 \
		"$report_seconds") || return
	bytes=$(stat -c %s "$work/long.weft")
	report_peer=$(perf_script_cost)
	stop_loads # they were for perf
	round 'recording: bytes a sample' "$(calc "$bytes / $report_samples")" -
	row 'recording: bytes a sample' bytes 8 ours \
		"64 CPUs at 99 Hz, $report_seconds s, $report_samples samples"
	report_costs terminal || return
	for format in folded pprof html svg speedscope firefox weft; do
		report_costs "$format" --format "$format" -o "$work/report.out" || return
		rm -f "$work/report.out"
	done
	[ "$report_peer" != - ] || no_row 'perf' "not installed, or it did not run here"
}
