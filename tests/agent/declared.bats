#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What processes say of themselves becomes labels, if somebody asked for it: a known
# program runs under names that its environment gives it, beside one that gives none.
# shellcheck disable=SC2154 # set by run

load lib

teardown() {
	kill_ours ${pids[@]+"${pids[@]}"}
	[ -z "${unit-}" ] || wait_for rmdir "$unit"
}

# NAME VARIABLE=VALUE…: the known program, called so, with these in its environment
start_called() {
	called+=("$1")
	cp "$E2E_BIN/mild" "./$1"
	env "${@:2}" "./$1" >/dev/null 3>&- &
	pids+=("$!")
}

# OPTION…: an agent that sends the samples of these programs alone
start_on() {
	printf '[relabel ours]\naction = keep\nsource-labels = __meta_comm\nregex = %s\n' \
		"$(IFS='|' && echo "${called[*]}")" >>agent.ini
	start_agent --config agent.ini -F 199 "$@"
}

# FOLDER COMM LABELS: some series has just these labels, as name=value with blanks and without
# what all have, and samples of this thread
has_labels() {
	local json

	while read -r json; do
		! weft report -o - --view thread "${json%json}pb.gz" 2>/dev/null |
			grep -q "^$2;" || return 0
	done < <(jq -r --arg labels "$3" 'select((.labels | to_entries | sort_by(.key) |
		map(select(.key | IN("__name__", "hostname") | not) | "\(.key)=\(.value)") |
		join(" ")) == $labels) | input_filename' "$1"/*.json 2>/dev/null)
	return 1
}

@test "a service has the name that its environment gives it" {
	start_server sent
	start_called plain NOTHING=x
	start_called named OTEL_SERVICE_NAME=checkout OTEL_RESOURCE_ATTRIBUTES=service.name=no,service.namespace=shop
	start_called attributed 'OTEL_RESOURCE_ATTRIBUTES=service.name=basket%2Cs, deployment.environment=prod,k8s.namespace.name=eu,other=x'
	start_called unknown OTEL_SERVICE_NAME=unknown_service:ls
	start_called broken 'OTEL_RESOURCE_ATTRIBUTES=service.name=lost,service.namespace=%zz'
	start_called hostile OTEL_SERVICE_NAME=$'a\nb\e[31m\xff'"$(printf 'x%.0s' {1..2000})"
	start_on --by-service -v --listen "unix:$PWD/agent.sock" \
		--push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels sent plain "service_name=plain"
	wait_for has_labels sent named "service_name=checkout service_namespace=shop"
	wait_for has_labels sent attributed \
		"deployment_environment=prod pod_namespace=eu service_name=basket,s"
	wait_for has_labels sent unknown "service_name=unknown"
	wait_for has_labels sent broken "service_name=broken"
	wait_for has_labels sent hostile "service_name=a?b?[31m?$(printf 'x%.0s' {1..246})"
	ask /metrics
	[ "$(metric weft_processes_asked_total)" -ge 6 ]
	[ "$(metric weft_processes_refused_total)" -ge 1 ]
	stop_agent
	cat said
	adds_up pyroscope
	is_orderly sent
	grep "says of itself is left out: OTEL_RESOURCE_ATTRIBUTES" said
}

@test "nothing of an environment is told unless it is wanted" {
	start_server sent
	start_called named OTEL_SERVICE_NAME=checkout SECRET=hidden-token
	start_on --by-service --service-from unit --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels sent named "service_name=named"
	# nobody is there who would read it
	[ "$(pgrep -P "$agent" -x weft-openers | wc -l)" = 1 ]
	stop_agent
	run ! grep -q checkout sent/*
	zcat sent/*.pb.gz | strings >words
	run ! grep -E 'checkout|hidden-token' words
}

@test "variables that are asked for become labels, and no others" {
	start_server sent
	start_called one REGION=eu TEAM=a SECRET=hidden-token OTEL_SERVICE_NAME=checkout
	start_called two REGION=us HOSTNAME=x
	cat >agent.ini <<-end
		[agent]
		environment = REGION, TEAM
		label = team=theirs
		[receiver main]
		kind = pyroscope
		url = http://127.0.0.1:$port
	end
	start_on
	# a label that the configuration gives to all stays, and so does the service's
	wait_for has_labels sent one "region=eu service_name=weft team=theirs"
	wait_for has_labels sent two "region=us service_name=weft team=theirs"
	stop_agent
	cat said
	zcat sent/*.pb.gz | strings >words
	run ! grep -E 'checkout|hidden-token' words sent/*.json
}

# One process: a busy shell until the file `go` is there, then another program
start_changing() {
	called+=(bash second)
	cp "$E2E_BIN/mild" second
	OTEL_SERVICE_NAME=before bash -c 'until [ -e go ]; do for _ in {1..3000}; do :; done
			sleep 0.1; done
		OTEL_SERVICE_NAME=after exec ./second' >/dev/null 3>&- &
	pids+=("$!")
}

@test "a process that runs another program is asked again" {
	start_server sent
	start_changing
	start_on --by-service --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels sent bash service_name=before
	touch go
	wait_for has_labels sent second service_name=after
	stop_agent
	run ! has_labels sent second service_name=before
}

# HOW NAME [SECONDS]: a program called ctx-HOW that publishes a process context
start_publisher() {
	called+=("ctx-$1")
	cp "$E2E_BIN/otel_ctx" "./ctx-$1"
	"./ctx-$1" "$@" 3>&- &
	pids+=("$!")
}

@test "a service has the name that its process context gives it" {
	start_server sent
	local how
	for how in memfd torn garbage large lost old unsigned; do
		OTEL_SERVICE_NAME=environment start_publisher "$how" checkout
	done
	start_on --by-service -v --listen "unix:$PWD/agent.sock" \
		--push "pyroscope=http://127.0.0.1:$port"
	for how in 'is being written' 'is no such message' 'has 1073741824 bytes' \
		'not where its header says' 'of version 1, not 2' 'no signature'; do
		wait_for grep -q "left out: its process context.* $how" said
	done
	wait_for has_labels sent ctx-memfd "service_name=checkout service_namespace=ctx"
	for how in torn garbage large lost old unsigned; do
		wait_for has_labels sent "ctx-$how" "service_name=environment"
	done
	ask /metrics
	[ "$(metric weft_processes_refused_total)" -ge 6 ]
	stop_agent
	adds_up pyroscope
	is_orderly sent
	for how in torn garbage large lost old unsigned; do
		run ! has_labels sent "ctx-$how" "service_name=checkout service_namespace=ctx"
	done
}

@test "a process context has its name from the kernel, too" {
	local how
	timeout 1 "$E2E_BIN/otel_ctx" anon x && status=0 || status=$?
	[ "$status" != 3 ] || skip "this kernel names no mappings"
	start_server sent
	for how in anon both; do
		start_publisher "$how" "named-$how"
	done
	start_on --by-service --push "pyroscope=http://127.0.0.1:$port"
	for how in anon both; do
		wait_for has_labels sent "ctx-$how" \
			"service_name=named-$how service_namespace=ctx"
	done
	stop_agent
}

@test "a process context that comes later is found, and unit or environment may go before" {
	start_server other
	OTEL_SERVICE_NAME=environment start_publisher memfd late 6
	start_on --by-service --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels other ctx-memfd "service_name=environment"
	wait_for has_labels other ctx-memfd "service_name=late service_namespace=ctx"
	stop_agent
	rm -rf agent.ini spool # the first agent may not have delivered all
	start_server second # nor the first server written it
	start_on --by-service --service-from environment,context \
		--push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels second ctx-memfd "service_name=environment service_namespace=ctx"
	stop_agent
}

# NAME: the rest of the shell runs in a unit that is called so, as its cgroup tells
enter_unit() {
	local root
	root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -n "$root" ] || root=$(awk '/ - cgroup / { print $5; exit }' /proc/self/mountinfo)
	unit=$root/$1.service
	mkdir "$unit" 2>/dev/null || skip "no cgroup can be made here"
}

@test "where a name is from is as it is told, in turn" {
	start_server other
	# the longest path counts where there are several
	local name
	name=weft-test-$$-$(printf 'x%.0s' {1..60})
	enter_unit "$name"
	start_called both OTEL_SERVICE_NAME=checkout
	echo "$!" >"$unit/cgroup.procs"
	start_called alone
	echo "$!" >"$unit/cgroup.procs"
	start_on --by-service --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels other both "service_name=checkout"
	wait_for has_labels other alone "service_name=$name"
	stop_agent
	rm -rf agent.ini spool # the first agent may not have delivered all
	start_server second # nor the first server written it
	start_on --by-service --service-from unit,environment \
		--push "pyroscope=http://127.0.0.1:$port"
	wait_for has_labels second both "service_name=$name"
	stop_agent
	run ! has_labels second both "service_name=checkout"
}

@test "words of these options that mean nothing are told" {
	refused() {
		run -2 "$WEFT" agent --check-config --keep x "$@"
	}

	refused --service-from unit,x
	[[ $output == *"'x' is none of its words"* ]]
	refused --service-from unit,unit
	[[ $output == *"'unit' twice"* ]]
	refused --environment 'A-B'
	[[ $output == *"'A-B' can't be a label"* ]]
	refused --environment SERVICE_NAME
	[[ $output == *"a label service_name itself"* ]]
	refused --environment "$(printf 'V%d,' {1..17})"
	[[ $output == *"more than 16 variables"* ]]
}
