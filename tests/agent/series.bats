#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Whose the samples are: each process' own service, and what rules make of it. A known
# program runs under two names; every sample of theirs is in the series of its name, and
# what a rule drops is counted.
# shellcheck disable=SC2154 # set by run

load lib

# NAME: the known program, called so
start_called() {
	cp "$E2E_BIN/mild" "./$1"
	"./$1" >/dev/null 3>&- &
	pids+=("$!")
}

# FILE.json: the samples of its profile, by thread
folded_of() {
	case $1 in
	*otlp*) cat "${1%json}folded" ;;
	*) weft report -o - --view thread "${1%json}pb.gz" ;;
	esac
}

# FOLDER JQ: the series that meet the condition
series() {
	find "$1" -name '*.json' -exec jq -r "select($2) | input_filename" {} +
}

has_series() {
	[ "$(series "$@" 2>/dev/null | wc -l)" -ge 2 ]
}

# FOLDER JQ NAME: each series that meets the condition has threads of this name alone
are_all() {
	local json

	while read -r json; do
		! folded_of "$json" | grep -v "^$3;" || return 1
	done < <(series "$1" "$2")
	has_series "$1" "$2"
}

# FILE.json: what its profile says of its window, as comments
comments_of() {
	case $1 in
	*otlp*) jq -r '.labels["pprof.profile.comment"][]' "$1" ;;
	*) go tool pprof -comments "${1%json}pb.gz" ;;
	esac
}

# FOLDER: in the first four requests, no sample is in two series or in none: all that
# were kept in the window are there, or dropped by a rule
are_whole() {
	local first json sum kept dropped n=0

	for first in $(find "$1" -name '*.json' ! -name '*+*' | sort | head -4); do
		sum=$(for json in "${first%.json}"*.json; do folded_of "$json"; done |
			awk '{ n += $NF } END { print n + 0 }')
		kept=$(comments_of "$first" | sed -n 's/^oncpu.outcome.kept //p')
		dropped=$(comments_of "$first" | sed -n 's/^samples.dropped_by_rule //p')
		echo "$first: $sum and $dropped dropped of $kept"
		[ $((sum + ${dropped:-0})) = "$kept" ] || return 1
		[ "$sum" -gt 0 ] || return 1
		[ -z "${2-}" ] || [ "$dropped" -gt 0 ] || return 1
		n=$((n + 1))
	done
	[ "$n" -ge 3 ]
}

@test "each process has its own service, with every server" {
	local kind
	for kind in pyroscope parca otlp; do
		start_server $kind
		pushes+=(--push "$kind=http://127.0.0.1:$port")
	done
	start_called ledger
	start_called basket
	start_agent -F 199 --by-service --label team=a "${pushes[@]}"
	for kind in pyroscope parca otlp; do
		wait_for has_taken $kind 3
	done
	for name in ledger basket; do
		wait_for has_series pyroscope ".labels.service_name == \"$name\""
		wait_for has_series parca ".labels.service_name == \"$name\""
		wait_for has_series otlp ".labels.resource[\"service.name\"] == \"$name\""
	done
	stop_agent
	cat said
	for kind in pyroscope parca otlp; do
		adds_up $kind
		is_orderly $kind
	done
	for name in ledger basket; do
		are_all pyroscope ".labels.service_name == \"$name\"" $name
		are_all parca ".labels.service_name == \"$name\"" $name
		are_all otlp ".labels.resource[\"service.name\"] == \"$name\"" $name
	done
	jq -es 'all(.labels.team == "a" and (.labels.hostname | length > 0))' pyroscope/*.json
	are_whole pyroscope
	are_whole parca
	are_whole otlp
	# the series' labels are no longer the samples'
	local file
	file=$(find pyroscope -name '*.pb.gz' | head -1)
	zcat "$file" | strings >words
	run ! grep -qx team words
}

@test "rules drop, name and map series; what they drop is counted" {
	start_server sent
	start_called ledger
	start_called basket
	cat >agent.ini <<-end
		[agent]
		freq = 199
		by-service = yes
		label = team=a
		keep = $PWD/kept
		listen = unix:$PWD/agent.sock
		[receiver main]
		kind = pyroscope
		url = http://127.0.0.1:$port
		[relabel only-ours]
		action = keep
		source-labels = __meta_comm
		regex = ledger|basket
		[relabel no-baskets]
		action = drop
		source-labels = team,service_name
		regex = a;bas.*
		[relabel name]
		source-labels = service_name
		regex = led(.)er
		target-label = service_name
		replacement = \${1}ranary
		[relabel team]
		action = labelmap
		regex = te(am)
		replacement = squad_\$1
		[relabel no-team]
		action = labeldrop
		regex = team|hostname
		[relabel shard]
		action = hashmod
		source-labels = service_name
		modulus = 8
		target-label = shard
	end
	start_agent --config agent.ini
	wait_for is_ready
	wait_for has_taken sent 3
	wait_for eval 'weft report -o - kept/* 2>/dev/null | grep -q "^basket"'
	ask /metrics
	[ "$(metric weft_samples_dropped_by_rule_total)" -gt 0 ]
	stop_agent
	cat said
	adds_up main
	# 8 buckets: md5("granary") ends in …, as md5sum has it
	local sum
	sum=$(printf granary | md5sum)
	jq -es --arg shard $((0x${sum:31:1} % 8)) 'all(.labels |
		.service_name == "granary" and .squad_am == "a" and .shard == $shard and
		(keys == ["__name__", "service_name", "shard", "squad_am"]))' sent/*.json
	are_all sent true ledger
	are_whole sent has-dropped
	local made
	made=$(sed -nE 's/.* ([0-9]+) samples,.*/\1/p' said)
	[ "$(sed -nE 's/^  rules +dropped ([0-9]+) .*/\1/p' said)" -gt 0 ]
	# what is kept here is kept whole
	[ "$(weft report --json kept/* | jq .total)" = "$made" ]
}

@test "a rule that can't be followed is told with what it lacks" {
	rule() {
		printf '[agent]\nkeep = x\n[relabel r]\n' >agent.ini
		printf '%s\n' "$@" >>agent.ini
		run -2 "$WEFT" agent --check-config --config agent.ini
	}

	rule 'action = keep' 'source-labels = a' 'regex = (a'
	[[ $output == *"regex '(a'"* ]]
	rule 'action = drop' 'source-labels = a'
	[[ $output == *"relabel r: it needs a regex"* ]]
	rule 'action = hashmod' 'source-labels = a' 'target-label = b'
	[[ $output == *"it needs a modulus"* ]]
	rule 'action = replace' 'source-labels = a'
	[[ $output == *"it needs a target-label"* ]]
	rule 'action = keep' 'regex = a'
	[[ $output == *"it needs source-labels"* ]]
	rule 'action = keep' 'source-labels = a-b' 'regex = a'
	[[ $output == *"'a-b' is no label"* ]]
	rule 'action = jump'
	[[ $output == *"keepequal"* ]]
}
