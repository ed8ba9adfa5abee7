#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is too large for a server goes in parts, whose sum it is.
# shellcheck disable=SC2154 # set by lib

load lib

# FOLDER: one of what it has is a part
has_halves() {
	jq -r .id "$1"/*.json 2>/dev/null | grep -qE '[+]1of[0-9]+'
}

@test "413: halves of halves arrive, and add up to what was kept" {
	local bytes kind
	"$E2E_BIN/turns" 600000 >/dev/null 3>&- &
	pids+=($!)
	for kind in pyroscope otlp; do
		bytes=10000
		start_server $kind most:$bytes
		printf '[receiver %s]\nkind = %s\nurl = http://127.0.0.1:%s\n' \
			$kind $kind "$port" >>agent.ini
	done
	start_agent -F 499 --config agent.ini --keep "$PWD/kept"
	wait_for has_taken pyroscope 8
	wait_for has_taken otlp 8
	wait_for has_halves pyroscope
	stop_agent
	cat said
	for kind in pyroscope otlp; do
		adds_up $kind
		is_orderly $kind
		[ -z "$(find $kind -name '*.pb.gz' -size +10000c)" ]
		# the server's answers were understood
		! grep 'refused for good' said || return 1
	done
	# what arrived whole, by what was kept: parts of all windows but those that wait
	local windows total last
	windows=$(sed -nE 's/^  pyroscope ([0-9]+) delivered.*/\1/p' said)
	total=$(find kept -name '*.weft' | sort | head -"$windows" |
		xargs "$WEFT" report --json | jq .total)
	last=$(jq -r .id pyroscope/*.json | cut -d- -f1 | sort -u | sed -n "${windows}p")
	local parts=()
	mapfile -t parts < <(find pyroscope -name '*.json' | sort | while read -r json; do
		[[ $(jq -r .id "$json" | cut -d- -f1) > $last ]] || echo "${json%json}pb.gz"
	done)
	[ ${#parts[@]} -gt "$windows" ]
	[ "$(weft report --json "${parts[@]}" | jq .total)" = "$total" ]
	# each part is a profile that pprof reads
	go tool pprof -raw "${parts[1]}" >/dev/null
}
