# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# BPF time a sample of one task with a stack of known depth, by the kernel's own
# account, one program attached at a time: weft's beside one that calls the
# kernel's walker; weft's with async chains beside weft's without.

WARM_MS=300 # until keys are published and caches are as they will be

# HZ DEEP-ARGUMENTS…: ns a sample of weft
deep_by_weft() {
	local hz=$1
	shift

	"$bin/meter" -w $WARM_MS -o "$work/meter" "$weft" record -q -F "$hz" \
		--event cpu-clock -o "$work/deep.folded" --stats-json "$work/deep.json" \
		-- "$bin/deep" "$@" >/dev/null 2>"$work/err" || return
	ns_a_run "$work/meter"
}

# The same by the peer. It must have seen as deep a stack.
deep_by_peer() {
	local hz=$1 frames=$3
	shift

	"$bin/meter" -w $WARM_MS -o "$work/meter" "$bin/peer" "$hz" "$bin/deep" "$@" \
		>"$work/peer.out" 2>"$work/err" || return
	[ "$(sed 's/.*frames=//' "$work/peer.out")" -ge "$frames" ] || return
	ns_a_run "$work/meter"
}

# How many frames the hottest folded stack has.
folded_depth() {
	sort -k2,2n -t' ' "$work/deep.folded" | tail -1 | awk -F';' '{ print NF }'
}

# The kernel's walker stops at 127 frames unless told otherwise; it can't be
# told while another program uses it.
raise_kernel_limit() {
	old_limit=$(sysctl -n kernel.perf_event_max_stack)
	[ "$old_limit" -ge 640 ] || sysctl -qw kernel.perf_event_max_stack=640 2>/dev/null
}

restore_kernel_limit() {
	[ -z "${old_limit-}" ] || for _ in 1 2 3 4 5; do
		sysctl -qw "kernel.perf_event_max_stack=$old_limit" 2>/dev/null && break
		sleep 0.5
	done
	old_limit=
}

# HZ CPU-MS FRAMES BYTES AIM
stack_row() {
	local hz=$1 ms=$2 frames=$3 bytes=$4 aim=$5 ours peer note=-
	local name="stack $frames frames of $bytes B, $hz Hz"

	for _ in $(seq "$rounds"); do
		ours=$(deep_by_weft "$hz" "$ms" "$frames" "$bytes") || ours=-
		if [ "$ours" != - ] && [ "$(folded_depth)" -lt "$frames" ]; then
			ours=- note="weft did not see the whole stack"
		fi
		peer=$(deep_by_peer "$hz" "$ms" "$frames" "$bytes") || peer=-
		[ "$peer" != - ] || note="the peer did not see the whole stack"
		round "$name" "$ours" "$peer"
	done
	row "$name" ns "$aim" ratio "$note"
}

run_stack() {
	local bytes frames few_hz=997 many_ms=1500 few_ms=3500 note

	[ -z "$quick" ] || many_ms=1000
	raise_kernel_limit || true
	stack_row $few_hz $many_ms 0 32 1.1
	for frames in 10 100 500; do
		for bytes in $sizes; do
			stack_row $few_hz $many_ms "$frames" "$bytes" \
				"$(stack_aim "$frames" "$bytes")"
		done
	done
	if [ -z "$quick" ]; then
		for bytes in $sizes; do
			stack_row 99 $few_ms 100 "$bytes" "$(stack_aim 100 "$bytes")"
		done
	fi
	restore_kernel_limit
}

stack_aim() {
	if [ "$1" = 100 ] && [ "$2" -le 100 ]; then
		echo 0.7
	else
		echo 1.1
	fi
}

run_async() {
	local name="async 50 frames in 5 roots" with without bytes

	for bytes in 32 100; do
		for _ in $(seq "$rounds"); do
			with=$(deep_by_weft 997 1500 100 $bytes chains) || with=-
			if [ "$(json_figure "$work/deep.json" async)" = 0 ]; then
				say "weft saw no chains"
				with=-
			fi
			without=$(deep_by_weft 997 1500 100 $bytes) || without=-
			round "$name, $bytes B" "$with" "$without"
		done
		row "$name, $bytes B" ns 1.30 ratio \
			"over the same stack without; the peer is weft itself"
	done
}
