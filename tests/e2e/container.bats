#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Processes that have a root, a libc and process ids of their own, and files that change
# below running programs.
# shellcheck disable=SC2154 # last_pid: set by faults.bash

load lib
load faults

# Its root: node by the host's files, a program of musl, and nothing else of it.
make_root() {
	mkdir -p root/{bin,lib,lib64,usr,proc,dev,tmp,old}
	printf '%s\n' 'volatile unsigned long work;' \
		'__attribute__((noinline)) void musl_burn(void)' \
		'{ for (int i = 0; i < 1000000; i++) work += i; }' \
		'int main(void) { for (;;) musl_burn(); }' >spin.c
	musl-gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-o root/bin/program spin.c
	cp "/usr/lib/$(uname -m)-linux-musl/libc.so" \
		"root$(readelf -lW root/bin/program | sed -n 's/.*interpreter: \(.*\)]/\1/p')"
	cp "$(readlink -f /bin/busybox)" root/bin/busybox
	echo 'function nodeHot(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1003;
		return s; } for (;;) nodeHot(1e6);' >hot.js
	cat >enter <<-'END'
		mount --bind root root && cd root && mount --rbind /usr usr &&
			mount --rbind /dev dev && mount -t proc proc proc &&
			mount -t tmpfs tmpfs tmp && cp ../hot.js tmp && pivot_root . old &&
			exec /bin/busybox sh -c '
				/bin/busybox umount -l /old
				cd /tmp
				/bin/program &
				exec "$0" --library-path "$1" "$2" --perf-basic-prof hot.js' "$@"
	END
	loader=$(readelf -lW "$(readlink -f "$(command -v node)")" |
		sed -n 's/.*interpreter: \(.*\)]/\1/p')
	cp "$loader" "root$loader"
}

# Node's number, seen from here, is $inner.
start_container() {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	for tool in musl-gcc node busybox; do
		command -v $tool >/dev/null || skip "no $tool here"
	done
	make_root
	start unshare -mpf --kill-child --propagation private sh enter "$loader" \
		"$(dirname "$(readlink -f "$loader")")" "$(readlink -f "$(command -v node)")"
	wait_for grep -q . "/proc/$last_pid/task/$last_pid/children"
	inner=$(xargs <"/proc/$last_pid/task/$last_pid/children")
	wait_for grep -qs nodeHot "/proc/$inner/root/tmp/perf-1.map"
	[ ! -e /tmp/perf-1.map ]
}

@test "a container: a root and a libc of its own, and node as its process 1" {
	start_container
	wait_for grep -q . "/proc/$inner/task/$inner/children"
	program=$(xargs <"/proc/$inner/task/$inner/children")
	record_while "$inner,$program" 300 -F 999 -p "$inner,$program" -o out \
		--stats-json stats
	adds_up out stats
	grep -qE '^program;.*;main;musl_burn ' out
	grep -qE ';[^;]*nodeHot[^;]*_\[j\][; ]' out || { cut -c1-300 out | tail -3; false; }
}

# As a package manager has it: another file by the same name, beside what still runs.
@test "an upgrade while weft records: old and new each by its own file" {
	cp "$E2E_BIN/alpha" program
	start ./program
	old=$last_pid
	start_recorder -F 999 -o out --stats-json stats
	recorder_runs
	cp "$E2E_BIN/beta" program.new
	mv program.new program
	start ./program
	runs_for 300 "$old" "$last_pid"
	kill -INT "$recorder"
	recorder_ends 0
	adds_up out stats
	grep -q '^program;.*;main;alpha_work;alpha_burn ' out
	grep -q '^program;.*;main;beta_work;beta_burn ' out
	run ! grep -E 'alpha_.*beta_|beta_.*alpha_' out
}

# As soon as it has ended its files are gone, but what it ran has names.
@test "a container that is gone by the end: node's functions have their names" {
	start_container
	start_recorder -F 999 -o out --stats-json stats
	recorder_runs
	runs_for 300 "$inner"
	kill -KILL "$last_pid"
	wait_for test ! -e "/proc/$inner"
	kill -INT "$recorder"
	recorder_ends 0
	adds_up out stats
	grep -qE ';[^;]*nodeHot[^;]*_\[j\][; ]' out || { cut -c1-300 out | tail -3; false; }
}
