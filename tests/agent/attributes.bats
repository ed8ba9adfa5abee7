#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# weft agent --trace-attributes: what a program says of what its threads work for
# (attributes.c), as labels of samples.
# shellcheck disable=SC2030,SC2031,SC2154 # a shell each; set by lib

load lib

# SECONDS: until its map has the last key
start_sayer() {
	"$E2E_BIN/attributes" "$1" >ready 3>&- &
	pids+=($!)
	wait_for test -s ready
}

# N: so many of its functions, or more, are in what is kept
has_sampled() {
	[ "$(zcat -q kept/*.pb.gz 2>/dev/null | grep -aoE 'says_[a-z_]+' | sort -u |
		wc -l)" -ge "$1" ]
}

# LABEL…: of all that is kept, as FUNCTION VALUE… COUNT in `got`
labels() {
	local file
	for file in kept/*.pb.gz; do
		"$BATS_TEST_DIRNAME/../e2e/traces.py" "$file" "$@"
	done | sum_up >got
	cat got
}

# LINE…: a function and its values are in `got`, and no others of this function
says() {
	local line
	for line in "$@"; do
		grep -q "^says_$line [0-9]*$" got || { echo "not: $line"; return 1; }
		[ "$(grep -c "^says_${line%% *} " got)" = 1 ] ||
			{ echo "more: $line"; return 1; }
	done
}

@test "attributes of threads' contexts are labels, by the list" {
	start_sayer 600
	start_agent -F 499 --trace-ids --trace-attributes http.route,http.method,http.later \
		--keep "$PWD/kept" --keep-format pprof
	wait_for eval 'zcat -q kept/*.pb.gz 2>/dev/null | grep -qa /route'
	rm -f kept/*
	wait_for has_sampled 10
	stop_agent
	cat said
	labels http.route http.method trace_id
	says "route /route GET $(printf '1%.0s' {1..32})" "no_trace /only - -" \
		"twice /new - -" "cut /cut - -" "unknown /known - $(printf '4%.0s' {1..32})" \
		"much /much - -" "lost - - $(printf '6%.0s' {1..32})" "invalid - - -" \
		"nothing - - -" "later - - -"
	# each loss is told
	zcat kept/*.pb.gz | strings >words
	grep -q '^samples.attributed ' words
	grep -q '^samples.attributes_cut ' words
	grep -q '^samples.attributes_unnamed ' words
	grep -q '^samples.no_context ' words
	# and nothing that nobody allowed; others run here, too, so these are no usual words
	run ! grep -E 'unallowed|~{40}' words
}

# what is kept, merged
has_later() {
	"$WEFT" report kept/*.weft -o kept/all.pb.gz && zcat kept/all.pb.gz | grep -qa /later
}

@test "a key that a map gets later is found" {
	start_sayer 5
	start_agent -F 499 --trace-attributes http.later --keep "$PWD/kept" --keep-format weft
	wait_for has_later
	stop_agent
	labels http.later trace_id
	grep -q '^says_later /later - ' got
	run ! grep -qE '[0-9]{32}' got
}

@test "nobody who did not ask for attributes gets any" {
	start_sayer 600
	start_agent -F 499 --trace-ids --keep "$PWD/kept" --keep-format pprof
	wait_for has_sampled 10
	stop_agent
	labels http.route trace_id
	says "route - $(printf '1%.0s' {1..32})" "no_trace - -"
	run ! eval 'zcat kept/*.pb.gz | grep -qaE "/route|samples.attribute"'
}

@test "OpenTelemetry: attributes have their own names" {
	start_sayer 600
	start_server got.otlp
	start_agent -F 499 --trace-attributes http.route --push "otlp=http://127.0.0.1:$port"
	wait_for eval 'grep -qs "/route" got.otlp/*.json'
	stop_agent
	is_orderly got.otlp
	jq -es 'map(.labels.said[] | select(.[1]["http.route"] == "/route") | .[0]) |
		length > 0 and all(any(. == "says_route"))' got.otlp/*.json
}

@test "keys that can be no labels are told" {
	refused() {
		run -2 "$WEFT" agent --check-config --keep x --trace-attributes "$1"
	}

	refused trace_id
	[[ $output == *"has a label trace_id itself"* ]]
	refused $'a\x01b'
	[[ $output == *"is no plain text"* ]]
	refused "$(printf 'k%d,' {1..17})"
	[[ $output == *"more than 16 keys"* ]]
}
