# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# The headers where there is nothing for them to do: other systems, other object
# files, 32 bits, no libc. There they are nothing, without a word. And who defines the
# symbols that an object exports.

# Clang's own headers alone: there is no libc of these systems here.
bare=(clang -nostdlibinc -fsyntax-only "${warn[@]}")

off_targets=(x86_64-apple-darwin arm64-apple-macos11 x86_64-w64-mingw32 i686-w64-mingw32
	aarch64-pc-windows-msvc i386-linux-gnu armv7a-linux-gnueabihf x86_64-linux-gnux32
	riscv32-linux-gnu wasm32-wasi x86_64-none-elf
	x86_64-unknown-freebsd13)

# Fails to compile if the header thinks that it has something to do.
off_source() {
	cat <<-'END'
		#include <weft/async.h>
		#include <weft/fiber.h>
		#if !defined(WEFT_DISABLED) || WEFT_HAS_FIBER || WEFT_ASYNC_VERSION < 100
		#error not off
		#endif
		#if defined(_PTHREAD_H) || defined(PTHREAD_CREATE_JOINABLE)
		#error pthread.h is not asked for
		#endif
	END
}

# TARGET OPTION…: each header alone and all that there is of async.h used
off_words() {
	local target=$1 standard

	shift
	for standard in c89 c99 c11 c2x; do
		off_source | "${bare[@]}" --target="$target" "$@" -std=$standard -x c - 2>&1 ||
			echo "-std=$standard: failed"
	done
	for standard in c++98 c++11 c++14 c++17 c++20; do
		off_source | "${bare[@]}" --target="$target" "$@" -std=$standard \
			-Wno-long-long -Wno-c++11-long-long -x c++ - 2>&1 ||
			echo "-std=$standard: failed"
		"${bare[@]}" --target="$target" "$@" -std=$standard -x c++ \
			-isystem tests/headers/bare -include weft/async.hpp /dev/null 2>&1 ||
			echo "-std=$standard, async.hpp: failed"
	done
	"${bare[@]}" --target="$target" "$@" -std=c11 -x c tests/headers/use.c 2>&1 ||
		echo 'use.c: failed'
	"${bare[@]}" --target="$target" "$@" -std=c++11 -x c++ tests/headers/use.c 2>&1 ||
		echo 'use.c as C++: failed'
}

# As Microsoft's compiler is called, all its warnings on.
cl_words() {
	local std

	for std in /std:c11 /std:c++14 /std:c++20; do
		off_source >"$build/off.${std:5:3}"
		clang --driver-mode=cl --target=x86_64-pc-windows-msvc /clang:-nostdlibinc /Zs /W4 /WX \
			$std -Iinclude "/T${std_letter[${std:5:3}]}" "$build/off.${std:5:3}" \
			2>&1 || echo "$std: failed"
	done
}
declare -A std_letter=([c11]=c [c++]=p)

# Others that are on: their notes and places assemble, too.
on_words() { # TARGET
	local std

	for std in gnu99 c11 c2x; do
		clang --target="$1" -nostdlibinc -isystem tests/headers/bare "${warn[@]}" \
			-std=$std -O2 -c tests/headers/use.c -o "$build/on.o" 2>&1 ||
			echo "-std=$std: failed"
	done
	[ "$(llvm-readelf -nW "$build/on.o" | grep -c '^  weft ')" = 1 ] || echo 'no note'
}

# What an object defines and what of it others see, by nm.
symbols_of() { # FILE OPTION…
	nm "${@:2}" --defined-only "$1" | awk '{ print $NF }' | grep -E 'weft|folly' | grep -v _note_ |
		sort | tr '\n' ' '
}

# A library of several files takes the header: one of them defines what it shares.
extern_words() { # COMPILER
	local keys='folly_async_stack_metadata_frame_cookie folly_async_stack_root_tls_key '
	local flags=(-O2 -fPIC -Iinclude -DWEFT_REGISTRY -DWEFT_ASYNC_EXTERN)
	local exports seen

	printf '%s\n' '#define WEFT_ASYNC_IMPLEMENTATION' '#include <weft/async.h>' \
		>"$build/defines.c"
	"$1" "${flags[@]}" -c tests/headers/use.c -o "$build/asks.o" 2>&1
	"$1" "${flags[@]}" -fvisibility=hidden -c "$build/defines.c" -o "$build/defines.o" 2>&1
	seen=$(nm --defined-only "$build/asks.o" | grep -E ' [^tTbdr] | (weft_key_|folly.*)$' || true)
	[ -z "$seen" ] || echo "who does not define it has $seen"
	[ "$(readelf -nW "$build/asks.o" | grep -c '^  weft ')" = 0 ] || echo 'a note too many'
	[ "$(readelf -nW "$build/defines.o" | grep -c '^  weft ')" = 2 ] || echo 'no notes'
	seen=$(symbols_of "$build/defines.o")
	[ "$seen" = "${keys}weft_key_ weft_label_cookie_ weft_leaf_lists_ weft_leaf_ready_ " ] ||
		echo "who defines it has $seen"
	"$1" -shared "$build/asks.o" "$build/defines.o" -o "$build/asks.so" -Wl,-z,defs 2>&1
	exports=$(symbols_of "$build/asks.so" -D | sed 's/\(request\|work\)_[a-z]* //g')
	[ "$exports" = "$keys" ] || echo "the library exports $exports"
	! "$1" -shared "$build/asks.o" -o "$build/asks.so" -Wl,-z,defs 2>/dev/null ||
		echo 'links although nobody defines it'
	"$1" "${flags[@]}" tests/headers/main.c "$build/asks.o" "$build/defines.o" \
		-o "$build/linked" 2>&1
	"$build/linked" || echo 'no root is seen'
	# without a word of it all is as it was: each file defines them, weakly
	"$1" -O2 -fPIC -Iinclude -c tests/headers/use.c -o "$build/asks.o" 2>&1
	seen=$(nm --defined-only "$build/asks.o" | awk '$2 == "V" { print $3 }' | sort | tr '\n' ' ')
	[ "$seen" = "${keys}weft_key_ weft_label_cookie_ " ] || echo "weak are $seen"
}

version_words() {
	local version

	version=$(sed -n 's/^VERSION *:= *//p' Makefile)
	IFS=. read -r major minor patch <<<"$version"
	grep -q "^#define WEFT_ASYNC_VERSION $((10000 * major + 100 * minor + patch))\b" \
		include/weft/async.h || echo "WEFT_ASYNC_VERSION is not that of $version"
}

elsewhere() {
	local target compiler

	result "$(version_words)" 'async.h has the version of weft'
	for compiler in gcc clang; do
		if command -v $compiler >/dev/null; then
			result "$(extern_words $compiler)" "$compiler, one file of a library defines what is shared"
		else
			skip "$compiler, what a library exports" 'not here'
		fi
	done
	if ! command -v clang >/dev/null; then
		skip 'other systems' 'no clang here'
		return
	fi
	for target in "${off_targets[@]}"; do
		result "$(off_words "$target")" "nothing on $target"
	done
	result "$(off_words x86_64-linux-gnu -ffreestanding)" 'nothing where there is no libc'
	result "$(off_words x86_64-pc-windows-msvc -fms-extensions -fms-compatibility)" \
		"nothing on Windows, with Microsoft's extensions"
	result "$(cl_words)" 'nothing for clang-cl'
	for target in riscv64-linux-gnu powerpc64le-linux-gnu s390x-linux-gnu \
		aarch64-linux-musl x86_64-linux-android; do
		if clang --target=$target -c -x c /dev/null -o /dev/null 2>/dev/null; then
			result "$(on_words $target)" "at work on $target"
		else
			skip "at work on $target" 'this clang does not know it'
		fi
	done
}
