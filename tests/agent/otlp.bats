#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# weft agent beside a server of OpenTelemetry's profiles (tests/agent/otlp.py reads what
# it is sent, by the protocol's text alone).
# shellcheck disable=SC2030,SC2031,SC2154 # a shell each; set by lib

load lib

# N: so many samples, or more, have the known program's functions, of either view
has_sampled() {
	cat got/*.folded | grep -E 'do_(a|b|c|d)' |
		awk -v most="$1" '{ n += $NF } END { exit n < most }'
}

@test "OpenTelemetry: a known program, both views, every stack as it is kept" {
	start_server got
	"$E2E_BIN/turns" 600000 >/dev/null 3>&- &
	pids+=($!)
	start_agent -F 499 --view both --push "otlp=http://127.0.0.1:$port" \
		--keep "$PWD/kept" --label service_name=turns --label team=a
	wait_for has_taken got 6
	wait_for has_sampled 1200
	stop_agent
	cat said
	adds_up otlp
	is_orderly got
	jq -es 'all(.labels.resource["service.name"] == "turns" and .labels.resource.team == "a"
		and (.labels.resource["host.name"] | length > 0))' got/*.json
	jq -es 'map(.labels.type[0]) | unique == ["samples", "samples_thread"]' got/*.json
	jq -es 'map(.labels.frame_types[]) | unique | contains(["kernel", "native"])' got/*.json
	# the ledger comes along
	jq -es 'all(.labels["pprof.profile.comment"] | any(startswith("oncpu.outcome.kept ")))' got/*.json
	# each stack of the program as often as it is kept, in the windows that arrived
	local view type sent
	for view in async thread; do
		type=samples
		[ $view = async ] || type=samples_thread
		mapfile -t sent < <(grep -lF "\"$type\"" got/*.json | sed 's/json$/folded/')
		grep -h '^turns;' "${sent[@]}" | sum_up >"sent.$view"
		find kept -name '*.weft' | sort | head -${#sent[@]} |
			xargs "$WEFT" report -o - --view $view | grep '^turns;' |
			sum_up >"kept.$view"
		diff "sent.$view" "kept.$view"
	done
	grep -E 'do_(a|b|c|d)' sent.thread | awk '{ n += $NF } END { exit n < 500 }'
}

@test "OpenTelemetry: what a service says of itself arrives in its own words" {
	local said=service.name=basket,service.namespace=shop
	said+=,deployment.environment=prod,k8s.namespace.name=eu
	start_server got
	env "OTEL_RESOURCE_ATTRIBUTES=$said" "$E2E_BIN/mild" >/dev/null 3>&- &
	pids+=($!)
	start_agent -F 499 --by-service --push "otlp=http://127.0.0.1:$port"
	wait_for eval 'grep -qs basket got/*.json'
	stop_agent
	adds_up otlp
	is_orderly got
	jq -es 'map(.labels.resource | select(."service.name" == "basket")) | length > 0 and
		all(."service.namespace" == "shop" and ."k8s.namespace.name" == "eu" and
			."deployment.environment.name" == "prod")' got/*.json
}

@test "OpenTelemetry: what a server took and did not want is told, and no other 200 will do" {
	start_server got html,partial,ok
	start_agent --push "otlp=http://127.0.0.1:$port"
	wait_for has_taken got 2 # the stub keeps also what it says that it did not want
	stop_agent
	cat said
	adds_up otlp
	grep -q 'try 1 failed.*not as otlp does' said
	[ "$(grep -c 'refused for good: the server took the request' said)" = 1 ]
	[ ! -e got/broken ]
}

# N: of each of its six traces, and more than so many linked samples of all
has_linked() {
	jq -r '.labels.linked[] | select(any(.[0][]; test("^(works_for|turns_to)_"))) | .[1]' \
		got/*.json 2>/dev/null >linked || return
	[ "$(wc -l <linked)" -gt "$1" ] && [ "$(sort -u linked | wc -l)" -ge 6 ]
}

@test "OpenTelemetry: samples link to the trace for which their thread works, if asked" {
	local top=$BATS_TEST_DIRNAME/..
	gcc -O1 -fno-omit-frame-pointer -DEARLIER=100 -pthread -o traced \
		"$top/e2e/traced.c" -Wl,--export-dynamic-symbol=otel_thread_ctx_v1
	nice -n 19 ./traced 600000 >/dev/null 3>&- & # so all others go before it
	pids+=($!)
	start_server got
	start_agent -F 499 --trace-ids --push "otlp=http://127.0.0.1:$port"
	wait_for has_linked 20
	stop_agent
	cat said
	is_orderly got
	# works_for_1: trace 11…, span 1a…; by turns, too. Between two calls of them a thread
	# still has the ids of the last.
	jq -es 'map(.labels.linked[] |
		(.[0] | map(select(startswith("works_for_") or startswith("turns_to_")) |
			capture("^(works_for|turns_to)_(?<k>[1-6])$").k) | first) as $k |
		select($k) | .[1] == $k * 32 and .[2] == ($k + "a") * 8) |
		length > 20 and all' got/*.json
	[ "$(jq -r '.labels.linked[][1]' got/*.json | sort -u | wc -l)" -eq 6 ]
}
