#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What weft is not allowed here: it says what that is, and what to do about it.
# shellcheck disable=SC2154 # set by run

load lib

setup() {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	in_a_folder
}

# STATUS WORDS HINT COMMAND…: recording by the command ends so
ends_with() {
	local want=$1 words=$2 hint=$3
	shift 3

	run --separate-stderr "$@" "$WEFT" record -d 100ms -o out
	[ "$status" -eq "$want" ] || { echo "status $status: $stderr"; return 1; }
	grep -qF "$words" <<<"$stderr" || { echo "$stderr"; return 1; }
	grep -q "^      .*$hint" <<<"$stderr" || { echo "$stderr"; return 1; }
}

# NUMBER COMMAND…: without this system call, as a container's seccomp profile has it
without_call() {
	python3 - "$@" <<-'END'
		import ctypes, os, struct, sys
		number, command = int(sys.argv[1]), sys.argv[2:]
		op = lambda code, jt, jf, k: struct.pack("HBBI", code, jt, jf, k)
		filter = (op(0x20, 0, 0, 0) + op(0x15, 0, 1, number) + op(6, 0, 0, 0x50001)
			  + op(6, 0, 0, 0x7FFF0000))
		bytes = ctypes.create_string_buffer(filter)
		program = struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(bytes))
		prctl = ctypes.CDLL(None, use_errno=True).prctl
		assert not prctl(38, 1, 0, 0, 0) and not prctl(22, 2, program, 0, 0)
		os.execvp(command[0], command)
	END
}

@test "too few open files, too few processes" {
	needs_recording
	ends_with 1 "Too many open files" "ulimit -n" prlimit --nofile=20
	ends_with 1 "cannot start a worker" "pids.max" prlimit --nproc=1
	[ ! -e out ]
}

@test "a small stack is enough for every output" {
	needs_recording
	run prlimit --stack=65536 "$WEFT" record -q -d 300ms -o out.weft
	[ "$status" -eq 0 ]
	for format in html pb.gz folded firefox.json; do
		run prlimit --stack=65536 "$WEFT" report -q out.weft -o "out.$format"
		[ "$status" -eq 0 ]
	done
}

@test "too little memory: that is what is said" {
	needs_recording
	ends_with 1 "no memory for weft's BPF programs" "ulimit -d" prlimit --data=2000000
}

@test "files that may not grow are told as a full disk is, and a command's own are its own" {
	needs_recording
	prlimit --fsize=1000 "$WEFT" record -q -d 300ms -o out.html 2>err || status=$?
	[ "${status-0}" -eq 1 ]
	grep -q 'cannot write out.html: File too large' err
	[ -z "$(find . -name '*.part')" ]
	run --separate-stderr prlimit --fsize=100000 "$WEFT" record -q -o /dev/null -- \
		dd if=/dev/zero of=large bs=200k count=1
	[ "$status" -eq 153 ] # 128 + SIGXFSZ
}

@test "root of a user namespace is not the host's" {
	unshare -Ur true || skip "no user namespaces"
	ends_with 3 "user namespace: not the host's" "root of the host" unshare -Ur
	[ ! -e out ]
}

@test "calls that a container's profile refuses are named" {
	needs_recording
	local bpf=321 perf_event_open=298
	[ "$(uname -m)" = x86_64 ] || { bpf=280 perf_event_open=241; }
	ends_with 3 "refuses to load BPF programs" "seccomp.* bpf()" without_call $bpf
	ends_with 3 "cannot watch mappings" "seccomp.* perf_event_open()" \
		without_call $perf_event_open
	[ ! -e out ]
	run -3 --separate-stderr without_call $bpf "$WEFT" doctor
	grep -qF -- '-> allow bpf(): ' <<<"$output"
}

@test "setup installs nothing where libbpf is too old" {
	mkdir bin
	printf '#!/bin/sh\necho "  Candidate: 1:0.3-2+deb11u1"\n' >bin/apt-cache
	printf '#!/bin/sh\ntouch installed\n' >bin/apt-get
	chmod +x bin/*
	run -3 --separate-stderr env PATH="$PWD/bin:$PATH" "$BATS_TEST_DIRNAME/../../tools/setup"
	[[ $stderr == *"libbpf here is 0.3;"*"make static"* ]]
	[ ! -e installed ]
}

# WORDS HINT COMMAND: recording this command
cannot_run() {
	run -1 --separate-stderr "$WEFT" record -q -o out -- "$3"
	grep -qF "cannot run '$3': $1" <<<"$stderr" || { echo "$stderr"; return 1; }
	grep -qF "      $2" <<<"$stderr" || { echo "$stderr"; return 1; }
}

@test "a command that can't be run: why, and what was probably meant" {
	needs_recording
	cannot_run "No such file" "is it installed" nosuchprogram
	cannot_run "No such file" "write its arguments as words of their own" "sleep 1"
	cannot_run "Permission denied" "is it a program" /etc/passwd
	[ ! -e out ]
}
