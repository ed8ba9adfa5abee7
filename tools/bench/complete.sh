# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# Stacks that do not reach their thread's start, by program, all of them under
# load at once: weft's, perf's by frame pointers, perf's by its copies of stacks.
#
# Reached is what has a start at its root, by name, or by address where files are
# stripped of it: the first bytes of a file's entry point. So nobody's own word is
# taken for it, and a stack that got to a start over false callers counts for
# whoever made it; tests/crosscheck looks into that. A sample without any user
# frame (in an exec, in a process's end) counts for nobody.

complete_programs=(redis-server nginx postgres python node clang)

# FOLDED: lines of program, function or -, file or -, address in the file
weft_roots() {
	awk -F'\t' -v OFS='\t' '
	{
		n = $0; sub(/.* /, "", n)
		stack = $0; sub(/ [0-9]+$/, "", stack)
		split(stack, frame, ";")
		name = frame[2]; file = "-"; at = "-"
		if (name ~ /[+!]0x[0-9a-f]+$/) {
			file = at = name
			sub(/[+!]0x[0-9a-f]+$/, "", file)
			sub(/.*[+!]0x/, "", at)
			name = "-"
		}
		while (n-- > 0) print frame[1], name, file, at
	}' "$1"
}

# PERF.DATA: the same; where user code has no frame at all, - for everything
perf_roots() {
	perf script --no-inline -F comm,tid,ip,sym,dso -i "$1" 2>/dev/null | awk -v OFS='\t' '
	function tell() {
		if (comm != "") print comm, name, file, at
	}
	/^[^\t]* [0-9]+ *$/ && !/^\t/ {
		tell()
		comm = $0
		sub(/^ +/, "", comm); sub(/ +[0-9]+ *$/, "", comm)
		name = file = at = "-"
		next
	}
	$1 ~ /^ffffffff[0-9a-f]+$/ && $1 !~ /^f+$/ { next }
	NF >= 3 {
		at = $1; name = $2; file = $NF
		gsub(/[()]/, "", file)
		if (name == "[unknown]") name = "-"
	}
	END { tell() }'
}

# ROOTS: lines of file, first byte of its entry point, the same as an offset
entry_points() {
	local file entry at

	cut -f3 "$@" | sort -u | while read -r file; do
		[ -f "$file" ] || file=$(type -P "$file") || continue
		entry=$(readelf -hW "$file" 2>/dev/null |
			awk '/Entry point/ { print $NF }')
		[ -n "$entry" ] || continue
		at=$(readelf -lW "$file" 2>/dev/null | awk -v entry="$((entry))" '
			function number(s,  n, i) {
				n = 0; s = tolower(substr(s, 3))
				for (i = 1; i <= length(s); i++)
					n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
				return n
			}
			$1 == "LOAD" && entry >= number($3) && entry < number($3) + number($5) {
				printf "%d", entry - number($3) + number($2) }')
		printf '%s\t%d\t%d\n' "${file##*/}" "$((entry))" "${at:-0}"
	done
}

# ENTRIES ROOTS: lines of program, samples, those that reach a start
count_starts() {
	awk -F'\t' -v programs="${complete_programs[*]}" '
	function number(s,  n, i) {
		n = 0
		for (i = 1; i <= length(s); i++)
			n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n
	}
	function near(at, entry) { return entry && at >= entry && at < entry + 64 }
	function is_start(name, file, at) {
		if (name ~ /^(_start|__?clone3?|clone3?|_dl_start_user)$/) return 1
		sub(/.*\//, "", file)
		return file in entry && (near(at, entry[file]) || near(at, offset[file]))
	}
	BEGIN { n = split(programs, wanted, " ") }
	FNR == NR { entry[$1] = $2; offset[$1] = $3; next }
	{
		program = $1
		sub(/[0-9.]+$/, "", program) # python3.11
		if ($2 ~ /_\[k\]$/ || $2 $3 $4 == "---") next
		samples[program]++
		reached[program] += is_start($2, $3, number($4))
	}
	END {
		for (i = 1; i <= n; i++)
			if (samples[wanted[i]])
				print wanted[i], samples[wanted[i]], reached[wanted[i]] + 0
	}' "$1" "$2"
}

complete_by_weft() {
	"$weft" record -q -F "$complete_hz" --event cpu-clock --view thread \
		-d "$((complete_ms / 1000))s" -o "$work/complete.folded" 2>"$work/err" ||
		return
	weft_roots "$work/complete.folded" >"$work/roots.weft"
}

# NAME CALL-GRAPH
complete_by_perf() {
	perf record -q -a --call-graph "$2" -F "$complete_hz" -e cpu-clock \
		-o "$work/complete.data" -- sleep "$((complete_ms / 1000))" \
		>/dev/null 2>"$work/err" &&
		perf_roots "$work/complete.data" >"$work/roots.$1"
}

# PEER PROGRAM: per cent of all rounds that did not reach it, - for one not seen
missed() {
	awk -v peer="$1" -v program="$2" '
	$1 == peer && $2 == program { n += $3; reached += $4 }
	END { print n ? sprintf("%.3f", 100 * (n - reached) / n) : "-" }' "$work/starts"
}

complete_round() {
	local peer

	if ! complete_by_weft; then
		say "weft failed: $(tail -1 "$work/err")"
		return 1
	fi
	: >"$work/roots.fp"
	: >"$work/roots.dwarf"
	if has perf; then
		complete_by_perf fp fp
		complete_by_perf dwarf dwarf
	fi
	entry_points "$work"/roots.{weft,fp,dwarf} | sort -u >"$work/entries"
	for peer in weft fp dwarf; do
		count_starts "$work/entries" "$work/roots.$peer" |
			sed "s/^/$peer /" >>"$work/starts"
	done
}

run_complete() {
	local program peer seen name

	start_loads node postgres
	: >"$work/starts"
	for _ in $(seq "$rounds"); do
		complete_round || return
	done
	for program in "${complete_programs[@]}"; do
		for peer in fp dwarf; do
			seen=$(awk -v program="$program" -v peer="$peer" '
			$2 == program && ($1 == "weft" || $1 == peer) { n[$1] += $3 }
			END { print n["weft"] + 0 " samples and " n[peer] + 0 }' "$work/starts")
			name="$program cut, beside perf $peer"
			# one round: a median of shares would hide what is rare
			round "$name" "$(missed weft "$program")" "$(missed "$peer" "$program")"
			row "$name" % 0.1 ours "$seen"
		done
	done
	has perf || no_row 'perf' "not installed"
}
