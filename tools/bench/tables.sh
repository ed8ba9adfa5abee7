# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# What the unwind tables of a busy machine take: of all that runs, memory and the
# time until the first tick, out of the cache beside made anew; of all that is
# installed, what it would come to.

# NAME CACHE: a recording of two seconds, into $work/NAME.meter and NAME.json
tables_start() {
	"$bin/meter" -s 2000 -o "$work/$1.meter" "$weft" record -q -F 99 \
		--event cpu-clock --unwind-cache "$2" -o "$work/tables.folded" \
		--stats-json "$work/$1.json" 2>"$work/err" &&
		[ "$(figure "$work/$1.meter" status)" = 0 ]
}

# FILE NAME: out of its part of the JSON on tables
table_figure() {
	grep -o '"tables":{[^}]*}' "$1" | grep -o "\"$2\":[0-9]*" | cut -d: -f2
}

tables_round() {
	local kept=$work/kept.json

	if ! tables_start kept "$work/cache" || ! tables_start made none; then
		say "weft failed: $(tail -1 "$work/err")"
		return 1
	fi
	round 'tables: memory' "$(($(table_figure "$kept" bytes) / 1024))" -
	round 'tables: first sample, beside all made' \
		"$(figure "$work/kept.meter" first_run_ns)" \
		"$(figure "$work/made.meter" first_run_ns)"
	round 'tables: CPU of 2 s, beside all made' "$(figure "$work/kept.meter" cpu_ns)" \
		"$(figure "$work/made.meter" cpu_ns)"
}

# Every file that is installed, by the census; it says how long that took, too.
tables_installed() {
	local name='tables: all that is installed' said

	said=$("$build/tools/unwind-census" /usr/bin /usr/sbin /usr/lib) || return
	round "$name" "$(awk '/ rows in / { print $4 }' <<<"$said")" -
	row "$name" kB - none "$(awk '
		/ files with / { printf "%d files, ", $1 }
		/ rows in / { printf "%d rows, ", $1 }
		/; the longest / { sub(/,.*/, ""); print; exit }' <<<"$said")"
}

run_tables() {
	local kept=$work/kept.json on

	start_loads node postgres
	install -d -m 700 "$work/cache"
	tables_start kept "$work/cache" # which fills it
	for _ in $(seq "$rounds"); do
		tables_round || return
	done
	on="$(table_figure "$kept" ready) files, $(table_figure "$kept" rows) rows,"
	on+=" $(table_figure "$kept" over_limit) without room; on a load:$load_names"
	row 'tables: memory' kB 65536 ours "$on"
	row 'tables: first sample, beside all made' ns 3e8 ours 'peer: without the cache'
	row 'tables: CPU of 2 s, beside all made' ns - none 'peer: without the cache'
	tables_installed
}
