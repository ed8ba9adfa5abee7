#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Symbols that lie elsewhere: in debug files, of this very build, beside a program and
# below the root of its process.
# shellcheck disable=SC2154 # set by lib.bash and by run

load lib
load debug

setup() {
	in_a_folder
	pids=()
}

teardown() {
	for pid in "${pids[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
}

# Options of record_burn, and where it keeps what servers sent
options=()
kept=none

# PROGRAM…: it runs in the background; $program
start() {
	"$@" 3>&- >/dev/null 2>&1 &
	program=$!
	pids+=($!)
}

record_burn() {
	start "$@"
	record_while "$program" 300 -p "$program" -F 997 --inlines -o out.folded \
		--stats-json stats --unwind-cache "$kept" "${options[@]}"
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

@test "inlined functions of what dwz shared come from its alternate file" {
	needs_recording
	[ "$(id -u)" -eq 0 ] || skip "another root takes root"
	command -v dwz >/dev/null || skip "no dwz"
	build 3
	cp whole other
	dwz -m shared -M ../../.dwz/weft/shared.debug whole other
	id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
	mkdir -p "root/usr/lib/debug/.build-id/${id::2}" root/usr/lib/debug/.dwz/weft
	objcopy --only-keep-debug whole "root/usr/lib/debug/.build-id/${id::2}/${id:2}.debug"
	cp burn root/
	rm whole.debug
	# of another build: it is the id that tells
	objcopy --dump-section .note.gnu.build-id=note shared
	printf 12345678901234567890 | dd of=note bs=1 seek=16 conv=notrunc status=none
	objcopy --update-section .note.gnu.build-id=note shared \
		root/usr/lib/debug/.dwz/weft/shared.debug
	run ! cmp -s shared root/usr/lib/debug/.dwz/weft/shared.debug
	record_burn chroot root /burn
	is_named
	run ! grep -q ';innermost_' out.folded
	jq -e '.symbols.debug_files_of_others >= 1' stats
	cp shared root/usr/lib/debug/.dwz/weft/shared.debug
	record_burn chroot root /burn
	is_named
	grep -qE ';main;one;innermost_\[i\] ' out.folded
}

@test "inlined functions of split DWARF come from its .dwo file, of this unit only" {
	needs_recording
	build 3
	gcc -O1 -g -gsplit-dwarf -static -DNUMBER=3 -o burn burn.c
	record_burn ./burn
	grep -qE ';main;one;innermost_\[i\] ' out.folded
	jq -e '.symbols.inlines_failed == 0' stats
	# in a package of them
	if command -v llvm-dwp >/dev/null; then
		timeout 60 llvm-dwp burn.dwo -o burn.dwp
		mv burn.dwo kept.dwo
		record_burn ./burn
		grep -qE ';main;one;innermost_\[i\] ' out.folded
		rm burn.dwp
		mv kept.dwo burn.dwo
	fi
	# anybody may write it
	chmod o+w burn.dwo
	record_burn ./burn
	grep -qE ';main;one ' out.folded
	run ! grep -q ';innermost_' out.folded
	chmod o-w burn.dwo
	# of another build: its number is another
	mkdir other
	gcc -O1 -g -gsplit-dwarf -static -DNUMBER=4 -DMORE=1 -o other/burn \
		-x c <(sed 's/innermost/deepest/' burn.c)
	cp other/*.dwo burn.dwo
	record_burn ./burn
	grep -qE ';main;one ' out.folded
	run ! grep -qE ';(innermost|deepest)_' out.folded
	jq -e '.symbols.inlines_failed == 1' stats
}

@test "weft report: inlined functions of split DWARF from its .dwo file" {
	needs_recording
	build 3
	gcc -O1 -g -gsplit-dwarf -static -Wl,--build-id -DNUMBER=3 -o burn burn.c
	start ./burn
	record_while "$program" 300 -p "$program" -F 997 -o x.weft --unwind-cache none
	kill -9 "$program"
	mkdir -p "symbols$PWD" away
	mv burn.dwo away/
	mv burn "symbols$PWD/"
	weft report --symfs symbols --inlines x.weft -o out.folded
	grep -qE ';main;one ' out.folded
	run ! grep -q ';innermost_' out.folded
	mv away/burn.dwo "symbols$PWD/"
	weft report --symfs symbols --inlines x.weft -o out.folded
	grep -qE ';main;one;innermost_\[i\] ' out.folded
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

@test "debug files come from a server that is named, after the sampling" {
	needs_recording
	command -v python3 >/dev/null || skip "no python3"
	build 3
	mkdir served
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mv whole.debug "served/$id"
	serve well
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
		options=(--debuginfod "$url")
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

# a program that was recorded, without its names
is_nameless() {
	run ! grep -qE ';(main|one|innermost)' out.folded
}

@test "what a server sent is kept, and used if nobody else could write it" {
	needs_recording
	[ "$(id -u)" -eq 0 ] || skip "another root takes root"
	command -v python3 >/dev/null || skip "no python3"
	build 3
	mkdir served
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	cp whole.debug "served/$id"
	rm whole.debug
	serve well
	options=(--debuginfod "$url")
	kept=$PWD/kept
	record_burn ./burn
	is_named
	file=$(echo kept/debuginfod/"$id"*)
	cmp "$file" "served/$id"
	[ "$(stat -c %a "$file")" = 600 ]
	# no server is needed any more
	: >served/asked
	record_burn ./burn
	is_named
	run ! grep "$id" served/asked
	# what others may write to is not used, and asked for again
	chmod 666 "$file"
	record_burn ./burn
	is_named
	grep -q "$id" served/asked
	# nor is what is not of this build kept
	build 4
	rm whole.debug
	mv burn other
	id=$(readelf -n other | sed -n 's/.*Build ID: //p')
	cp "$file" kept/debuginfod/"$id$(printf %024d 0)"
	record_burn ./other
	is_nameless
	jq -e '.symbols.debug_files_of_others >= 1' stats
	[ ! -e kept/debuginfod/"$id$(printf %024d 0)" ]
}

@test "files that elfutils' client keeps are used, if they are ours" {
	needs_recording
	[ "$(id -u)" -eq 0 ] || skip "another root takes root"
	build 3
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mkdir -p "client/$id"
	mv whole.debug "client/$id/debuginfo"
	export DEBUGINFOD_CACHE_PATH=$PWD/client
	# nobody listens there
	options=(--debuginfod http://127.0.0.1:9)
	record_burn ./burn
	is_named
	for theirs in client "client/$id" "client/$id/debuginfo"; do
		chown 12345 "$theirs"
		record_burn ./burn
		is_nameless
		chown 0 "$theirs"
	done
	chmod 777 "client/$id"
	record_burn ./burn
	is_nameless
}

@test "weft report names what had no name, from files of this build only" {
	needs_recording
	command -v python3 >/dev/null || skip "no python3"
	build 3
	id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
	mkdir away && mv whole.debug away/
	start ./burn
	record_while "$program" 300 -p "$program" -F 997 -o x.weft --unwind-cache none
	kill -9 "$program"
	weft report x.weft -o out.folded
	is_nameless
	grep -q 'burn!0x' out.folded
	# the program with its symbols, where it lies below another /
	mkdir -p "symbols$PWD" served "ids/usr/lib/debug/.build-id/${id::2}"
	cp whole "symbols$PWD/burn"
	weft report --symfs symbols x.weft -o out.folded
	grep -qE ';main;one ' out.folded
	run ! grep -q 'burn!0x' out.folded
	weft report --symfs symbols --filter function=one x.weft -o - | grep -q ';main;one '
	# with lines and what was inlined there, of what has none
	weft report --symfs symbols --inlines x.weft -o out.folded
	grep -qE ';main;one;innermost_\[i\] ' out.folded
	weft report --symfs symbols --inlines x.weft -o new.weft
	weft report new.weft -o out.pb.gz
	gzip -dc out.pb.gz | grep -q 'burn\.c'
	for again in 1 2; do # once, however often
		weft report --symfs symbols --inlines new.weft -o out.folded
		run ! grep -q 'innermost_\[i\];innermost' out.folded
		mv new.weft x$again.weft
		weft report --symfs symbols --inlines x$again.weft -o new.weft
	done
	refused '--inlines needs files' report --inlines x.weft
	# its debug file by build id, which holds no code
	cp away/whole.debug "ids/usr/lib/debug/.build-id/${id::2}/${id:2}.debug"
	weft report --symfs ids x.weft -o out.folded
	grep -qE ';main;one ' out.folded
	# a server, which is asked only if it is said
	mv away/whole.debug "served/$id"
	serve well
	export XDG_CACHE_HOME=$PWD/caches DEBUGINFOD_URLS=$url
	weft report x.weft -o out.folded
	is_nameless
	[ ! -e served/asked ]
	weft report --debuginfod env x.weft -o out.folded
	grep -qE ';main;one ' out.folded
	# another build's file is not used
	build 4
	cp whole "symbols$PWD/burn"
	rm whole.debug
	weft report --symfs symbols x.weft -o out.folded 2>err
	is_nameless
	grep -q 'of other builds, and not used' err
	unset DEBUGINFOD_URLS
	refused 'DEBUGINFOD_URLS is not set' report x.weft --debuginfod env
}

# From the table that Go's runtime needs, also where the debug file has symbols alone.
@test "lines and inlined functions of a stripped Go program need no debug information" {
	needs_recording
	command -v go >/dev/null || skip "no Go toolchain"
	cat >burn.go <<-'END'
		package main

		var sink int

		func inner(i int) int { return i*3 ^ sink>>2 }

		//go:noinline
		func outer(n int) {
			for i := 0; i < n; i++ {
				sink += inner(i)
			}
		}

		func main() {
			for {
				outer(1000000)
			}
		}
	END
	CGO_ENABLED=0 go build -ldflags=-w -o whole burn.go
	strip -o stripped whole
	record_burn ./stripped
	grep -qE ';main\.main;main\.outer;main\.inner_\[i\] ' out.folded
	objcopy --only-keep-debug whole symbols.debug
	objcopy --add-gnu-debuglink=symbols.debug stripped
	record_burn ./stripped
	grep -qE ';main\.main;main\.outer;main\.inner_\[i\] ' out.folded
	jq -e '.names.debug_file > 20' stats
}
