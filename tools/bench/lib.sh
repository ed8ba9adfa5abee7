# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# Rounds and rows. A round is one figure of ours and one of the peer's, taken
# one after the other; a row is made of the medians of its rounds, its ratio of
# the median of theirs. Figures of different runs of this program are never
# compared: only ratios mean anything on a machine that others use as well.
#
# $work is a folder of our own; rows are kept in $work/rows, one a line:
# name|unit|ours|peer|ratio|aim|on|verdict|note, "-" for what is not there.

say() {
	echo "bench: $*" >&2
}

has() {
	command -v "$1" >/dev/null
}

# EXPRESSION, on one line
calc() {
	awk "BEGIN { printf \"%.6g\", $1 }"
}

# FILE NAME: of what meter wrote, or of weft's flat JSON numbers
figure() {
	awk -F= -v name="$2" '$1 == name { print $2; found = 1 } END { exit !found }' "$1"
}

json_figure() {
	grep -o "\"$2\":[0-9]*" "$1" | head -1 | cut -d: -f2
}

# JSON of weft's: how much of its stacks reach their start, or are a fiber's
whole_of() {
	calc "100 * $(json_figure "$1" complete) / $(json_figure "$1" kept)" |
		awk '{ printf "%.1f %% of our stacks are whole\n", $1 }'
}

# ns of BPF a run of the program, out of what meter wrote; fails when it never ran
ns_a_run() {
	awk -F= '{ v[$1] = $2 }
	END { if (!v["runs"]) exit 1; printf "%.1f\n", v["run_ns"] / v["runs"] }' "$1"
}

median() {
	sort -g | awk '{ v[NR] = $1 }
	END {
		if (!NR) print "-"
		else if (NR % 2) print v[(NR + 1) / 2]
		else printf "%.6g\n", (v[NR / 2] + v[NR / 2 + 1]) / 2
	}'
}

# ROW OURS PEER: "-" for one that could not be had
round() {
	echo "$2 $3" >>"$work/rounds.${1//[ \/]/_}"
}

# NAME UNIT AIM ON [NOTE]: the row of these rounds. ON: ratio, ours, or none
row() {
	local name=$1 unit=$2 aim=$3 on=$4 note=${5--} file ours peer ratio verdict=-

	file=$work/rounds.${name//[ \/]/_}
	[ -f "$file" ] || return 0
	ours=$(awk '$1 != "-" { print $1 }' "$file" | median)
	peer=$(awk '$2 != "-" { print $2 }' "$file" | median)
	ratio=$(awk '$1 != "-" && $2 != "-" && $2 > 0 { print $1 / $2 }' "$file" | median)
	case $on in
	ratio) verdict=$(judge "$ratio" "$aim") ;;
	ours) verdict=$(judge "$ours" "$aim") ;;
	esac
	echo "$name|$unit|$ours|$peer|$ratio|$aim|$on|$verdict|$note" >>"$work/rows"
}

judge() {
	if [ "$1" = - ] || [ "$2" = - ]; then
		echo -
	elif [ "$(calc "$1 <= $2")" = 1 ]; then
		echo ok
	else
		echo over
	fi
}

# A row that can't be measured, and why.
no_row() {
	echo "$1|-|-|-|-|-|none|-|$2" >>"$work/rows"
}

# What was measured, in a line.
versions() {
	local peer line

	line="$("$weft" --version | head -1), Linux $(uname -r), $(nproc) CPUs"
	for peer in perf bpftrace; do
		! has "$peer" || line+=", $("$peer" --version 2>/dev/null | head -1)"
	done
	echo "$line"
}

table() {
	awk -F'|' '
	function shown(v, unit) {
		if (v == "-") return v
		if (unit == "short ns") return sprintf("%.2f ns", v)
		if (unit == "ns" && v >= 1e9) return sprintf("%.2f s", v / 1e9)
		if (unit == "ns" && v >= 1e6) return sprintf("%.1f ms", v / 1e6)
		if (unit == "ns") return sprintf("%.2f us", v / 1e3)
		if (unit == "%") return sprintf("%.2f %%", v)
		if (unit == "kB") return sprintf("%.1f MB", v / 1024)
		return v
	}
	BEGIN {
		line = "%-40s %10s %10s %7s %10s  %s\n"
		printf line, "", "ours", "peer", "ratio", "aim", ""
	}
	{
		aim = $6 == "-" ? "-" : "<= " ($7 == "ours" ? shown($6, $2) : $6)
		printf line, $1, shown($3, $2), shown($4, $2),
			$5 == "-" ? "-" : sprintf("%.2f", $5), aim, $8
		if ($9 != "-") notes = notes sprintf("  %s: %s\n", $1, $9)
	}
	END { if (notes) printf "\n%s", notes }' "$work/rows"
}

json() {
	awk -F'|' -v versions="$(versions)" -v kernel="$(uname -r)" \
		-v machine="$(uname -m)" -v cpus="$(nproc)" -v rounds="$rounds" '
	function text(s) {
		gsub(/["\\]/, "\\\\&", s)
		return s == "-" ? "null" : "\"" s "\""
	}
	function number(s) { return s == "-" ? "null" : s + 0 }
	BEGIN {
		printf "{\"version\":1,\"kernel\":%s,\"machine\":%s,\"cpus\":%d,", \
			text(kernel), text(machine), cpus
		printf "\"versions\":%s,", text(versions)
		printf "\"rounds\":%d,\"rows\":[", rounds
	}
	{
		printf "%s\n{\"name\":%s,\"unit\":%s,\"ours\":%s,\"peer\":%s,", \
			(NR > 1 ? "," : ""), text($1), text($2), number($3), number($4)
		printf "\"ratio\":%s,\"aim\":%s,\"aim_is_for\":%s,", \
			number($5), number($6), text($7)
		printf "\"verdict\":%s,\"note\":%s}", text($8), text($9)
	}
	END { print "\n]}" }' "$work/rows"
}
