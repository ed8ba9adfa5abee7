# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154 # inner scripts; set by run
#
# The whole machine under load, from tick to folded file, one profiler at a
# time: BPF time and CPU a sample, how long until the first, how long after
# Ctrl-C, memory, losses.
#
# perf's CPU has no share for what its ticks cost in the kernel, which nobody
# counts; bpftrace's has none for folding its output. Both are in their favour.

BPFTRACE_PROGRAM='profile:hz:99 { @[kstack, ustack, comm, pid] = count(); }'

by_weft() {
	"$bin/meter" -s "$whole_ms" -o "$work/weft.meter" "$weft" record -q -F 99 \
		--event cpu-clock -o "$work/weft.folded" --stats-json "$work/weft.json" \
		2>"$work/err" || return
	[ "$(figure "$work/weft.meter" status)" = 0 ] || return
	grep -q '"adds_up":true' "$work/weft.json" || say "the ledger does not add up"
	weft_samples=$(json_figure "$work/weft.json" kept)
	weft_cpu=$(cpu_a_sample "$work/weft.meter" "$weft_samples")
}

# Its user and system time and that of its BPF programs.
cpu_a_sample() {
	calc "($(figure "$1" cpu_ns) + $(figure "$1" all_run_ns)) / $2"
}

by_bpftrace() {
	has bpftrace || return
	"$bin/meter" -s "$whole_ms" -o "$work/bpftrace.meter" \
		bpftrace -o "$work/bpftrace.out" -e "$BPFTRACE_PROGRAM" \
		>/dev/null 2>"$work/err" || return
	[ "$(figure "$work/bpftrace.meter" runs)" -gt 0 ]
}

perf_to_folded() {
	"$bin/meter" -o "$work/script.meter" bash -c '
		perf script --no-inline -F comm,pid,ip,sym -i "$1" 2>/dev/null |
			awk -f "$2" >"$3"' - "$work/perf.data" "$tools/fold.awk" \
		"$work/perf.folded" 2>"$work/perf.samples"
}

perf_first_ns() {
	perf script --no-inline -F time -i "$work/perf.data" 2>/dev/null |
		awk -v began="$(figure "$work/perf.meter" began_ns)" '
		!first || $1 + 0 < first { first = $1 + 0 }
		END { printf "%.0f\n", first * 1e9 - began }'
}

by_perf() {
	has perf || return
	"$bin/meter" -s "$whole_ms" -o "$work/perf.meter" \
		perf record -q -a -g -F 99 -e cpu-clock -k CLOCK_MONOTONIC \
		-o "$work/perf.data" >/dev/null 2>"$work/err"
	[ -s "$work/perf.data" ] && perf_to_folded || return
	perf_samples=$(tail -1 "$work/perf.samples")
	[ "$perf_samples" -gt 0 ]
}

# FOLDED: ours, which are true; what is not known is no frame.
frames_by_weft() {
	awk '{ frames = gsub(/;/, ";"); frames -= gsub(/;\[cut\];/, ";")
		all += frames * $NF; samples += $NF }
	END { if (!samples) exit 1; printf "%.2f\n", all / samples }' "$1"
}

# OUTPUT: a line a frame, and behind a stack how often it was there. Which of them are
# true, nobody says: all count, in its favour.
frames_by_bpftrace() {
	awk '/^@\[/ { frames = 0 }
	/^ / { frames++ }
	/\]: [0-9]+$/ { all += frames * $NF; samples += $NF }
	END { if (!samples) exit 1; printf "%.2f\n", all / samples }' "$1"
}

true_frames_beside_bpftrace() {
	our_frames=$(frames_by_weft "$work/weft.folded") &&
		peer_frames=$(frames_by_bpftrace "$work/bpftrace.out") || return 0
	round 'BPF a true frame, beside bpftrace' \
		"$(calc "$(ns_a_run "$work/weft.meter") / $our_frames")" \
		"$(calc "$(ns_a_run "$work/bpftrace.meter") / $peer_frames")"
}

beside_bpftrace() {
	local meter=$work/bpftrace.meter runs

	true_frames_beside_bpftrace
	runs=$(figure "$meter" runs)
	round 'BPF a sample, beside bpftrace' "$(ns_a_run "$work/weft.meter")" \
		"$(ns_a_run "$meter")"
	round 'CPU a sample, beside bpftrace' "$weft_cpu" "$(cpu_a_sample "$meter" "$runs")"
	round 'first sample, beside bpftrace' "$weft_first" "$(figure "$meter" first_run_ns)"
	round 'Ctrl-C to file, beside bpftrace' "$weft_stop" "$(figure "$meter" stop_ns)"
	round 'memory, beside bpftrace' "$weft_rss" "$(figure "$meter" rss_kb)"
}

# Of perf record and perf script together
perf_cpu_a_sample() {
	calc "($(figure "$work/perf.meter" cpu_ns) + $(figure "$work/script.meter" cpu_ns)) \
		/ $perf_samples"
}

beside_perf() {
	local meter=$work/perf.meter script=$work/script.meter cpu stop

	cpu=$(perf_cpu_a_sample)
	stop=$(($(figure "$meter" stop_ns) + $(figure "$script" wall_ns)))
	round 'CPU a sample, beside perf' "$weft_cpu" "$cpu"
	round 'first sample, beside perf' "$weft_first" "$(perf_first_ns)"
	round 'Ctrl-C to file, beside perf' "$weft_stop" "$stop"
	round 'memory, beside perf' "$weft_rss" "$(figure "$meter" rss_kb)"
}

whole_round() {
	if ! by_weft; then
		say "weft failed: $(tail -1 "$work/err")"
		return 1
	fi
	# from fork, so that it is what the peers' is
	weft_first=$(figure "$work/weft.meter" first_run_ns)
	weft_stop=$(figure "$work/weft.meter" stop_ns)
	weft_rss=$(figure "$work/weft.meter" rss_kb)
	if by_bpftrace; then
		beside_bpftrace
	else
		round 'BPF a sample, beside bpftrace' "$(ns_a_run "$work/weft.meter")" -
		no_bpftrace=1
	fi
	if by_perf; then
		beside_perf
	else
		round 'CPU a sample, beside perf' "$weft_cpu" -
		no_perf=1
	fi
	round 'first sample, by weft' "$(json_figure "$work/weft.json" first_sample_ns)" -
	round 'Ctrl-C to file, by weft' "$(json_figure "$work/weft.json" finish_ns)" -
}

run_whole() {
	local on="on a load:$load_names"

	no_bpftrace='' no_perf='' our_frames=no peer_frames=no
	for _ in $(seq "$rounds"); do
		whole_round || return
	done
	row 'BPF a sample, beside bpftrace' ns 1 ratio \
		"99 Hz, $on; $(whole_of "$work/weft.json")"
	row 'BPF a true frame, beside bpftrace' ns 0.35 ratio \
		"$our_frames and $peer_frames frames a sample, of which all are taken for true"
	row 'CPU a sample, beside bpftrace' ns 0.1 ratio
	row 'CPU a sample, beside perf' ns 0.15 ratio "of 10 s, from fork to file"
	row 'first sample, beside bpftrace' ns 3e8 ours
	row 'first sample, beside perf' ns 3e8 ours
	row 'first sample, by weft' ns 3e8 ours "its own account"
	row 'Ctrl-C to file, beside bpftrace' ns 5e8 ours
	row 'Ctrl-C to file, beside perf' ns 5e8 ours
	row 'Ctrl-C to file, by weft' ns 5e8 ours "its own account"
	row 'memory, beside bpftrace' kB 40960 ours "all of its processes together"
	row 'memory, beside perf' kB 40960 ours "perf record alone"
	[ -z "$no_bpftrace" ] || no_row 'bpftrace' "not installed, or it did not run here"
	[ -z "$no_perf" ] || no_row 'perf' "not installed, or it did not run here"
}

# The same for longer, when what a start costs has been shared by more.
run_minute() {
	local name="CPU a sample, $((minute_ms / 1000)) s, beside perf" whole_ms=$minute_ms

	has perf || return 0
	if ! by_weft || ! by_perf; then
		say "weft or perf failed: $(tail -1 "$work/err")"
		return 1
	fi
	round "$name" "$weft_cpu" "$(perf_cpu_a_sample)"
	row "$name" ns 0.4 ratio "one round, from fork to file"
}

# Compilations alone, one a CPU: stacks of some thirty frames without frame pointers,
# all of which we walk, and of which bpftrace sees the leaf.
run_clang() {
	local name='clang alone: BPF a sample, beside bpftrace' peer=

	if ! load_clang "$(nproc)" >"$work/load.clang" 2>&1; then
		no_row "$name" 'clang is not installed'
		return
	fi
	sleep 1
	for _ in $(seq "$rounds"); do
		if ! by_weft; then
			say "weft failed: $(tail -1 "$work/err")"
			stop_loads
			return 1
		fi
		peer=-
		! by_bpftrace || peer=$(ns_a_run "$work/bpftrace.meter")
		round "$name" "$(ns_a_run "$work/weft.meter")" "$peer"
	done
	stop_loads
	row "$name" ns 1 ratio \
		"99 Hz; $(whole_of "$work/weft.json"), few of bpftrace's frames are true"
	[ "$peer" != - ] || no_row 'bpftrace' "not installed, or it did not run here"
}

# JSON: samples lost by any reason
lost_by_weft() {
	local outcome lost

	lost=$(json_figure "$1" over_limit)
	for outcome in no_scratch no_ring ring_full; do
		lost=$((lost + $(json_figure "$1" "$outcome")))
	done
	echo "$lost"
}

# Ticks that never came are another matter than losses, and in the note.
run_lost() {
	local hz name missed expected json=$work/lost.json

	for hz in 999 9999; do
		name="lost of a CPU's $hz samples a second"
		for _ in $(seq "$rounds"); do
			"$weft" record -q -F "$hz" --event cpu-clock -d "$lost_time" \
				-o "$work/lost.folded" --stats-json "$json" 2>"$work/err" ||
				{ say "weft failed: $(tail -1 "$work/err")"; return 1; }
			missed=$(json_figure "$json" missed_ticks_estimate)
			expected=$(json_figure "$json" expected_ticks)
			round "$name" "$(lost_by_weft "$json")" -
		done
		row "$name" samples 0 ours "of $(json_figure "$json" kept); $(calc \
			"100 * $missed / ($expected + !$expected)") % of ticks never came"
	done
}
