#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Processes that weft has not heard of: it is stopped when they begin, and until they
# have ended. Ticks know by which tables to walk where the same files ran before.
# shellcheck disable=SC2154 # set by lib.bash

load lib

setup() {
	in_a_folder
	[ "$(id -u)" -eq 0 ] || skip "not root"
	[ "$(printf '%s\n' 6.1 "$(uname -r)" | sort -V | head -1)" = 6.1 ] ||
		skip "kernels before 6.1 have no tree of mappings"
	needs_recording
	pids=()
}

teardown() {
	kill_ours ${pids[@]+"${pids[@]}"}
}

# MS PROGRAM ARGUMENT…: the program runs once while weft runs, which has so long to make
# its table, and once more as "again" while weft is stopped
run_unheard() {
	local ms=$1 program=$2
	shift 2

	ln -sf "$program" again
	start_recorder -F 499 -o out --stats-json stats
	recorder_runs
	"$program" "$@" || true
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	kill -STOP "$recorder"
	./again "$@" || true
	kill -CONT "$recorder"
	kill -INT "$recorder"
	recorder_ends
	grep -q '^again;' out
}

# PATTERN: all of again's stacks in user mode have it
all_have() {
	! grep '^again;' out | grep -vE '^again;[^;]*_\[k\]' | grep -vE "$1" >others
}

@test "whose files ran before is walked by their tables" {
	# it asks for the time now and then; the kernel's own code for that is no file. What
	# libc asks the processor as it begins takes a virtual machine its time
	local start='_start;__libc_start_main[^; ]*(;[^;bmn ][^; ]*)*' # nothing of its own
	local work='_start;.*;main;beta_work(;beta_burn|;now_ms.*)?' time='\[cut\];__vdso_.*'
	for ms in 100 2000 20000; do
		run_unheard "$ms" "$E2E_BIN/beta" 300
		! all_have "^again;($work|$time|$start)( |;.*_\[k\])" || return 0
	done
	cat others
	false
}

@test "so is who has shared libraries" {
	for ms in 100 2000 20000; do
		run_unheard "$ms" /usr/bin/python3 -c 'sum(i * i for i in range(6000000))'
		! all_have '^again;_start;' || return 0
	done
	cat others
	false
}

@test "who may have async callers is not: they would be missing" {
	local top=$BATS_TEST_DIRNAME/../..

	gcc -O2 -fno-omit-frame-pointer -I"$top/include" -I"$top/tests/workloads" \
		-o roots "$top/tests/workloads/roots.c" -pthread
	run_unheard 2000 "$PWD/roots" driven 300 3 >/dev/null
	all_have '\[cut\]' || { cat others; false; }
	# nor who has them in a library, which need not be on the stack
	gcc -shared -fPIC -o libkey.so -x c - <<<"
		unsigned int folly_async_stack_root_tls_key;
		int f(void) { return (int)folly_async_stack_root_tls_key; }"
	gcc -O1 -o spins -x c - -L. -lkey "-Wl,-rpath,$PWD" <<<"
		int f(void);
		int main(void) { for (volatile long i = f(); i < 100000000; i++); }"
	run_unheard 2000 "$PWD/spins"
	# before the linker maps it, nobody has any
	all_have '\[cut\]|^again;_start;_dl_start[; ]' || { cat others; false; }
	grep -q '^again;\[cut\]' out
}
