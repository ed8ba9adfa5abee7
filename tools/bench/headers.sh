# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# What the public headers cost the programs that use them: nanoseconds beyond an
# empty loop, a switch of fibers beside boost.context's, an echo server with the
# header beside the same without, and how many bytes of code a call site takes.

# NAME: what headers said of it
said() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { if (!found) print "-" }' \
		"$work/headers"
}

# SITE COMPILER: bytes of code more than without
site_bytes() {
	"$2" -O2 -Iinclude -c "$tools/sites.c" -o "$work/sites.o" || return
	nm -S --defined-only "$work/sites.o" | awk -v site="site_$1" '
		{ bytes = $2; sub(/^0+/, "", bytes) }
		$4 == site { with = bytes }
		$4 == "site_none" { without = bytes }
		END { print with, without }' | {
		read -r with without
		echo $((0x$with - 0x$without))
	}
}

# The ratio is that of the turns that the two took, not of their medians.
echo_rounds() {
	local i with without ratio

	for ((i = 0; i < rounds; i++)); do
		read -r with without ratio < <("$bin/echo") || return
		round 'echo server, CPU time a request' "$with" "$(calc "$with / $ratio")"
	done
	row 'echo server, CPU time a request' ns 1.01 ratio \
		'peer: the same without the header; its throughput is the inverse'
}

# A million switches a second and more, sampled at 5 kHz, judged sample by sample.
run_storm() {
	local said

	said=$("$tools/../../tests/headers/profiles" "$build" --storm "$storm_s") || {
		echo "$said" >&2
		return 1
	}
	round 'storm of switches, false samples' 0 -
	row 'storm of switches, false samples' samples - none "$(sed -n 's/^# //p' <<<"$said" | head -1)"
}

run_headers() {
	local i site

	for ((i = 0; i < rounds; i++)); do
		"$bin/headers" >"$work/headers" || return
		round 'push and pop' "$(said push_pop)" -
		round 'root enter and leave' "$(said enter_leave)" "$(said getspecific)"
		round 'mark' "$(said mark)" "$(said getspecific)"
		round 'capture of 8 callers' "$(said capture)" -
		round 'leaf added and removed' "$(said leaf)" -
		round 'fiber switch, no roots' "$(said switch)" "$(said switch_boost)"
		round 'fiber switch' "$(said switch_rooted)" "$(said switch_boost)"
	done
	row 'push and pop' 'short ns' 1 ours
	row 'root enter and leave' 'short ns' 2.5 ours 'peer: one pthread_getspecific()'
	row 'mark' 'short ns' - none
	row 'capture of 8 callers' 'short ns' - none
	row 'leaf added and removed' 'short ns' - none
	row 'fiber switch, no roots' 'short ns' 2 ours 'peer: boost.context'
	row 'fiber switch' 'short ns' - none
	for site in mark root push_pop capture switch; do
		round "bytes of code, $site" "$(site_bytes $site "${CC:-gcc}")" \
			"$(site_bytes $site "${CLANG:-clang}")"
		row "bytes of code, $site" bytes - none
	done
	echo_rounds
}
