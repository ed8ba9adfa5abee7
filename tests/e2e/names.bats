#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Functions whose names are as long as C++ libraries' are, and longer: each is one
# function in every output.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib

setup() {
	in_a_folder
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
		unsigned int alarm(unsigned int);
		int main(void) { alarm(3); for (;;) { one(); other(); other(); } }
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
	weft record -q -F 997 -o long.weft -- ./long 3>&- || [ $? -eq 142 ]
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
