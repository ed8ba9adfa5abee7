# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# BPF time a sample of one task with a stack of known depth, by the kernel's own
# account, one program attached at a time: weft's beside one that calls the
# kernel's walker; weft's with async chains beside weft's without.

WARM_MS=500 # until keys are published and caches are as they will be

# HZ COMMAND…: runs it with its program attached to the deep task
on_deep() {
	local hz=$1 runs=$stack_runs
	shift

	[ "$hz" -ge 500 ] || runs=$((runs / 3))
	"$bin/meter" -p "$deep_pid" -r "$hz" -n "$runs" -w $WARM_MS \
		-o "$work/meter" "$@" >"$work/out" 2>"$work/err" || return
	ns_a_run "$work/meter"
}

# DEEP-ARGUMENTS…: such a stack, until the row is done
start_deep() {
	"$bin/deep" 3600000 "$@" &
	deep_pid=$!
}

end_deep() {
	kill "$deep_pid" && wait "$deep_pid" 2>/dev/null
}

# HZ FRAMES [HOW]: ns a sample of weft, by --unwind HOW. Its own ticks, one a second
# and CPU, are few; all that is the program's, and who reads its rings, is as it
# always is.
deep_by_weft() {
	on_deep "$1" "$weft" record -q -a -F 1 --event cpu-clock --unwind "${3-auto}" \
		-o "$work/deep.folded" --stats-json "$work/deep.json" || return
	[ "$(folded_depth)" -ge "$2" ]
}

deep_by_peer() {
	on_deep "$1" "$bin/peer" "$1" || return
	[ "$(peer_frames)" -ge "$2" ]
}

peer_frames() {
	sed -n 's/.*frames=//p' "$work/out"
}

# How many frames the hottest folded stack has; of equal ones, the deepest.
folded_depth() {
	awk -F ';' '{ n = $NF; sub(/.* /, "", n) }
	n + 0 > most || (n + 0 == most && NF - 1 > depth) { most = n + 0; depth = NF - 1 }
	END { print depth + 0 }' "$work/deep.folded"
}

# The kernel's walker stops at 127 frames unless told otherwise; it can't be
# told while any program that uses it is loaded.
kernel_limit() {
	for _ in 1 2 3 4 5 6; do
		sysctl -qw "kernel.perf_event_max_stack=$1" 2>/dev/null && return
		sleep 0.5
	done
	return 1
}

raise_kernel_limit() {
	local limit

	limit=$(sysctl -n kernel.perf_event_max_stack)
	[ "$limit" -lt 640 ] || return 0
	kernel_limit 640 && old_limit=$limit
}

restore_kernel_limit() {
	[ -z "${old_limit-}" ] || kernel_limit "$old_limit" ||
		say "kernel.perf_event_max_stack could not be set back to $old_limit"
	old_limit=
}

# HZ FRAMES BYTES AIM
stack_row() {
	local hz=$1 frames=$2 bytes=$3 aim=$4 ours peer note=-
	local name="stack $frames frames of $bytes B, $hz Hz"

	start_deep "$frames" "$bytes"
	for _ in $(seq "$rounds"); do
		ours=$(deep_by_weft "$hz" "$frames") ||
			{ ours=- note="weft did not see the whole stack"; }
		peer=$(deep_by_peer "$hz" "$frames") ||
			{ peer=- note="the peer saw $(peer_frames) frames"; }
		round "$name" "$ours" "$peer"
	done
	end_deep
	row "$name" ns "$aim" ratio "$note"
}

run_stack() {
	local bytes frames

	raise_kernel_limit ||
		say "the kernel's walker stays at 127 frames: another program uses it"
	stack_row 997 0 32 1.1
	for frames in 10 100 500; do
		for bytes in $sizes; do
			stack_row 997 "$frames" "$bytes" \
				"$(stack_aim "$frames" "$bytes")"
		done
	done
	if [ -z "$quick" ]; then
		for bytes in $sizes; do
			stack_row 99 100 "$bytes" "$(stack_aim 100 "$bytes")"
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

# The same stack by table throughout and by frame pointer throughout.
run_unwind() {
	local name hz bytes

	for hz in 997 99; do
		for bytes in $sizes; do
			name="by table beside by frame pointer, 100 frames of $bytes B, $hz Hz"
			start_deep 100 "$bytes"
			for _ in $(seq "$rounds"); do
				round "$name" "$(deep_by_weft "$hz" 90 table || echo -)" \
					"$(deep_by_weft "$hz" 90 fp || echo -)"
			done
			end_deep
			row "$name" ns 2 ratio "the peer is weft itself, --unwind fp"
		done
	done
}

# CHAINS-OR-NOTHING: ns a sample; chains must have been seen when there are some
async_by_weft() {
	local ns

	start_deep 100 "$bytes" "$@"
	ns=$(deep_by_weft 997 90) || ns=-
	end_deep
	if [ $# -gt 0 ] && [ "$(json_figure "$work/deep.json" async)" -lt "$stack_runs" ]; then
		say "weft saw too few chains"
		ns=-
	fi
	echo "$ns"
}

run_async() {
	local name bytes with

	for bytes in 32 240; do
		name="async 50 frames in 5 roots, $bytes B"
		for _ in $(seq "$rounds"); do
			with=$(async_by_weft chains)
			round "$name" "$with" "$(async_by_weft)"
		done
		row "$name" ns 1.30 ratio \
			"the peer is weft itself, on the same stack without"
	done
}

# FRAMES [fibers]: ns a sample by table
fibers_by_weft() {
	local ns frames=$1
	shift

	start_deep "$frames" 240 "$@"
	ns=$(deep_by_weft 997 "$frames" table) || ns=-
	end_deep
	echo "$ns"
}

# What one boundary costs beside one step. Its three frames (of the fiber's function, and
# of those that start it) are frames like others. Both are small differences of large
# figures, so there are many boundaries, and many rounds.
run_boundary() {
	local name='a boundary of stacks beside a step by table' with without few seen=''

	for _ in $(seq $((5 * rounds))); do
		with=$(fibers_by_weft 400 fibers) without=$(fibers_by_weft 460) few=$(fibers_by_weft 100)
		[[ " $with $without $few " != *" - "* ]] || continue
		seen=1
		round "$name" "$(calc "($with - $without) / 20")" "$(calc "($without - $few) / 360")"
	done
	if [ -z "$seen" ]; then
		no_row "$name" "weft did not see the whole stack"
		return 1
	fi
	row "$name" 'short ns' 3 ratio "the peer is weft itself, per frame of the same stack"
}
