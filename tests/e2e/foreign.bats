#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What others write and weft reads: files, names, perf maps, tapes. None of it
# makes it crash, hang, or say what is not so.
# shellcheck disable=SC2030,SC2031,SC2154 # set by faults.bash and by run, for one test

load lib
load faults

# Where libspin.so's code is, and its size
code_offset() {
	printf '%d' "0x$(nm "$E2E_BIN/libspin.so" | awk '/ spin_under/ { print $1 }')"
}

code_bytes() {
	printf '%d' "0x$(nm -S "$E2E_BIN/libspin.so" | awk '/ spin_under/ { print $2 }')"
}

@test "files whose insides are garbage" {
	mkdir bad
	"$E2E_BIN/corrupt" elf "$E2E_BIN/libspin.so" bad "$(code_offset)" "$(code_bytes)"
	start_target map "$(code_offset)" 0 bad/*.so
	record_while "$last_pid" 800 -F 3999 -p "$last_pid" -o out --stats-json stats
	adds_up out stats
	is_clean out
	# all were read, and the parser lived through it
	jq -e '.files.opened >= 27 and .worker.restarts == 0' stats
	# where the symbols can't be read, the place in the file is told
	for name in no_elf of_32_bits segments_garbage symbols_garbage \
		dynamic_garbage; do
		grep -qE "^target;.*;$name\\.so[+!]0x[0-9a-f]+( |;)" out ||
			{ echo "no $name"; cut -d' ' -f1 out; false; }
	done
	grep -qE '^target;.*;spin_under_this_long_name( |;)' out
	run ! grep -F '[unknown]' out
}

# One of an ordinary user, by many names: each would be asked for its functions anew.
@test "many names of a file that nobody could read to its end" {
	start "$E2E_BIN/alpha"
	"$E2E_BIN/corrupt" long "$E2E_BIN/libspin.so" long_0.so
	chown 65534 long_0.so
	for i in {1..300}; do
		ln long_0.so "long_$i.so"
	done
	for i in {0..4}; do
		start_target map "$(code_offset)" 0 long_[1-9]*[$((2 * i))$((2 * i + 1))].so
	done
	record_while "$(of_all)" 500 -F 1999 -o out --stats-json stats
	adds_up out stats
	# the time of all was used up, and told; nobody else pays, or waits: 0.6 s (8 once)
	# and what a file takes beyond that before it is noticed
	jq -e '.symbols.out_of_time >= 10 and .symbols.others_ns > 0 and
		.symbols.others_ns < 2000000000' stats
	grep -q '^alpha;.*alpha' out
}

# each of them takes the whole deadline of a file, once
@test "many files that nobody could read to their end" {
	start "$E2E_BIN/alpha"
	for i in {1..4}; do
		"$E2E_BIN/corrupt" long "$E2E_BIN/libspin.so" "long_$i.so"
	done
	# of one session: with one each they would leave us a sixth of the machine
	# shellcheck disable=SC2016 # for the inner shell
	setsid bash -c 'for i in {1..4}; do
			"$0" map "$1" 0 "long_$i.so" >"ready.long_$i" &
			echo $!
		done
		wait' "$E2E_BIN/target" "$(code_offset)" >long_pids 3>&- &
	pids+=($!)
	for i in {1..4}; do
		wait_for grep -qs ready "ready.long_$i"
	done
	mapfile -t -O ${#pids[@]} pids <long_pids
	mapfile -t long <long_pids
	start_recorder -F 999 -p "$(of_all)" -o out --stats-json stats
	recorder_runs
	runs_for 300 "${pids[0]}" "${long[@]}"
	kill -STOP "${pids[0]}" "${long[@]}" # they would only take CPUs from the parser
	kill -INT "$recorder"
	wait "$recorder"
	jq -e '.worker.failed == 4 and .symbols.failed == 4' stats
	adds_up out stats
	[ "$(grep -coE '^target;.*;long_[0-9]+\.so[+!]0x[0-9a-f]+( |;)' out)" -ge 4 ]
	grep -qE '^alpha;.*;alpha_work;alpha_burn ' out
}

@test "files that are cut after they were mapped" {
	for bytes in 700 4096; do
		cp "$E2E_BIN/libspin.so" "cut_$bytes.so"
		start_target map "$(code_offset)" "$bytes" "cut_$bytes.so"
	done
	record_while "$(of_all)" 300 -F 999 -p "$(of_all)" -o out --stats-json stats
	adds_up out stats
	grep -qE '^target;.*;cut_700\.so[+!]0x[0-9a-f]+( |;)' out
	grep -qE '^target;.*;(cut_4096\.so[+!]0x[0-9a-f]+|spin_under_this_long_name)( |;)' out
}

@test "a file that was deleted keeps its names" {
	cp "$E2E_BIN/alpha" deleted
	start ./deleted
	before=$last_pid
	wait_for grep -q deleted "/proc/$before/maps"
	cp "$E2E_BIN/libspin.so" 'gone file.so'
	start_target map "$(code_offset)" 0 'gone file.so'
	rm deleted 'gone file.so'
	record_while "$(of_all)" 300 -F 999 -p "$(of_all)" -o out
	grep -q '^deleted;.*;alpha_work;alpha_burn ' out
	grep -q '^target;.*;spin_under_this_long_name ' out
	run ! grep -F '(deleted)' out
}

@test "a file that is deleted and another one in its place" {
	cp "$E2E_BIN/alpha" program
	start ./program
	wait_for grep -q program "/proc/$last_pid/maps"
	rm program
	cp "$E2E_BIN/beta" program
	record_while "$last_pid" 300 -F 999 -p "$last_pid" -o out
	grep -q '^program;.*;alpha_work;alpha_burn ' out
	run ! grep -F beta_ out
}

@test "a file that is overwritten while it runs does not lend its new names" {
	cp "$E2E_BIN/libspin.so" own.so
	sed 's/spin_under_this/SPIN_UNDER_THAT/g' own.so >new.so
	cmp own.so new.so && false
	start_target map "$(code_offset)" 0 own.so
	start_recorder -F 999 -p "$last_pid" -o out --stats-json stats
	recorder_runs
	runs_for 300 "$last_pid"
	dd if=new.so of=own.so conv=notrunc status=none
	runs_for 200 "$last_pid"
	kill -INT "$recorder"
	recorder_ends
	grep -qE '^target;.*;own\.so[+!]0x[0-9a-f]+ ' out
	run ! grep -i spin_under out
	[ "$(jq .files.overwritten stats)" = 1 ]
	grep -q 'overwritten during the recording' err
}

# CONTENT…: what stands in a perf map; its process, $last_pid, runs in it
start_jit() {
	start_target jit
	map=/tmp/perf-$last_pid.map
	maps+=("$map")
}

@test "perf maps: what is good is read" {
	maps=("$PWD/good.map")
	start_target jit good.map $'garbage\n\n7f zz\n%s good;name\x1b[31m\xff 12\n1 2\nffffffffffffffff ffffffffffffffff x\n'
	mv good.map "/tmp/perf-$last_pid.map"
	maps=("/tmp/perf-$last_pid.map")
	record_while "$last_pid" 300 -p "$last_pid" -F 999 -o out
	is_clean out
	grep -qF ';good:name?[31m? 12_[j] ' out
}

@test "perf maps: not that of another process with the pid" {
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "no pid can be chosen here"
	start_recorder -F 999 -o out
	recorder_runs
	start_jit
	first=$last_pid
	runs_for 300 "$first"
	kill -9 "$first"
	wait_for eval "! kill -0 $first"
	start_as "$first" sleep 30
	echo '1000 7fffffffe000 of_another' >"$map"
	kill -INT "$recorder"
	recorder_ends
	grep -qE '^target;.*\[jit\]\+0x[0-9a-f]+_\[j\] ' out
	run ! grep of_another out
}

@test "perf maps: one that has ended still has only its user's" {
	folder=$(mktemp -d /tmp/weft-e2e.XXXXXX)
	maps=("$folder/target")
	cp "$E2E_BIN/target" "$folder"
	chmod 777 "$folder"
	for owner in 65534 65533; do
		start setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$folder/target" jit "$folder/map" "%s of_$owner"$'\n'
		wait_for test -s "$folder/map"
		wait_for grep -qs target "/proc/$last_pid/comm"
		maps+=("/tmp/perf-$last_pid.map")
		mv "$folder/map" "/tmp/perf-$last_pid.map"
		chown $owner "/tmp/perf-$last_pid.map"
	done
	start_recorder -F 999 -p "$(of_all)" -o out --stats-json stats
	recorder_runs
	runs_for 300 "${pids[0]}" "${pids[1]}"
	kill -9 "${pids[0]}" "${pids[1]}"
	recorder_ends
	rm -r "$folder"
	is_clean out
	grep -qF ';of_65534_[j] ' out
	run ! grep -F of_65533 out
	jq -e '.symbols.foreign_maps == 1' stats
}

@test "perf maps: links, FIFOs, 5 GB, another's, folders" {
	maps=()
	start_target jit link.map $'%s through_link\n'
	maps+=("/tmp/perf-$last_pid.map")
	ln -s "$PWD/link.map" "/tmp/perf-$last_pid.map"

	start_jit
	mkfifo "$map"

	start_jit
	truncate -s 5G "$map"

	start_target jit other.map $'%s of_another\n'
	maps+=("/tmp/perf-$last_pid.map")
	mv other.map "/tmp/perf-$last_pid.map"
	chown 65534 "/tmp/perf-$last_pid.map"

	start_jit
	ln -s /dev/zero "$map"

	record_while "$(of_all)" 200 -F 999 -p "$(of_all)" -o out --stats-json stats
	adds_up out stats
	is_clean out
	grep -qE '^target;.*\[jit\]\+0x[0-9a-f]+_\[j\] ' out
	run ! grep -E 'through_link|of_another' out
	jq -e '.symbols.failed >= 5' stats
}

@test "names of threads that mean something else to a reader" {
	start_target name 'a;b' $'new\nline' $'\e[31mred' $'\xff\xfe\xc3' '--' '[cut]' \
		'main 12' ' lead' '' $'\xe2\x82' '12'
	record_while "$last_pid" 800 -F 3999 -p "$last_pid" -o out --stats-json stats \
		--tape tape
	adds_up out stats
	is_clean out
	for name in 'a:b' 'new?line' '?[31mred' '???' '_--' '_[cut]' 'main_12' '_lead' \
		'[no_name]' '??' '12'; do
		grep -qF "$name;" out || { echo "no $name"; cut -d';' -f1 out; false; }
	done
	weft_in_time report -q --tape tape -o again
	cmp out again
}

@test "names of files and functions that mean something else to a reader" {
	names=('semi;colon' $'new\nline' $'\e[31mred' $'\xff\xfe\xc3' '--' '[cut]'
		'[missing frames]' 'ends in 12' 'ends in 1.5' 'blank ' ' ')
	files=()
	for name in "${names[@]}"; do
		"$E2E_BIN/corrupt" name "$E2E_BIN/libspin.so" "named ${#files[@]}" "$name"
		files+=("named ${#files[@]}")
		# the same code in a file that is none to read
		{ printf '\0' && tail -c +2 "$E2E_BIN/libspin.so"; } >"$name.so"
		files+=("$name.so")
	done
	start_target map "$(code_offset)" 0 "${files[@]}"
	record_while "$last_pid" 1300 -F 3999 -p "$last_pid" -o out --stats-json stats \
		--tape tape
	adds_up out stats
	is_clean out
	for name in 'semi:colon' 'new?line' '?[31mred' '???' '_--' '_[cut]' \
		'_[missing frames]' 'ends in_12' 'ends in_1.5' 'blank_' \
		{semi:colon,new?line,?[31mred,ends\ in\ 1.5}.so+0x"$(printf %x "$(code_offset)")"; do
		grep -qF ";${name%+*}" out || { echo "no $name"; cut -d';' -f4- out; false; }
	done
	run ! grep -E ';(--|\[missing frames\]|\[cut\]) [0-9]+$' out
	run ! grep -E '[ ;] ?[0-9.]* [0-9]+$' out
	weft_in_time report -q --tape tape -o again
	cmp out again
}

@test "a container's file, and not the host's of the same path" {
	mkdir -p root/bin
	cp "$E2E_BIN/alpha" root/bin/program
	start unshare -m chroot root /bin/program
	wait_for grep -q program "/proc/$last_pid/maps"
	[ ! -e /bin/program ] || skip "/bin/program is there"
	cp "$E2E_BIN/beta" /bin/program
	maps=(/bin/program)
	# in another mount namespace a mount hides the path that the host sees
	cp "$E2E_BIN/beta" hidden
	chmod +x hidden
	# shellcheck disable=SC2016 # for the inner shell
	start unshare -m sh -c 'mount --bind "$0" "$1" && exec "$1"' "$E2E_BIN/alpha" \
		"$PWD/hidden"
	wait_for grep -q 'hidden\|alpha' "/proc/$last_pid/maps"
	record_while "$(of_all)" 300 -F 999 -p "$(of_all)" -o out --stats-json stats
	adds_up out stats
	grep -q '^program;.*;alpha_work;alpha_burn ' out
	grep -q '^hidden;.*;alpha_work;alpha_burn ' out
	run ! grep -F beta_ out
}

@test "a tape that is cut anywhere" {
	start "$E2E_BIN/alpha"
	record_while "$last_pid" 400 -F 199 -p "$last_pid" -o out --tape tape
	bytes=$(stat -c %s tape)
	for i in {0..24}; do
		head -c $((bytes * i / 24 - i % 7 * (i < 24) * (i > 0))) tape >cut.tape
		status=0
		weft_in_time report -q --tape cut.tape -o again 2>err || status=$?
		[ "$status" -le 1 ] || { echo "$i: status $status"; false; }
		[ "$i" -eq 24 ] || grep -q '^weft: ' err ||
			{ echo "$i: status $status, told nothing"; false; }
		[ "$status" -eq 1 ] || [ -e again ]
		rm -f again
	done
	[ "$status" -eq 0 ]
}

@test "a tape with bytes that are others" {
	start "$E2E_BIN/alpha"
	record_while "$last_pid" 300 -F 199 -o out --tape tape
	told=0
	for seed in {1..30}; do
		"$E2E_BIN/corrupt" flip tape corrupt "$seed"
		status=0
		weft_in_time report --tape corrupt -o again --stats-json stats 2>err ||
			status=$?
		[ "$status" -le 1 ] || { echo "$seed: status $status: $(cat err)"; false; }
		if [ "$status" -eq 0 ]; then
			cat again >>all
		else
			grep -q '^weft: ' err
			told=$((told + 1))
		fi
	done
	jq -e . stats >/dev/null
	is_clean all
	[ $told -gt 0 ] && [ $told -lt 30 ]
}

# The way to a file in a mount namespace ends with the process that mapped it.
@test "a process that ends at once costs nobody else the names of its file" {
	cat >brief.c <<-'END'
		__attribute__((noinline)) void spin(void)
		{
			for (volatile long i = 0; i < 400000000; i++)
				;
		}
		int entry(long *args)
		{
			if (args[0] > 1)
				spin();
			__asm__ volatile("syscall" ::"a"(60), "D"(0));
			return 0;
		}
		__asm__(".globl _start; _start: mov %rsp, %rdi; call entry");
	END
	gcc -O1 -fno-stack-protector -nostdlib -static -o brief brief.c
	mkdir hidden
	start_recorder --comm brief -o out
	recorder_runs
	# shellcheck disable=SC2016 # the inner shell's
	RECORDER=$recorder unshare -m sh -c 'mount -t tmpfs none hidden && cp brief hidden &&
		kill -STOP $RECORDER && hidden/brief; kill -CONT $RECORDER; sleep 0.2;
		hidden/brief spin' 3>&-
	kill -INT "$recorder"
	recorder_ends
	[ "$(grep -c '^brief;.*entry;spin ' out)" -ge 1 ]
}
