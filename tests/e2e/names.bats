#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Functions whose names are as long as C++ libraries' are, and longer: each is one
# function in every output.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib

setup() {
	in_a_folder
}

# A program ends by SIGXCPU when it has had so many seconds of a CPU, however long that takes.
ENDS='int setrlimit(int, const void *);
#define ENDS(s) setrlimit(0 /* RLIMIT_CPU */, (long[]){ s, 9 * s });'

# RECORDING OPTION… -- COMMAND: which ends so
record_to_end() {
	weft record "$@" 3>&- || [ $? -eq 152 ]
}

# So many letters but one, before the last that tells two names apart.
letters() {
	printf "%*s" "$(($1 - 1))" '' | tr ' ' a
}

make_program() {
	local name

	name=$(letters "$1")
	cat >long.c <<-END
		#define BURN for (volatile int i = 0; i < 100000; i++) ;
		__attribute__((noinline)) void one(void) __asm__("${name}y");
		__attribute__((noinline)) void other(void) __asm__("${name}z");
		void one(void) { BURN }
		void other(void) { BURN }
		$ENDS
		int main(void) { ENDS(1) for (;;) { one(); other(); other(); } }
	END
	gcc -O1 -g -o long long.c || skip "no gcc"
}

# Of each of the two names its samples, in the folded file.
count_of() {
	awk -v end="$2" '{
		n = split($0, frames, ";")
		if (match(frames[n], end " [0-9]+$")) sum += $NF
	} END { print sum + 0 }' "$1"
}

record_two() {
	record_to_end -q -F 997 -o long.weft -- ./long
	weft report long.weft -o long.folded
	one=$(count_of long.folded "$1")
	other=$(count_of long.folded "$2")
	echo "one $one, other $other"
	[ "$one" -gt 50 ]
	[ "$other" -gt "$one" ]
}

@test "names of 1,100, 5,000 and 60,000 bytes are whole in every format" {
	needs_recording
	for n in 1100 5000 60000; do
		make_program $n
		name=$(letters $n)
		record_two "${name: -50}y" "${name: -50}z"
		for format in folded pb.gz speedscope.json html svg; do
			weft report long.weft -o out.$format
			case $format in
			pb.gz) gzip -dc out.$format ;;
			*) cat out.$format ;;
			esac >bytes
			grep -qaF -f <(echo "${name}y") bytes
			grep -qaF -f <(echo "${name}z") bytes
		done
		weft report --json long.weft | grep -qF -f <(echo "\"${name}z\"")
	done
}

@test "longer names are shortened, say so, and are still two functions" {
	needs_recording
	make_program 100000
	record_two "…#[0-9a-f]+" "…#[0-9a-f]+" || true
	[ "$(grep -o 'aaaa…#[0-9a-f]\{16\}' long.folded | sort -u | wc -l)" -eq 2 ]
	[ "$(grep -c 'aaa[yz]' long.folded)" -eq 0 ]
}

@test "what weft report reads of others keeps long names, too" {
	name=$(letters 9000)
	printf 'comm;main;%sy 3\ncomm;main;%sz 4\n' "$name" "$name" >in.folded
	weft report in.folded -o out.pb.gz
	weft report out.pb.gz -o out.folded
	cmp in.folded out.folded
	weft report --json in.folded >json
	grep -qF -f <(echo "${name}y") json
	grep -qF -f <(echo "${name}z") json
}

@test "at a terminal names of more than 400 letters are shortened in their middle" {
	name=$(letters 1000)
	printf 'comm;%sy 3\ncomm;%sz 4\n' "$name" "$name" >in.folded
	weft report in.folded >all
	grep -qF -f <(echo "${name}y") all
	script -qc "$WEFT report in.folded" /dev/null </dev/null >shown
	run ! grep -qF -f <(echo "$name") shown
	grep -q 'a…[a]*y' shown
	grep -q 'a…[a]*z' shown
}

# Its first thread sleeps, so that only the other one is sampled.
sleeping_main() {
	cat >bio.c <<-END
		$ENDS
		#include <pthread.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		static void *burn(void *arg)
		{
			prctl(PR_SET_NAME, "bio_lazy_free");
			for (;;) ;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			if (argc == 1)
				ENDS(1)
			pthread_create(&thread, 0, burn, 0);
			write(1, "ready\n", 6);
			pthread_join(thread, 0);
		}
	END
	gcc -w -O1 -pthread -o bio-server bio.c || skip "no gcc"
}

@test "a process goes by its own name, its threads by theirs" {
	needs_recording
	sleeping_main
	record_to_end -q -F 499 -o new.weft -- ./bio-server >/dev/null
	./bio-server stays >ready 3>&- &
	server=$!
	wait_ready $server ready
	record_until 'weft report old.weft --json | jq -e ".total > 0"' \
		weft record -q -F 499 -p $server -o old.weft
	kill $server
	for recording in new old; do
		weft report $recording.weft --group-by process >shown
		grep -qE '^ .* bio-server \([0-9]+\)$' shown || { cat shown; false; }
		run ! grep -E 'bio_lazy_free \([0-9]+\)$' shown
		weft report $recording.weft --group-by thread >shown
		grep -qE '^ .* bio_lazy_free \([0-9]+/[0-9]+\)$' shown || { cat shown; false; }
	done
}

# The same program with its symbols and without, by turns in two functions.
make_hidden() {
	cat >hidden.c <<-END
		$ENDS
		#define BURN for (volatile int i = 0; i < 100000; i++) ;
		static __attribute__((noinline)) void one(void) { BURN }
		static __attribute__((noinline)) void other(void) { BURN BURN }
		int main(void) { ENDS(2) for (;;) { one(); other(); } }
	END
	gcc -O1 -o named hidden.c || skip "no gcc"
	strip -o stripped named
}

# What the ledger says adds up; prints one of its numbers in per cent of all.
names_share() {
	jq -e '.names | .user_frames == .none + .tape + .symbol + .debug_file + .go + .jit + .start
		and .user_frames > 100' "$1" >/dev/null || { jq .names "$1"; return 1; }
	jq ".names | .$2 * 100 / .user_frames | floor" "$1"
}

@test "functions without a symbol are functions, and the ledger says how many" {
	needs_recording
	make_hidden
	for program in named stripped; do
		record_to_end -q -F 997 -o $program.folded --stats-json $program.json \
			-- ./$program
	done
	[ "$(names_share named.json start)" -eq 0 ]
	grep -qE ';main;one ' named.folded
	# main, and one or other, of each sample; _start besides
	[ "$(names_share stripped.json start)" -ge 50 ]
	jq -e '.names.unnamed[0] | (.file | endswith("/stripped")) and .remedy == "build"' \
		stripped.json
	# each is one function, where nm says that it starts
	for name in main one other; do
		start=$(nm named | sed -nE "s/^0*([0-9a-f]+) [tT] $name\$/\1/p")
		grep -qF ";stripped!0x$start" stripped.folded || { cat stripped.folded; false; }
	done
	run ! grep -F 'stripped+0x' stripped.folded
}

@test "the ledger of names knows a package's debug symbols" {
	needs_recording
	command -v dpkg >/dev/null || skip "no dpkg"
	cat >zip.c <<-END
		$ENDS
		int compress2(void *, unsigned long *, const void *, unsigned long, int);
		int main(void)
		{
			static char from[1 << 20], to[2 << 20];
			ENDS(1)
			for (int i = 0; i < 1 << 20; i++)
				from[i] = i * i >> 7;
			for (;;) {
				unsigned long n = sizeof(to);
				compress2(to, &n, from, sizeof(from), 6);
			}
		}
	END
	gcc -w -O1 -o zip zip.c -lz || skip "no zlib"
	library=$(ldd zip | sed -nE 's/.*libz[^ ]* => ([^ ]*) .*/\1/p')
	library=$(readlink -f "$library")
	package=$(dpkg -S "$library" 2>/dev/null || dpkg -S "${library#/usr}") || skip "not packaged"
	record_to_end -F 997 -o out --stats-json stats -- ./zip 2>said
	[ "$(names_share stats start)" -gt 5 ] || skip "its symbols are there"
	grep -qF "install ${package%%:*}-dbgsym, or name a server: --debuginfod" said
	jq -e --arg package "${package%%:*}-dbgsym" --arg file "$library" \
		'.names.unnamed[] | select(.file == $file) | .package == $package' stats
}

@test "names are short for people, whole as data, or as asked" {
	echo 'comm;acme::text::Parser<char>::next;acme::text::scan.cold 3' >in.folded
	weft report in.folded -o out.folded
	cmp in.folded out.folded
	weft report --short-names in.folded -o out.folded
	[ "$(cat out.folded)" = 'comm;Parser<…>::next;text::scan 3' ]
	run ! grep -F '…' <(weft report in.folded)
	script -qc "$WEFT report in.folded" /dev/null </dev/null | grep -F 'Parser<…>::next'
	script -qc "$WEFT report --long-names in.folded" /dev/null </dev/null >shown
	grep -F 'acme::text::Parser<char>::next' shown
	# a page has both
	weft report in.folded -o x.html
	grep -qF '"Parser\u003c…>::next"' x.html
	grep -qF 'acme::text::scan.cold' x.html
	weft report --long-names in.folded -o x.html
	run ! grep -F 'Parser\u003c…' x.html
	refused 'names are either' report --short-names --long-names in.folded
}

# `memfd run PROGRAM` runs it from memory; `memfd jit` runs generated code in a memfd that
# it maps shared, as JITs do that never have memory to write to and run.
make_memfd() {
	cat >memfd.c <<-END
		#define _GNU_SOURCE
		$ENDS
		#include <fcntl.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		#ifdef __aarch64__
		static const unsigned char endless[] = { 0x00, 0x00, 0x00, 0x14 };
		#else
		static const unsigned char endless[] = { 0xeb, 0xfe };
		#endif
		int main(int argc, char **argv)
		{
			static char bytes[1 << 20];
			int from, to = memfd_create("in memory", 0);
			ENDS(1)
			if (!strcmp(argv[1], "jit")) {
				write(to, endless, sizeof(endless));
				((void (*)(void))mmap(0, 4096, PROT_READ | PROT_EXEC,
						      MAP_SHARED, to, 0))();
			}
			from = open(argv[2], O_RDONLY);
			write(to, bytes, read(from, bytes, sizeof(bytes)));
			fexecve(to, argv + 2, (char *[]){ 0 });
			return 1;
		}
	END
	gcc -w -O1 -o memfd memfd.c || skip "no gcc"
}

@test "a program without a file is a program, generated code is not" {
	needs_recording
	make_hidden
	make_memfd
	record_to_end -q -F 499 -o run --stats-json stats -- ./memfd run ./named
	grep -qE '^memfd:in_memory;_start;.*;main;one ' run || { cat run; false; }
	grep -qE '^memfd:in_memory;_start;.*;main;other ' run
	run ! grep -F '[jit]' run
	# whole, but for those before whose table was there
	jq -e '.samples | .complete + .awaited >= .total * 0.98 and
		.complete >= .total * 0.3' stats
	record_to_end -q -F 499 -o jit -- ./memfd jit
	grep -qE ';\[jit\]\+0x[0-9a-f]+_\[j\] ' jit || { cat jit; false; }
	# one that is there already, whose file has been deleted as well
	cp named gone
	./gone 3>&- &
	wait_for [ "/proc/$!/exe" -ef gone ]
	rm gone
	record_while $! 300 -F 499 -p $! -o gone.folded
	grep -qE ';main;other ' gone.folded
}

@test "generated code without names: what its runtime can be asked for" {
	needs_recording
	make_memfd
	record_to_end -F 499 --stats-json stats -o jit -- ./memfd jit 2>words
	grep -q 'generated code whose runtime tells no names$' words
	jq -e '.names.unnamed[0] | .remedy == "jit" and has("asked") == false' stats
	cp memfd node
	record_to_end -F 499 --stats-json stats -o jit -- ./node jit 2>words
	grep -q 'tells no names; try: node --perf-basic-prof$' words
	jq -e '.names.unnamed[0].asked == "node --perf-basic-prof"' stats
}

@test "the kernel names its functions as its own list does" {
	needs_recording
	run "$E2E_BIN/ksyms" 499
	echo "$output"
	[ "$status" -ne 3 ] || skip "this kernel has no BPF programs that user space calls"
	[ "$status" -eq 0 ]
	[[ $output =~ compared\ [1-9][0-9][0-9] ]]
}

@test "a program's function is not taken for the kernel's, whatever its name" {
	cat >odd.c <<-END
		$ENDS
		__attribute__((noinline)) void odd(void) __asm__("\"x_[k]\"");
		void odd(void) { for (volatile int i = 0; i < 100000; i++) ; }
		int main(void) { ENDS(1) for (;;) odd(); }
	END
	gcc -O1 -o odd odd.c || skip "the assembler takes no such name"
	record_to_end -q -F 499 -o odd.weft -- ./odd
	weft report odd.weft -o odd.folded
	grep -q ';main;x_(k)' odd.folded
	run ! grep -F ';main;x_[k]' odd.folded
	weft report odd.weft --json >odd.json
	jq -e '[.. | objects | select(.name? == "x_[k]")] | length > 0' odd.json
}
