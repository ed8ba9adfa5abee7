#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# weft agent beside a server of OpenTelemetry's profiles (tests/agent/otlp.py reads what
# it is sent, by the protocol's text alone).
# shellcheck disable=SC2154 # set by lib

load lib

@test "OpenTelemetry: a known program, both views, every stack as it is kept" {
	start_server got
	"$E2E_BIN/turns" 600000 >/dev/null 3>&- &
	pids+=($!)
	start_agent -F 499 --view both --push "otlp=http://127.0.0.1:$port" \
		--keep "$PWD/kept" --label service_name=turns --label team=a
	wait_until has_taken got 6
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

@test "OpenTelemetry: what a server took and did not want is told, and no other 200 will do" {
	start_server got html,partial,ok
	start_agent --push "otlp=http://127.0.0.1:$port"
	wait_until has_taken got 2 # the stub keeps also what it says that it did not want
	stop_agent
	cat said
	adds_up otlp
	grep -q 'try 1 failed.*not as otlp does' said
	[ "$(grep -c 'refused for good: the server took the request' said)" = 1 ]
	[ ! -e got/broken ]
}
