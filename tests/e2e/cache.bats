#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Unwind tables that are kept from start to start. That each is the right one is
# for tests/unit/test_table_loader.c.
# shellcheck disable=SC2030,SC2031,SC2154 # set by lib.bash and by run, for one test

load lib

setup() {
	in_a_folder
	needs_recording
}

teardown() {
	stop_busy
	[ ! -d small ] || umount small 2>/dev/null || true
	[ ! -d asked ] || umount asked 2>/dev/null || true
}

# ARGUMENT…: records what is busy for $long ms of its CPU time; out, stats, words
record() {
	record_while "$busy_pid" "${long-200}" -p "$busy_pid" -F 997 -o out \
		--stats-json stats "$@"
	mv err words
}

start_alpha() {
	"$E2E_BIN/alpha" 3>&- &
	busy_pid=$!
}

stat_of() {
	jq ".$1" stats
}

# The stacks that make up most of it, without their counts.
main_stacks() {
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); of[$0] += n; sum += n }
		END { for (s in of) if (of[s] > sum / 10) print s }' "$1" | sort
}

@test "a second start makes no table, and comes to the same" {
	start_alpha
	long=1000
	record --unwind-cache "$PWD/cache"
	made=$(stat_of tables.made)
	[ "$made" -gt 1 ]
	[ "$(stat_of unwind_cache.stored)" -eq "$made" ]
	main_stacks out >first
	grep -q "tables: $made built, 0 read from $PWD/cache" words
	record --unwind-cache "$PWD/cache"
	[ "$(stat_of tables.made)" -eq 0 ]
	[ "$(stat_of unwind_cache.hits)" -eq "$made" ]
	[ "$(stat_of tables.ready)" -eq "$made" ]
	[ "$(stat_of unwind_cache.stored)" -eq 0 ]
	main_stacks out >second
	grep -q ';alpha_work;alpha_burn$' first
	cmp first second
	grep -q "tables: 0 built, $made read from $PWD/cache" words
	record --unwind-cache none
	[ "$(stat_of tables.made)" -eq "$made" ]
	main_stacks out >third
	cmp first third
}

@test "a file that has not changed is looked through once" {
	sleep 1000 3>&- &
	busy_pid=$!
	case $(stat -f -c %T "$(readlink -f "/proc/$busy_pid/exe")") in
	ext2/ext3 | xfs | btrfs | f2fs) ;;
	*) skip "stamps of this file system are not used" ;;
	esac
	for expected in 0 1; do
		weft record -q -p "$busy_pid" -d 100ms -o out --stats-json stats \
			--unwind-cache "$PWD/cache"
		[ "$(stat_of files.opened)" -gt 1 ]
		[ "$(stat_of files.known)" -eq $((expected * $(stat_of files.opened))) ]
	done
	# another weft's, or damaged
	echo damage >>"$(grep -l weftkf cache/*)"
	weft record -q -p "$busy_pid" -d 100ms -o out --stats-json stats --unwind-cache "$PWD/cache"
	[ "$(stat_of files.known)" -eq 0 ]
	[ "$(stat_of files.unparsable)" -eq 0 ]
}

# NAME COUNT: a program whose COUNT functions of 300,000 jumps have to be followed. It ends
# at once, or never if it has two arguments.
make_large() {
	{
		echo '.globl _start; .text'
		for ((i = 0; i < $2; i++)); do
			echo ".p2align 4; .cfi_startproc; ret; .cfi_endproc; .p2align 4"
			# test %eax, %eax; jz 1f; 1: nop; bytes are assembled faster
			echo '.rept 300000; .byte 0x85, 0xc0, 0x74, 0, 0x90; .endr; ret'
		done
		# shellcheck disable=SC2016 # the assembler's
		printf '%s\n' '_start: .cfi_startproc; cmpl $2, (%rsp); 1: jg 1b' \
			'xor %edi, %edi; mov $60, %eax; syscall; .cfi_endproc'
	} >"$1.s"
	gcc -nostdlib -static -o "$1" "$1.s"
}

@test "a command's table is made before it runs" {
	[ "$(uname -m)" = x86_64 ] || skip "the program is x86-64's"
	make_large large 1
	weft record -q -v -o out --unwind-cache "$PWD/cache" -- true 2>words
	weft record -q -v -o out --unwind-cache "$PWD/cache" -- ./large 2>words
	grep -q 'tables: 1 built' words
	# by its name, and of a script
	rm -r cache
	mkdir bin
	mv large bin/
	printf '#! %s\n' "$PWD/bin/large" >bin/script
	chmod +x bin/script
	for program in large script; do
		weft record -q -v -o out --unwind-cache "$PWD/cache" -- true 2>words
		PATH=$PWD/bin:$PATH weft record -q -v -o out \
			--unwind-cache "$PWD/cache" -- $program 2>words
		grep -q 'tables: 1 built' words
		rm -r cache
	done
}

# What `weft record -- COMMAND` builds before it runs it, where the C library's is known
tables_before() {
	weft record -q -v -o out --unwind-cache "$PWD/cache" -- true 2>words
	weft record -q -v -o out --unwind-cache "$PWD/cache" -- "$@" 2>words
	grep -o 'tables: [0-9]* built' words | tr -dc '0-9'
	rm -r cache
}

@test "so are those of its shared libraries, wherever they lie" {
	mkdir lib
	echo 'int second(void) { return 0; }' | gcc -shared -fPIC -xc - -o lib/libsecond.so
	echo 'int second(void); int first(void) { return second(); }' |
		gcc -shared -fPIC -xc - -o lib/libfirst.so -Llib -lsecond
	echo 'int first(void); int main(void) { return first(); }' >main.c
	# by a path in the file, and by the environment
	# shellcheck disable=SC2016 # the loader's $ORIGIN
	gcc main.c -o by_path -Llib -lfirst -Wl,--allow-shlib-undefined \
		'-Wl,-rpath,$ORIGIN/lib' -Wl,--disable-new-dtags
	gcc main.c -o by_environment -Llib -lfirst -Wl,--allow-shlib-undefined
	[ "$(tables_before ./by_path)" -eq 3 ]
	[ "$(LD_LIBRARY_PATH=$PWD/lib tables_before ./by_environment)" -eq 3 ]
	# one that is missing, which the linker will tell
	[ "$(tables_before ./by_environment)" -eq 1 ]
}

@test "a library that is needed by its path, which musl's loader tells twice" {
	command -v musl-gcc >/dev/null || skip "no musl-gcc"
	musl-gcc -shared -fPIC -o needed.so "-Wl,-soname,$PWD/needed.so" -xc - \
		<<<'int first(void) { return 0; }'
	musl-gcc -o by_musl -xc - -xnone ./needed.so \
		<<<'int first(void); int main(void) { return first(); }'
	local all
	all=$(tables_before ./by_musl)
	rm needed.so
	[ "$((all - $(tables_before ./by_musl)))" -eq 1 ]
}

@test "a program whose loader is unknown is not started to be asked" {
	printf '#include <unistd.h>\nint main(void) { return access("ran", F_OK) ? 0 : 1; }' >main.c
	printf '#!/bin/sh\ntouch ran\n' >loader
	chmod +x loader
	gcc main.c -o strange "-Wl,--dynamic-linker=$PWD/loader"
	run weft record -q -o out -- ./strange
	# the kernel refuses a script as loader; who asked it would have run it
	[ ! -e ran ]
}

@test "a table that a short program could not wait for is there the next time" {
	[ "$(uname -m)" = x86_64 ] || skip "the program is x86-64's"
	make_large large 4
	# the name of its entry, by one that can be waited for: of the two, the kernel's page
	# has the smaller one
	./large does wait 3>&- &
	busy_pid=$!
	record --unwind-cache "$PWD/own"
	stop_busy
	entry=cache/$(find own -type f -printf '%s %f\n' | sort -n | sed -n '$s/.* //p')
	# at the end weft waits for a second; a busy machine may need it again
	for _ in {1..30}; do
		weft record -q -o out --unwind-cache "$PWD/cache" -- bash -c './large; true'
		[ ! -e "$entry" ] || break
	done
	made=$(stat -c %i "$entry")
	weft record -q -o out --unwind-cache "$PWD/cache" --stats-json stats \
		-- bash -c './large; true'
	[ "$(stat_of unwind_cache.hits)" -gt 1 ]
	[ "$(stat -c %i "$entry")" = "$made" ]
}

@test "none but its owner can look into it" {
	start_busy
	umask 000
	record --unwind-cache "$PWD/cache"
	[ "$(stat -c %a cache)" = 700 ]
	[ "$(find cache -type f | wc -l)" -gt 1 ]
	[ -z "$(find cache -type f -perm /077)" ]
}

@test "root's lies in /var/cache, whatever the environment says" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	mkdir asked && mount -t tmpfs none asked || skip "no tmpfs here"
	umount asked
	start_busy
	# a /var/cache of our own, in a mount namespace of our own
	# shellcheck disable=SC2016 # for the inner shell
	HOME=$PWD XDG_CACHE_HOME=$PWD/xdg unshare -m sh -c 'mount -t tmpfs none /var/cache &&
		"$0" record -q -p "$1" -d 100ms -o out --stats-json stats &&
		"$0" doctor --json >doctor; ls /var/cache/weft >kept' "$WEFT" "$busy_pid"
	[ "$(wc -l <kept)" -gt 1 ]
	# and what is known of files, where there is anything
	[ $(($(wc -l <kept) - $(stat_of unwind_cache.stored))) -le 1 ]
	[ "$(wc -l <kept)" -ge "$(stat_of unwind_cache.stored)" ]
	[ ! -e xdg ]
	[ ! -e .cache ]
	line=$(jq -r '.probes[] | select(.name == "cache of unwind tables") | .state, .what' doctor)
	[[ $line == "ok"*"/var/cache/weft: $(wc -l <kept) files, "* ]]
}

@test "a user's lies in their own folder" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	local home=/tmp/weft-e2e.$$
	mkdir -p "$home/xdg" "$home/home" "$home/home2"
	cp "$WEFT" "$home/weft"
	chown -R 65534 "$home"
	as_nobody ,+bpf,+perfmon env -u XDG_CACHE_HOME HOME="$home/home" \
		"$home/weft" record -q -v -d 100ms -o "$home/out" -- "$home/weft" --version
	as_nobody ,+bpf,+perfmon env XDG_CACHE_HOME="$home/xdg" HOME="$home/home2" \
		"$home/weft" record -q -v -d 100ms -o "$home/out" -- "$home/weft" --version
	as_nobody ,+bpf,+perfmon env -u HOME -u XDG_CACHE_HOME \
		"$home/weft" record -q -v -d 100ms -o "$home/out" -- "$home/weft" --version \
		2>words
	ls -A "$home/home2" >nothing
	stat -c '%a %u' "$home/home/.cache/weft" "$home/xdg/weft" >modes
	rm -rf "$home"
	[ "$(cat modes)" = "$(printf '700 65534\n700 65534')" ]
	[ ! -s nothing ]
	grep -q 'no cache of unwind tables: ' words
}

@test "a full disk costs a word" {
	mkdir small
	mount -t tmpfs -o size=16k,mode=700 none small || skip "no tmpfs here"
	start_busy
	record --unwind-cache "$PWD/small"
	[ "$(stat_of unwind_cache.failed)" -eq 1 ]
	[ "$(stat_of tables.ready)" -gt 1 ]
	[ "$(grep -c 'takes no more unwind tables: .*No space left' words)" -eq 1 ]
	is_folded out
	[ "$(find small -name '*.part' | wc -l)" -eq 0 ]
}

@test "a folder that can't be written costs a word, and is read" {
	mkdir small
	mount -t tmpfs -o mode=700 none small || skip "no tmpfs here"
	start_busy
	record --unwind-cache "$PWD/small"
	grep -L weftkf small/* >before # tables, not what is known of files
	rm "$(head -1 before)"
	mount -o remount,ro small
	record --unwind-cache "$PWD/small"
	[ "$(stat_of unwind_cache.failed)" -eq 1 ]
	[ "$(stat_of tables.made)" -eq 1 ]
	[ "$(stat_of unwind_cache.hits)" -eq $(($(wc -l <before) - 1)) ]
	[ "$(grep -c 'takes no more unwind tables: ' words)" -eq 1 ]
	is_folded out
}

@test "what is no cache is none" {
	start_busy
	mkdir -m 755 open
	for where in open /dev/null nowhere/cache; do
		record --unwind-cache "$where"
		grep -q 'no cache of unwind tables: ' words
		[ "$(stat_of tables.ready)" -gt 1 ]
		[ "$(stat_of unwind_cache.stored)" -eq 0 ]
	done
	[ -z "$(ls -A open)" ]
	weft record -q -o out --unwind-cache open -- true 2>words
	grep -q '^weft: no cache of unwind tables: open is open to other users$' words
	grep -q '^      chmod 700 open$' words
	record --unwind fp --unwind-cache "$PWD/cache"
	[ ! -e cache ]
}

# A sixteenth of all pages is for what processes map, so a table lies behind the first slab.
@test "tables in memory that the kernel gets later are walked by like others" {
	start_alpha
	long=500
	record --unwind-cache "$PWD/cache" --inject-fault few-slabs
	[ "$(stat_of tables.ready)" -gt 1 ]
	[ "$(stat_of tables.over_limit)" -eq 0 ]
	main_stacks out >few
	record --unwind-cache "$PWD/cache"
	main_stacks out >many
	grep -q ';alpha_work;alpha_burn$' few
	cmp few many
}
