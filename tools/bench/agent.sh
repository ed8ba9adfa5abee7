# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154 # inner scripts; set by run
#
# What an agent costs while nothing but its work happens: profiles of ten seconds, with
# names, kept on disk. Beside it bpftrace, which prints its stacks with names as often;
# and OpenTelemetry's profiler where OTEL_PROFILER says how to run it (its program, the
# word {HZ} for the rate, a receiver's address), which names them elsewhere.
#
# The share is what a longer run takes more than a shorter one, so it has no start in it.
# All processes and BPF programs count.

# HZ
agent_program() {
	printf 'profile:hz:%s { @[kstack, ustack, comm, pid] = count(); }
		interval:s:10 { print(@); clear(@); }' "$1"
}

# NAME MS COMMAND…: it for so long; into $work/NAME.meter
agent_run() {
	local name=$1 ms=$2
	shift 2
	"$bin/meter" -s "$ms" -o "$work/$name.meter" "$@" >"$work/$name.out" 2>"$work/err"
	[ "$(figure "$work/$name.meter" all_runs)" -gt 0 ]
}

# NAME COMMAND…: shorter, and longer; percent of all CPUs' time in between. Once before, so
# that both find what is kept on disk, and files in memory. "-": the longer run took less;
# of who reads symbols at length one run differs from the next by more than that.
agent_share() {
	local name=$1 part
	shift
	agent_run "$name.before" "$agent_settle_ms" "$@" &&
		agent_run "$name.shorter" "$agent_settle_ms" "$@" &&
		agent_run "$name" $((agent_settle_ms + agent_ms)) "$@" || return
	for part in "$name.shorter" "$name"; do
		calc "$(figure "$work/$part.meter" cpu_ns) + \
			$(figure "$work/$part.meter" all_run_ns)"
		echo
	done | xargs | awk -v of="$((agent_ms * $(nproc)))" \
		'{ if ($2 < $1) print "-"; else printf "%.4f\n", 100 * ($2 - $1) / (of * 1e6) }'
}

# HZ
agent_by_weft() {
	rm -rf "$work/kept" "$work/spool"
	agent_share agent "$weft" agent -q -F "$1" --cpu-budget '100%' \
		--keep "$work/kept" --keep-format pprof --spool "$work/spool" \
		--unwind-cache "$work/cache"
}

agent_by_bpftrace() {
	has bpftrace || return
	agent_share bpftrace bpftrace -e "$(agent_program "$1")"
}

agent_by_otel() {
	[ -n "${OTEL_PROFILER-}" ] || return
	# shellcheck disable=SC2086 # words
	agent_share otel ${OTEL_PROFILER//\{HZ\}/$1}
}

# HZ AIM
agent_at() {
	local share="agent at $1 Hz: share" memory="agent at $1 Hz: memory" ours peer

	for _ in $(seq "$rounds"); do
		if ! ours=$(agent_by_weft "$1"); then
			say "weft failed: $(tail -1 "$work/err")"
			return 1
		fi
		peer=$(agent_by_bpftrace "$1") || peer=-
		round "$share" "$ours" "$peer"
		[ "$peer" = - ] || peer=$(figure "$work/bpftrace.meter" rss_kb)
		round "$memory" "$(figure "$work/agent.meter" rss_kb)" "$peer"
		peer=$(agent_by_otel "$1") || continue
		round "$share, beside otel" "$ours" "$peer"
		round "$memory, beside otel" "$(figure "$work/agent.meter" rss_kb)" \
			"$(figure "$work/otel.meter" rss_kb)"
	done
	row "$share" % "$2" ours "the peer is bpftrace, whose stacks are by frame pointer"
	row "$memory" kB 81920 ours "of all its processes"
	row "$share, beside otel" % - none
	row "$memory, beside otel" kB - none
}

# What is paid once: until the first samples are there, and at the end.
agent_starts() {
	local name='agent: CPU of a start and a stop' ours peer

	for _ in $(seq "$rounds"); do
		agent_settle_ms=1000 agent_ms=1000 agent_by_weft 19 >/dev/null || return
		ours=$(figure "$work/agent.shorter.meter" cpu_ns) peer=-
		! agent_settle_ms=1000 agent_ms=1000 agent_by_bpftrace 19 >/dev/null ||
			peer=$(figure "$work/bpftrace.shorter.meter" cpu_ns)
		round "$name" "$ours" "$peer"
	done
	row "$name" ns 3e8 ours
}

run_agent() {
	agent_at 19 0.1 && agent_at 99 - && agent_starts
}
