# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2317 # sourced by run
#
# What weft report may be given: each file must be read, or refused with a sentence,
# in time and in little memory.

# what fails at a pipe's end fails here
shopt -s lastpipe

# FILE OPTION…: read, or refused in one sentence; nothing else
survives() {
	local said=0 words

	words=$(ulimit -v "${kilobytes:-4000000}"; timeout 60 "$weft" report "$@" -o "$work/out.folded" 2>&1) ||
		said=$?
	[ $said -le 2 ] || { echo "status $said: $words"; return 1; }
	[ $said -eq 0 ] || grep -q '^weft: ' <<<"$words" || { echo "said: $words"; return 1; }
	! grep -q 'no memory' <<<"$words" || { echo "said: $words"; return 1; }
	! LC_ALL=C grep -qP '[\x00-\x08\x0e-\x1f]' <<<"$words" || { echo "not clean"; return 1; }
}

# NAME: what is on stdin, as a file of that name
lie() {
	cat >"$work/$1"
	try "weft report of $1" survives "$work/$1"
}

# NAME BYTES FIELD: a profile of pprof that has nothing in it, so many times
packs() {
	/usr/bin/python3 -c 'import sys
n, field = int(sys.argv[1]), int(sys.argv[2])
for _ in range(n // 2000000): sys.stdout.buffer.write(bytes([field << 3 | 2, 0]) * 1000000)
' "$2" "$3" | gzip -1 | lie "$1"
}

# NAME FILE SEED: a file with a hundred bytes changed
spoil() {
	/usr/bin/python3 -c 'import random, sys
rand = random.Random(int(sys.argv[2])); data = bytearray(open(sys.argv[1], "rb").read())
for _ in range(100): data[rand.randrange(len(data))] = rand.randrange(256)
sys.stdout.buffer.write(data)' "$2" "$3" >"$work/$1"
}

"$weft" report --tape "$work/before.tape" -q -o "$work/good.weft" 2>/dev/null
"$weft" report "$work/good.weft" -q -o "$work/good.pb.gz" 2>/dev/null
gzip -dc "$work/good.pb.gz" >"$work/good.pb"
head -c 65536 /dev/urandom | lie noise.weft
head -c 65536 /dev/urandom | lie noise.pb.gz
head -c 65536 /dev/urandom | lie noise.folded
head -c 65536 /dev/zero | lie zeros.weft
printf '' | lie empty.weft
head -c 100 "$work/good.weft" | lie begun.weft
head -c 5000 "$work/good.weft" | lie cut.weft
cat "$work/good.weft" "$work/good.weft" | lie twice.weft
head -c 1000 "$work/good.pb.gz" | lie cut.pb.gz
head -c 200000000 /dev/zero | gzip -1 | lie bomb.pb.gz
# of a few kilobytes
for field in 1 2 3 4 5 6; do
	kilobytes=500000 packs "bomb$field.pb.gz" 60000000 "$field"
done
kilobytes=500000 packs bomb7.pb.gz 400000000 6
printf 'a;b 18446744073709551616\n' | lie overflow.folded
printf 'a;b -5\n' | lie negative.folded
{ head -c 20000000 /dev/zero | tr '\0' ';'; echo ' 1'; } | lie deep.folded
{ head -c 20000000 /dev/zero | tr '\0' 'x'; echo ' 1'; } | lie long.folded
printf 'a;\x1b[2J;\xe2\x80\xae;\xff 3\n' | lie escapes.folded
printf 'x 1 [000] 1.0: 1 cpu-clock:\n\tffffffffffffffffffff a (b)\n' | lie perf.txt
mkfifo "$work/fifo.folded"
try "weft report of a FIFO that nobody writes" timeout -k 1 100 bash -c \
	"timeout -s INT 1 '$weft' report '$work/fifo.folded' >/dev/null 2>&1; true"
try "weft report of a folder" survives "$work"
for seed in 1 2 3 4; do
	spoil "spoilt$seed.weft" "$work/good.weft" $seed
	try "weft report of a recording with spoilt bytes $seed" survives "$work/spoilt$seed.weft"
	spoil "spoilt$seed.tape" "$work/before.tape" $seed
	try "weft report of a tape with spoilt bytes $seed" survives --tape "$work/spoilt$seed.tape"
	spoil "spoilt$seed.pb" "$work/good.pb" $seed
	try "weft report of a pprof profile with spoilt bytes $seed" survives "$work/spoilt$seed.pb"
done
