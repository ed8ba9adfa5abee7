# SPDX-License-Identifier: BSD-2-Clause
# Loaded by the .bats files that look for symbols elsewhere.
# shellcheck shell=bash disable=SC2154,SC2034

# A stripped program and its debug file, whose functions NUMBER tells apart.
build() {
	cat >burn.c <<-'END'
		#include <unistd.h>
		static volatile int sink;
		static inline __attribute__((always_inline)) void innermost(void)
		{ for (int i = 0; i < 100000; i++) sink += i; }
		static __attribute__((noinline)) void one(void) { innermost(); sink = NUMBER; }
		int main(void) { alarm(600); for (;;) one(); }
	END
	gcc -O1 -g -static -Wl,--build-id -DNUMBER="$1" -o whole burn.c || skip "no gcc"
	objcopy --only-keep-debug whole whole.debug
	objcopy -S --add-gnu-debuglink=whole.debug whole burn
}

# HOW: a server of the debug files in served/; $url
serve() {
	rm -f port served/asked
	"$BATS_TEST_DIRNAME/../e2e/debuginfod.py" served "$1" >port 2>server.err 3>&- &
	pids+=($!)
	wait_ready $! port
	url=http://127.0.0.1:$(cat port)
}
