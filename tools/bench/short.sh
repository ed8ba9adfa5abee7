# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # set by and for run
#
# Short lives: a loop of compilations and small programs, each of which maps its
# libraries anew and is gone milliseconds later. How many of the loop's stacks do
# not reach their thread's start (as complete.sh tells), beside perf's by frame
# pointers; how many are proven, by our own account; and how long it takes from a
# new mapping until the ticks know all about it.
#
# The loop is the profiled command, so nobody else's samples count.

short_loop() {
	cat >"$work/short.c" <<-end
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			for (int i = 0; i < argc; i++)
				printf("%s %zu\n", argv[i], strlen(argv[i]));
			return atoi(argv[0]);
		}
	end
	cat >"$work/short.bash" <<-end
		cd "$work"
		until [ \$SECONDS -ge $((short_ms / 1000)) ]; do
			gcc -O1 -c short.c -o short.o
			ls -l /usr/bin >short.out
			/bin/true
			sh -c 'echo x | cat' >short.out
		done
	end
}

short_by_weft() {
	"$weft" record -q -F "$short_hz" --event cpu-clock --view thread \
		--stats-json "$work/short.json" -o "$work/short.folded" \
		-- bash "$work/short.bash" 2>"$work/err" &&
		weft_roots "$work/short.folded" >"$work/roots.weft"
}

short_by_perf() {
	perf record -q --call-graph fp -F "$short_hz" -e cpu-clock \
		-o "$work/short.data" -- bash "$work/short.bash" \
		>/dev/null 2>"$work/err" &&
		perf_roots "$work/short.data" >"$work/roots.fp"
}

# PEER: per cent of its stacks that reach no start, whoever's they are
short_missed() {
	count_starts "$work/entries" <(sed 's/^[^\t]*/any/' "$work/roots.$1") |
		awk '{ printf "%.3f", 100 * ($2 - $3) / $2; found = 1 }
		END { if (!found) print "-" }'
}

# NAME: per cent of our stacks of which it is counted
short_share() {
	local stacks

	stacks=$(($(json_figure "$work/short.json" total) -
		$(json_figure "$work/short.json" no_user)))
	calc "100 * $(json_figure "$work/short.json" "$1") / ($stacks + !$stacks)"
}

short_round() {
	if ! short_by_weft; then
		say "weft failed: $(tail -1 "$work/err")"
		return 1
	fi
	: >"$work/roots.fp"
	! has perf || short_by_perf
	entry_points "$work"/roots.{weft,fp} | sort -u >"$work/entries"
	round 'short lives cut, beside perf fp' "$(short_missed weft)" "$(short_missed fp)"
	round 'short lives not proven' \
		"$(calc "100 - $(short_share complete) + $(short_share unproven)")" -
	round 'short lives before their tables' "$(short_share awaited)" -
	for figure in median p90 p99; do
		round "mapping to tables, $figure" \
			"$(json_figure "$work/short.json" "${figure}_ns")" -
	done
}

run_short() {
	local complete_programs=(any) figure

	if ! has gcc; then
		no_row 'short lives' 'gcc is not installed'
		return
	fi
	short_loop
	for _ in $(seq "$rounds"); do
		short_round || return
	done
	row 'short lives cut, beside perf fp' % 5 ours \
		"$(json_figure "$work/short.json" total) samples, $(json_figure \
			"$work/short.json" seen) lives"
	row 'short lives not proven' % 5 ours 'at most, by its own account'
	row 'short lives before their tables' % 5 ours 'its own account'
	for figure in median p90 p99; do
		row "mapping to tables, $figure" ns - none \
			"of $(json_figure "$work/short.json" measured) mappings"
	done
	has perf || no_row 'perf' "not installed"
}
