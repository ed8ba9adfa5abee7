#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What weft agent may use: its rate falls before it uses more, and each profile says at
# which rate it was made.
# shellcheck disable=SC2154,SC2030,SC2031 # set by lib; what a test starts is its own

load lib

# FILE: the rate at which it was made
rate_of() {
	weft report --json "$1" | jq '.runs[0].rate_hz'
}

# N: a kept recording has a rate of at most N
has_fallen_to() {
	local last
	last=$(find kept -name '*.weft' | sort | tail -1)
	[ -n "$last" ] && [ "$(rate_of "$last")" -le "$1" ]
}

@test "a budget that is too small: the rate falls, and all times stay true" {
	command -v go >/dev/null || skip "no go tool pprof"
	"$E2E_BIN/turns" 600000 >/dev/null 3>&- &
	pids+=($!)
	start_agent -F 3999 --cpu-budget 0.01% --keep kept
	wait_for has_fallen_to 1999
	stop_agent
	cat said
	grep -qE 'budget: weft used [0-9.]+ % of a CPU and may use 0.01 %, so it samples at 1999 Hz instead of 3999' said
	local file hz total all_ns=0 rates=
	for file in kept/*; do
		hz=$(rate_of "$file")
		total=$(weft report --json "$file" | jq .total)
		# it says so, and its ledger is its own
		weft report --json "$file" | jq -e --argjson slowed "$((hz < 3999))" '
			(.ledger["agent.slowed_windows"] // 0) == $slowed and
			.total == .ledger["oncpu.outcome.kept"]'
		rates+="$hz "
		all_ns=$((all_ns + total * (1000000000 / hz)))
	done
	echo "$rates"
	[[ $rates == *'3999 '*'1999 '* ]]
	# all samples, and what they stand for, whatever the rate was: to a nanosecond
	weft report -o all.pb.gz --view thread kept/*
	go tool pprof -raw all.pb.gz | sed -n '/^Samples:/,/^Locations/p' |
		sed -nE 's/^ +([0-9]+) +([0-9]+): .*/\1 \2/p' >values
	[ "$(awk '{ n += $1 } END { print n }' values)" = \
		"$(weft report --json kept/* | jq .total)" ]
	[ "$(awk '{ n += $2 } END { printf "%.0f\n", n }' values)" = "$all_ns" ]
}

@test "a budget that is large enough: the rate stays" {
	start_agent -F 99 --cpu-budget 1000% --keep kept
	wait_for are_kept 5
	stop_agent
	cat said
	! grep -q budget said || return 1
	for file in kept/*; do
		[ "$(rate_of "$file")" = 99 ]
	done
}

# $own, $helpers: bytes, as the agent says now
read_memory() {
	ask /metrics
	own=$(metric process_resident_memory_bytes)
	helpers=$(metric weft_helper_memory_bytes)
}

# N: so many windows, or more, have closed
has_closed() {
	ask /metrics && [ "$(metric weft_windows_total)" -ge "$1" ]
}

@test "memory: that of the processes that it starts counts" {
	start_agent -F 99 --keep kept --listen "unix:$PWD/agent.sock"
	wait_for has_closed 6 # the first ones bring most of the names
	read_memory
	echo "$own and $helpers bytes"
	[ "$helpers" -gt $((1 << 20)) ] # they are some five
	stop_agent
	# enough for the agent alone, and not for all
	local most=$((own + helpers / 2))
	start_agent -F 99 --memory-budget $((most * 10 / 9)) --keep kept \
		--listen "unix:$PWD/agent.sock"
	wait_for grep -q 'of memory, so it lets' said
	wait_for has_closed 1
	read_memory
	[ "$own" -lt "$most" ]
	stop_agent
}

# By the kernel's account, from outside; the agent's metrics are in `got`
kernel_bytes() {
	{
		cat "/proc/$agent"/fdinfo/* 2>/dev/null | awk '/^memlock:/ { print $2 }'
		awk '/anon_inode:\[perf_event\]/ { print $1 }' "/proc/$agent/maps" |
			while IFS=- read -r start end; do echo $((0x$end - 0x$start)); done
	} | awk '{ n += $1 } END { printf "%d", n }'
}

# Once the kernel was asked for its names, it has all that it will have, but for processes
# that come and go meanwhile.
tells_kernel_bytes() {
	local off

	ask /metrics
	told=$(printf %.0f "$(metric weft_kernel_memory_bytes)")
	off=$((told - $(kernel_bytes)))
	[ "${off#-}" -le 16384 ]
}

# Slabs of tables that there are, of one MB each: the rest is made when it is needed.
count_slabs() {
	grep -lE '^value_size:.4096$' "/proc/$agent"/fdinfo/* 2>/dev/null | wc -l
}

@test "memory: that of the kernel is told, and kept by what tables get" {
	local budget tables slabs room=0 mb=1048576

	for budget in '' 24M; do
		rm -f agent.sock
		start_agent ${budget:+--kernel-memory-budget "$budget"} --keep kept \
			--listen "unix:$PWD/agent.sock"
		wait_for has_closed 1
		wait_for tells_kernel_bytes
		slabs=$(count_slabs)
		stop_agent
		tables=$(metric weft_unwind_memory_bytes)
		echo "$told of $(metric weft_kernel_memory_budget_bytes), tables $tables," \
			"of which $slabs MB are made"
		[ "$slabs" -gt 0 ]
		[ "$told" -le "$(metric weft_kernel_memory_budget_bytes)" ]
		# tables have what is used of it
		[ -n "$budget" ] || [ "$tables" -eq $((64 * mb)) ]
		[ -n "$budget" ] || [ "$told" -lt "$tables" ]
	done
	# little of it is left unused, but what is kept for tables, processes and files to come
	[ "$(metric weft_kernel_memory_budget_bytes)" -eq $((24 * mb)) ]
	[ "$(printf '%s\n' 6.1 "$(uname -r)" | sort -V | head -1)" != 6.1 ] || room=$((11 * mb))
	[ "$((told + tables - slabs * mb + room))" -ge $((22 * mb)) ]
	grep -qE 'unwind tables have [0-9.]+ MB of .* instead of 64, .* within 24.0 MB' said
}

@test "memory: a budget that the kernel's part can't keep is refused" {
	refused 'kernel-memory-budget: weft needs [0-9.]+ MB' agent --check-config \
		--keep "$PWD/kept" --kernel-memory-budget 4M
}

# Its stacks are whole, and say where in which file.
has_mild_without_names() {
	grep -qhE '^mild;.*;mild\+0x[0-9a-f]+ ' kept/*
}

@test "memory: names are let go, and not looked for while it is short" {
	"$E2E_BIN/mild" >/dev/null 3>&- &
	pids+=($!)
	start_agent -F 199 --memory-budget 1M --keep kept --keep-format folded \
		--listen "unix:$PWD/agent.sock"
	wait_for grep -q 'which is not enough: no new names' said
	wait_for is_ready
	ask /metrics
	[ "$(metric weft_memory_short)" = 1 ]
	[ "$(metric weft_memory_budget_bytes)" = 1048576 ]
	wait_for has_mild_without_names
	stop_agent
}
