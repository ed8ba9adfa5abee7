#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Processes with more async keys than are followed at a time, and with none to be found.
# shellcheck disable=SC2030,SC2031,SC2154 # a shell each; set by lib.bash and by run

load lib

setup() {
	in_a_folder
	needs_recording
}

teardown() {
	stop_busy
}

# roots with eleven more key variables, which come first and are never set
build_crowd() {
	local top=$BATS_TEST_DIRNAME/../..

	for i in {1..11}; do
		cat <<-END
			static unsigned decoy$i = -1u;
			asm(".pushsection .note.weft, \"a\", %note\\n.balign 4\\n"
			    ".4byte 5, 8, 1\\n.asciz \"weft\"\\n.balign 4\\n"
			    ".8byte decoy$i - .\\n.popsection");
			unsigned *use$i(void) { return &decoy$i; }
		END
	done >decoys.c
	gcc -O2 -fno-omit-frame-pointer -I"$top/include" -I"$top/tests/workloads" \
		-o crowd decoys.c "$top/tests/workloads/roots.c" -pthread
}

@test "of more keys than fit those that are set are followed" {
	build_crowd
	./crowd driven 20000 3 >/dev/null 3>&- &
	busy_pid=$!
	runs_for 300 "$busy_pid"
	record_while "$busy_pid" 700 -p "$busy_pid" -F 999 -o out --stats-json stats
	jq -e '.samples.total > 50 and .samples.async > 0.9 * .samples.total and
		.keys.too_many_keys == 1 and .keys.too_many_set_keys == 0' stats
	run --separate-stderr weft doctor --json -p "$busy_pid"
	jq -e '.processes[0].keys | length == 12 and
		(map(select(.value != null)) | length == 1)' <<<"$output"
	run --separate-stderr weft doctor -p "$busy_pid"
	[[ $output == *"weft follows at most 8 keys at a time"* ]]
	# also one that is set only once it runs
	weft record -q -F 999 -o out --stats-json stats -- \
		prlimit --cpu=3:9 ./crowd driven 60000 3 || [ $? -eq 152 ]
	jq -e '.samples.total > 100 and .samples.async > 0.3 * .samples.total' stats ||
		{ jq -c '.samples, .keys' stats; false; }
}

# NAME FLAG...: a program with a folly of its own
build_folly() {
	local top=$BATS_TEST_DIRNAME/../.. name=$1
	shift

	gcc -O2 -fno-omit-frame-pointer -I"$top/include" -o "$name" "$@" \
		"$top/tests/workloads/folly.c" -ldl
}

# NAME: runs and records it; $stderr is the summary, stats the numbers
record_folly() {
	"./$1" plain 20000 >ready 3>&- &
	busy_pid=$!
	wait_ready "$busy_pid" ready
	record_while "$busy_pid" 200 -p "$busy_pid" -F 499 -o out --stats-json stats
	stderr=$(cat err)
	weft doctor --json -p "$busy_pid" >looked
	run weft doctor -p "$busy_pid"
	kill "$busy_pid"
	wait "$busy_pid" || true
	busy_pid=
	rm ready
}

@test "a stripped program whose key can't be found is told of" {
	for kind in '' '-static -DNO_LIBRARIES' '-static-pie -DNO_LIBRARIES'; do
		# shellcheck disable=SC2086
		build_folly lost -DKEY_LOCAL -s $kind
		record_folly lost
		jq -e '.samples.total > 0 and .samples.async == 0 and .keys.processes == 0 and
			.keyless.processes == 1 and (.keyless.file | endswith("/lost"))' stats
		[[ $stderr == *"1 processes run code of folly or libunifex, but weft can't find its"*"async key"*"/lost:"*"-rdynamic"* ]]
		jq -e '.processes[0].keyless_file | endswith("/lost")' looked
		[[ $output == *"key      none"*"/lost contains code of folly"*"-rdynamic"* ]]
	done
}

@test "who has a key, or no folly, is not told that it has none" {
	local top=$BATS_TEST_DIRNAME/../..

	build_folly table -DKEY_LOCAL
	build_folly dynamic -DKEY_WEAK -s -Wl,--export-dynamic-symbol=folly_async_stack_root_tls_key
	build_folly rdynamic -DKEY_GLOBAL -s -rdynamic
	for name in table dynamic rdynamic; do
		record_folly "$name"
		jq -e '.samples.async > 0 and .keys.processes == 1 and
			.keyless == {"processes": 0, "file": null}' stats
		[[ $stderr != *"async key,"* && $stderr != *"of folly"* ]]
		jq -e '.processes[0].keyless_file == null' looked
		[[ $output != *" contains code of folly"* ]]
	done
	# with a note of its own, and without all of it
	gcc -O2 -s -I"$top/include" -o noted "$top/tests/workloads/chain.c" -pthread
	./noted plain 20000 3 >ready 3>&- &
	busy_pid=$!
	wait_ready "$busy_pid" ready
	record_while "$busy_pid" 100 -p "$busy_pid" -F 499 -o out --stats-json stats
	stop_busy
	jq -e '.samples.async > 0 and .keyless.processes == 0' stats
	# shellcheck disable=SC2016 # for the inner shell
	weft record -q -F 499 -o out --stats-json stats -- sh -c 'i=0
		while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	jq -e '.samples.total > 0 and .keyless.processes == 0' stats
}

@test "more keys that are set than fit are counted and told" {
	local top=$BATS_TEST_DIRNAME/../..

	for i in {0..9}; do
		gcc -O2 -fno-omit-frame-pointer -I"$top/include" -shared -fPIC -DKEY_LOCAL \
			-DPLUGIN="$i" -o "libplug$i.so" "$top/tests/workloads/plugin.c"
	done
	gcc -O2 -fno-omit-frame-pointer -I"$top/include" -o plugins \
		"$top/tests/workloads/plugins.c"
	"$PWD/plugins" 20000 10 0123456789 >ready 3>&- &
	busy_pid=$!
	wait_ready "$busy_pid" ready
	record_while "$busy_pid" 200 -p "$busy_pid" -F 999 -o out --stats-json stats
	jq -e '.keys.too_many_keys == 1 and .keys.too_many_set_keys == 1' stats
	grep -q '1 processes use more than 8 async keys at once: weft does not follow all' err
}

# OPTION…: records $busy_pid, which becomes roots once it may; what says nothing of a cut or
# a gap is whole
record_first_roots() {
	start_recorder -p "$busy_pid" -F 499 -o out --stats-json stats "$@"
	recorder_runs
	: >may
	wait_for grep -q 'another program' err
	runs_for 1000 "$busy_pid"
	kill -INT "$recorder"
	recorder_ends
	grep '^roots;.*;burn' out | grep -vF -e '_[k]' -e '[cut]' -e '[missing' >burns
	! grep -vE '^roots;.*;main;.*;--;op_1;.*;--;op_2;.*;--;op_3;burn [0-9]+$' burns >others ||
		{ cat others; return 1; }
	awk '/;op_3;/ { n += $NF } END { exit n < 100 }' burns
	jq -e '.samples.unmatched == 0' stats
	[ "$(grep -c 'another program' err)" -eq 1 ]
}

# A tick is loaded without what follows chains while nobody has any.
@test "the first process with async callers is cut until ticks can follow them" {
	local top=$BATS_TEST_DIRNAME/../..

	gcc -O2 -fno-omit-frame-pointer -I"$top/include" -I"$top/tests/workloads" \
		-o roots "$top/tests/workloads/roots.c" -pthread
	sh -c 'until [ -e may ]; do sleep 0.1; done
		exec ./roots driven 60000 3' >/dev/null 3>&- &
	busy_pid=$!
	record_first_roots
	# all else is known of it when they begin
	record_first_roots --inject-fault late-parts
	stop_busy
}

# a process that does not give its keys to whoever reads them
@test "keys whose page never comes don't stop a recording" {
	for i in {0..9}; do
		printf '".long 5, 8, 1; .asciz \\"weft\\"; .balign 4; .quad keys + 4 * %d - .\\n"\n' "$i"
	done >notes.h
	cat >keeper.c <<-'END'
		#include <fcntl.h>
		#include <linux/userfaultfd.h>
		#include <sys/ioctl.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		__attribute__((aligned(4096))) unsigned keys[2048] = { 1 };
		__asm__(".section .note.weft, \"a\", @note; .balign 4\n"
		#include "notes.h"
			".text");
		int main(void)
		{
			int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
			struct uffdio_api api = { .api = UFFD_API };
			struct uffdio_register page = {
				.range = { (unsigned long)keys, 4096 },
				.mode = UFFDIO_REGISTER_MODE_MISSING,
			};

			mmap(keys, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
			    ioctl(fd, UFFDIO_REGISTER, &page))
				return 1;
			for (;;)
				;
		}
	END
	gcc -O1 -w -o keeper keeper.c
	./keeper 3>&- &
	busy_pid=$!
	runs_for 300 "$busy_pid" || skip "no userfaultfd"
	record_until 'grep -q "^keeper;.*main" out' timeout -s KILL 200 "$WEFT" record \
		-p "$busy_pid" -o out 2>err
	grep -q "process $busy_pid can't be read in time" err
}
