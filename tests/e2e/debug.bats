#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Symbols that lie elsewhere: in debug files, of this very build, beside a program and
# below the root of its process.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib

setup() {
	in_a_folder
	pids=()
}

teardown() {
	for pid in "${pids[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
}

# A stripped program and its debug file, whose functions NUMBER tells apart.
build() {
	cat >burn.c <<-'END'
		#include <unistd.h>
		static volatile int sink;
		static inline __attribute__((always_inline)) void innermost(void)
		{ for (int i = 0; i < 100000; i++) sink += i; }
		static __attribute__((noinline)) void one(void) { innermost(); sink = NUMBER; }
		int main(void) { alarm(120); for (;;) one(); }
	END
	gcc -O1 -g -static -Wl,--build-id -DNUMBER="$1" -o whole burn.c || skip "no gcc"
	objcopy --only-keep-debug whole whole.debug
	objcopy -S --add-gnu-debuglink=whole.debug whole burn
}

# Options of record_burn
options=()

# PROGRAM…: it runs in the background; $program
start() {
	"$@" 3>&- >/dev/null 2>&1 &
	program=$!
	pids+=($!)
}

record_burn() {
	start "$@"
	record_while "$program" 300 -p "$program" -F 997 --inlines -o out.folded \
		--stats-json stats "${options[@]}"
	kill -9 "$program"
}

is_named() {
	grep -qE ';main;one(;innermost_\[i\])? ' out.folded &&
		jq -e '.names.debug_file > 20 and .symbols.debug_files >= 1' stats
}

@test "names and inlined functions come from a debug file, of this build only" {
	needs_recording
	build 3
	record_burn ./burn
	is_named
	grep -qE ';main;one;innermost_\[i\] ' out.folded
	mkdir .debug && mv whole.debug .debug/
	record_burn ./burn
	is_named
	# another build's, in its place
	mv burn kept
	build 4
	mv kept burn
	mv whole.debug .debug/
	record_burn ./burn
	run ! grep -qE ';(main|one|innermost)' out.folded
	jq -e '.names.debug_file == 0 and .symbols.debug_files_of_others >= 1' stats
}

@test "debug files below the root of the process, of whom it may believe" {
	needs_recording
	[ "$(id -u)" -eq 0 ] || skip "another root takes root"
	build 3
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	folder=root/usr/lib/debug/.build-id/${id::2}
	mkdir -p "$folder"
	objcopy --remove-section .gnu_debuglink burn root/burn
	mv whole.debug "$folder/${id:2}.debug"
	record_burn chroot root /burn
	is_named
	# a forged one: its owner owns neither the program nor the machine
	chown 12345 "$folder/${id:2}.debug"
	record_burn chroot root /burn
	run ! grep -qE ';(main|one|innermost)' out.folded
	chown 12345 root/burn
	record_burn chroot root /burn
	is_named
}

@test "files with symbols below a folder that is named" {
	needs_recording
	build 3
	mkdir -p "symbols$PWD"
	mv whole "symbols$PWD/burn"
	rm whole.debug
	record_burn ./burn
	run ! grep -qE ';(main|one|innermost)' out.folded
	options=(--symfs symbols)
	record_burn ./burn
	is_named
	# of another build
	mv burn kept
	build 4
	mv whole "symbols$PWD/burn"
	mv kept burn
	rm whole.debug
	record_burn ./burn
	run ! grep -qE ';(main|one|innermost)' out.folded
	refused "--symfs 'none'" record --symfs none
	refused 'not a folder' record --symfs burn
}

# HOW: a server of the debug files in served/; $url
serve() {
	rm -f port served/asked
	"$BATS_TEST_DIRNAME/debuginfod.py" served "$1" >port 2>server.err 3>&- &
	pids+=($!)
	wait_ready $! port
	url=http://127.0.0.1:$(cat port)
	options=(--debuginfod "$url")
}

@test "debug files come from a server that is named, after the sampling" {
	needs_recording
	command -v python3 >/dev/null || skip "no python3"
	build 3
	mkdir served
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mv whole.debug "served/$id"
	serve well
	options=()
	DEBUGINFOD_URLS="file:/nowhere $url/" record_burn ./burn
	is_named
	grep -q "^/buildid/$id/debuginfo$" served/asked
	jq -e '.debuginfod | .found >= 1 and .failed == 0 and .bytes > 1000' stats
	# the environment names it as well, unless somebody says none
	rm served/asked
	options=(--debuginfod none)
	DEBUGINFOD_URLS=$url record_burn ./burn
	[ ! -e served/asked ]
	jq -e '.debuginfod.asked == 0 and .names.debug_file == 0' stats
	refused 'no URL' record --debuginfod localhost
}

@test "a server of debug files that fails, lies or hangs costs names and no more" {
	needs_recording
	command -v python3 >/dev/null || skip "no python3"
	build 4
	mkdir served
	mv whole.debug served/other
	build 3
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mv whole.debug "served/$id"
	for how in cut other hang; do
		serve $how
		record_burn ./burn
		grep -q . served/asked
		run ! grep -qE ';(main|one|innermost)' out.folded
		jq -e '.names.debug_file == 0' stats
		case $how in
		other) jq -e '.symbols.debug_files_of_others >= 1' stats ;;
		*) jq -e '.debuginfod | .failed >= 1 and .found == 0' stats ;;
		esac
	done
	grep -q "$url does not answer as it should" err
}
