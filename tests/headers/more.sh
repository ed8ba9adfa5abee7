# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# What programs do that were built with the headers: misuse, sanitizers, another
# machine, the marks in their files, debuggers, what is installed.

# NAME "OPTIONS" COMPILER FILE…: a test that builds and passes
runs() {
	local name=$1 options=$2 words='' runner=${runner-}

	read -ra options <<<"$options"
	words=$("$3" "${options[@]}" -g -D_GNU_SOURCE -Iinclude -Iuser -Itests/headers/shim \
		-fno-omit-frame-pointer -fno-optimize-sibling-calls "${@:4}" \
		-o "$build/runs" -pthread 2>&1) || words+=' does not build'
	# shellcheck disable=SC2086 # a command and its options
	[ -n "$words" ] || $runner "$build/runs" >"$build/said" 2>&1 ||
		words="status $?: $(<"$build/said")"
	result "$words" "$name"
}

unit_programs=(tests/unit/test_async_h.c tests/unit/test_async_label.c
	tests/unit/test_async_more.c tests/unit/test_fiber.c)

# The unit tests by each compiler, without the library that they use elsewhere.
levels() { # COMPILER
	local program level

	for program in "${unit_programs[@]}"; do
		for level in -O0 -O3 '-O2 -DWEFT_REGISTRY -fPIE -pie'; do
			runs "$1 $level, ${program##*/}" "$level" "$1" "$program"
		done
	done
}

# Coroutines, by the C++ compiler beside this one; some are compiled already.
coroutines() { # COMPILER
	local cxx=${1/gcc/g++} part option file

	[ "$1" != clang ] || cxx=clang++
	for part in coro within; do
		for option in -O0 -O2 '-O3 -DWEFT_CHECKS' '-O2 -DWEFT_DISABLED'; do
			file="$build/$part $cxx $option.o"
			[ -e "$file" ] || file=tests/headers/$part.cpp
			runs "$cxx $option, $part.cpp" "-std=c++20 $option" "$cxx" "$file"
		done
		for option in -fsanitize=thread -fsanitize=address,undefined; do
			! can "$1" "$option" || runs "$cxx $option, $part.cpp" \
				"-std=c++20 -O1 $option" "$cxx" tests/headers/$part.cpp
		done
	done
}

# A compiler may lack its sanitizers' libraries.
can() { # COMPILER OPTION
	echo 'int main(void) { return 0; }' >"$build/empty.c"
	"$1" "$2" "$build/empty.c" -o "$build/empty" 2>/dev/null
}

sanitizers() { # COMPILER
	local program option

	for option in -fsanitize=thread -fsanitize=address,undefined; do
		if ! can "$1" "$option"; then
			skip "$1 $option" 'the compiler has no library for it'
			continue
		fi
		for program in "${unit_programs[@]}" tests/headers/hands.c; do
			runs "$1 $option, ${program##*/}" \
				"-O1 $option -fno-sanitize-recover=undefined" "$1" "$program"
		done
	done
}

# One list of roots beside a library that follows folly's rules: linked in, as a
# shared library, opened later; either first, any thread, and threads that end.
beside_words() { # COMPILER
	local order how flags="-O2 -g -Iinclude -Wall -Wextra -Werror" dso=$build/like_folly.so

	# shellcheck disable=SC2086 # several options
	{
		"$1" $flags -fPIC -shared tests/headers/like_folly.c -o "$dso" -pthread &&
			"$1" $flags tests/headers/beside.c tests/headers/like_folly.c \
				-o "$build/beside-static" -pthread &&
			"$1" $flags tests/headers/beside.c "$dso" -o "$build/beside-dso" \
				-pthread -Wl,-rpath,"$PWD/$build" &&
			"$1" $flags -DLATER -rdynamic tests/headers/beside.c \
				-o "$build/beside-later" -pthread -ldl
	} 2>&1 || echo 'does not build'
	for how in static dso later; do
		for order in wfwf fwfw wwff ffww; do
			"$build/beside-$how" $order "$PWD/$dso" 2>&1 || echo "$how $order: status $?"
		done
	done
}

misuse_words() { # COMPILER
	local name sentence said status

	"$1" -O1 -Iinclude tests/headers/misuse.c -o "$build/misuse" -pthread 2>&1
	"$1" -O1 -Iinclude -DWEFT_CHECKS tests/headers/misuse.c -o "$build/misused" -pthread 2>&1
	"$build/misuse" >"$build/misuses"
	[ -s "$build/misuses" ] || echo 'no cases'
	while read -r name sentence; do
		"$build/misuse" "$name" || echo "$name: status $? without checks"
		status=0
		said=$( (ulimit -c 0; exec "$build/misused" "$name") 2>&1) || status=$?
		[[ "$status $said" = "134 $sentence" ]] ||
			echo "$name: status $status, said '$said', not '$sentence'"
	done <"$build/misuses"
}

# arm64 by the cross compiler, under qemu's user emulation.
arm64() {
	local runner='timeout 120 qemu-aarch64-static -cpu max' program how

	if [ "$(uname -m)" != x86_64 ] || ! command -v aarch64-linux-gnu-gcc >/dev/null ||
		! command -v qemu-aarch64-static >/dev/null; then
		skip arm64 'no cross compiler, or no qemu-aarch64-static, here'
		return
	fi
	for program in "${unit_programs[@]}" tests/headers/hands.c; do
		for how in -O0 -O2 '-O3 -mbranch-protection=standard'; do
			runner=$runner runs "arm64 $how, ${program##*/}" "-static $how" \
				aarch64-linux-gnu-gcc "$program"
		done
	done
}

# What keeps a program with fibers from getting a shadow stack.
shadow_stack_words() {
	local half=tests/headers/use.c properties

	printf '%s\n' '#define WEFT_FIBER_IMPLEMENTATION' '#include <weft/fiber.h>' \
		>"$build/fiber.c"
	gcc -Iinclude -fcf-protection=full -fPIC -c "$build/fiber.c" -o "$build/fiber.o" \
		2>"$build/refused" && echo 'compiled with shadow stacks'
	grep -q 'fcf-protection=branch' "$build/refused" || echo 'refused without a word'
	gcc -Iinclude -fcf-protection=branch -fPIC -c "$build/fiber.c" -o "$build/fiber.o"
	gcc -Iinclude -fcf-protection=full -fPIC -c $half -o "$build/half.o"
	gcc -shared "$build/fiber.o" "$build/half.o" -o "$build/both.so"
	gcc -shared "$build/half.o" -o "$build/half.so"
	properties=$(readelf -nW "$build/half.o")
	[[ $properties == *SHSTK* ]] || echo 'without fibers there is no mark either'
	properties=$(readelf -nW "$build/both.so" "$build/fiber.o")
	[[ $properties != *SHSTK* ]] || echo 'marked as fit for a shadow stack'
	gcc -shared "$build/fiber.o" "$build/half.o" -Wl,-z,cet-report=error \
		-o "$build/both.so" >"$build/refused" 2>&1 || true
	grep -q 'fiber.o.*SHSTK' "$build/refused" || echo 'the linker says nothing'
}

# gdb goes from a fiber inside a fiber to main, by the tables; their starts, where
# no call leads, are signal frames to it.
gdb_words() {
	local frames

	gcc -O2 -g -Iinclude tests/headers/nest.c -o "$build/nest" 2>&1
	frames=$(gdb -q -batch -nx -iex 'set debuginfod enabled off' -ex 'break leaf' -ex run \
		-ex bt "$build/nest" 2>&1 | sed -n 's/^#[0-9]* .*\(in \|  *\)\([a-z_]*\) (.*/\2/p' |
		tr '\n' ' ')
	[[ $frames == *'leaf inner weft_fiber_main_ weft_fiber_resume outer weft_fiber_main_ weft_fiber_resume dispatch main '* ]] ||
		echo "gdb sees: $frames"
}

# perf goes by the tables, over a copy of the stack at hand: up to the function that
# resumed the fiber, whose own stack is not in it.
perf_words() {
	local data=$build/perf.data all whole

	awk '/^```$/ { on = 0 } on; /^```c$/ { on = 1 }' docs/fiber.md >"$build/perf.c"
	gcc -O2 -g -fomit-frame-pointer -Iinclude "$build/perf.c" -o "$build/perf-fiber" -pthread 2>&1
	perf record -q -e cpu-clock -F 997 --call-graph dwarf,16384 -o "$data" \
		"$build/perf-fiber" 800 >"$build/perf.said" 2>&1 || {
		cat "$build/perf.said"
		return
	}
	perf script -i "$data" -F comm,ip,sym 2>/dev/null >"$build/perf.script"
	read -r all whole < <(awk -v RS= '/ compress/ {
		all++
		whole += / compress.* serve.* weft_fiber_main_.* weft_fiber_start_.* run_all/
	} END { print all + 0, whole + 0 }' "$build/perf.script")
	[ "$all" -ge 50 ] || echo "perf has $all samples"
	[ $((100 * whole)) -ge $((99 * all)) ] || echo "perf sees $whole of $all whole"
}

installed_words() {
	local root=$PWD/$build/installed prefix=/opt/weft flags

	rm -rf "$build/installed" "$build/cmake"
	make -s install-headers DESTDIR="$root" PREFIX=$prefix >/dev/null 2>&1 || echo 'not installed'
	[ -z "$(find "$root" -type f ! -perm 644)" ] || echo 'modes are not 644'
	flags=$(PKG_CONFIG_PATH=$root$prefix/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
		pkg-config --cflags --libs weft) || echo 'pkg-config does not know it'
	# shellcheck disable=SC2086 # several options
	gcc tests/headers/main.c tests/headers/use.c $flags -o "$build/linked" 2>&1
	"$build/linked" || echo 'no root is seen'
	command -v cmake >/dev/null || return 0
	mkdir -p "$build/cmake"
	cat >"$build/cmake/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.10)
		project(user C CXX)
		find_package(weft 0.1 REQUIRED)
		add_executable(user $PWD/tests/headers/main.c $PWD/tests/headers/use.c)
		target_link_libraries(user PRIVATE weft::headers)
	END
	if ! cmake -S "$build/cmake" -B "$build/cmake/out" \
		-DCMAKE_PREFIX_PATH="$root$prefix" >"$build/cmake/log" 2>&1 ||
		! cmake --build "$build/cmake/out" >>"$build/cmake/log" 2>&1; then
		cat "$build/cmake/log"
	fi
	"$build/cmake/out/user" || echo 'no root is seen in what cmake built'
}

more() {
	local compiler

	for compiler in gcc clang; do
		if ! command -v $compiler >/dev/null; then
			skip "$compiler, programs" 'not here'
			continue
		fi
		levels $compiler
		sanitizers $compiler
		coroutines $compiler
		result "$(beside_words $compiler)" "$compiler, one list beside folly's rules"
		result "$(misuse_words $compiler)" "$compiler, misuse ends with a sentence, or does nothing"
	done
	arm64
	if [ "$(uname -m)" = x86_64 ]; then
		result "$(shadow_stack_words)" 'a program with fibers asks for no shadow stack'
	fi
	if command -v gdb >/dev/null; then
		result "$(gdb_words)" 'gdb walks through fibers'
	else
		skip 'gdb walks through fibers' 'no gdb here'
	fi
	if command -v perf >/dev/null && perf record -q -e cpu-clock -o "$build/perf.data" true \
		>/dev/null 2>&1; then
		result "$(perf_words)" 'perf --call-graph dwarf walks through fibers'
	else
		skip 'perf --call-graph dwarf walks through fibers' 'no perf here, or no privilege'
	fi
	if command -v pkg-config >/dev/null; then
		result "$(installed_words)" 'installed, found by pkg-config and cmake'
	else
		skip 'installed, found by pkg-config and cmake' 'no pkg-config here'
	fi
}
