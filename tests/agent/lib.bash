# SPDX-License-Identifier: BSD-2-Clause
# Loaded by the .bats files of weft agent: agents and servers in the background, and
# what they are held to.
# shellcheck shell=bash disable=SC2154

load ../e2e/lib

setup() {
	in_a_folder
	[ "$(id -u)" -eq 0 ] || skip "not root"
	needs_recording
	pids=()
}

teardown() {
	kill_ours ${pids[@]+"${pids[@]}"}
	! mountpoint -q small || umount small
}

# FOLDER [SCRIPT] [PORT]: a server; $port
start_server() {
	mkdir -p "$1"
	rm -f "$1.port"
	python3 "$BATS_TEST_DIRNAME/receiver.py" "$@" >"$1.port" 3>&- &
	server=$!
	pids+=("$server")
	wait_for test -s "$1.port"
	port=$(<"$1.port")
}

# OPTION…: in the background, its words in `said`; $agent
start_agent() {
	"$WEFT" agent --window 1s --spool "${spool:-$PWD/spool}" --cpu-budget 1000% "$@" \
		>out 2>said 3>&- &
	agent=$!
	pids+=("$agent")
}

# SIGTERM, and its exit status
stop_agent() {
	kill -TERM "$agent"
	wait "$agent"
}

# FOLDER N: so many profiles, or more, were taken; one of several series is one
has_taken() {
	[ "$(taken "$1")" -ge "$2" ]
}

taken() {
	local file n=0
	for file in "$1"/*.pb.gz; do
		[[ $file == *[+*]* ]] || n=$((n + 1))
	done
	echo $n
}

# N: so many profiles, or more, wait
are_waiting() {
	local waiting=(spool/*/*.pb.gz)
	[ -e "${waiting[0]}" ] && [ ${#waiting[@]} -ge "$1" ]
}

# SERVER: it has all that was made for it so far. How many of the last it gets before the
# agent ends is the host's affair.
has_all() {
	[ -z "$(find "spool/$1" -name '*.pb.gz*')" ]
}

# N: so many recordings, or more, are kept
are_kept() {
	local kept=(kept/*.weft)
	[ -e "${kept[0]}" ] && [ ${#kept[@]} -ge "$1" ]
}

# SERVER: made + found = delivered + waiting + refused + dropped
adds_up() {
	sed -nE "s/^  $1 +([0-9]+) delivered, ([0-9]+) wait [^,]*, ([0-9]+) refused, ([0-9]+) dropped, of ([0-9]+) made and ([0-9]+) found/\1 \2 \3 \4 \5 \6/p" said |
		awk '{ ok = $1 + $2 + $3 + $4 == $5 + $6 && $5 + $6 > 0 } END { exit !ok }' ||
		{ cat said; return 1; }
}

# FOLDER: no id twice, nothing against a rule
is_orderly() {
	[ ! -e "$1/broken" ] || { cat "$1/broken"; return 1; }
	[ -z "$(jq -r '.id // empty' "$1"/*.json | sort | uniq -d)" ]
}

# FOLDER: ids in the order in which they were made
is_in_order() {
	jq -r .id "$1"/*-pyroscope.json | sort -C
}

# folded lines, each stack once
sum_up() {
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); of[$0] += n }
		END { for (stack in of) print stack, of[stack] }' | LC_ALL=C sort
}

# PATH: over the socket in this folder; what came is in `got`, its status in $status
ask() {
	status=$(curl -sS --max-time 60 --unix-socket agent.sock -o got -w '%{http_code}' \
		"http://x$1" "${@:2}")
}

is_ready() {
	ask /readyz && [ "$status" = 200 ]
}

# NAME{LABELS}: its value in `got`
metric() {
	awk -v name="$1" '$1 == name { print $2 }' got
}
