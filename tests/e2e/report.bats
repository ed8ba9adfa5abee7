#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# weft report at the prompt, on profiles that are counted by hand.
# shellcheck disable=SC2154 # set by run

load lib

setup() {
	in_a_folder
	printf '%s\n' 'sh;main;alpha_one;leaf 6' 'sh;main;alpha_two 3' 'srv;main;beta 1' \
		>x.folded
}

# WHAT…: told on stderr; the report itself is there, and empty
leaves_nothing() {
	local filter=$1
	shift

	run --separate-stderr weft report x.folded --filter "$filter"
	[ "$status" -eq 0 ]
	[[ $output == *"0 of 10 samples"* ]]
	for words; do
		[[ $stderr == *"$words"* ]] || { echo "$filter: $stderr"; return 1; }
	done
}

@test "a filter that leaves nothing says what there is" {
	leaves_nothing comm=zz "no comm is 'zz'" 'there are: sh, srv'
	leaves_nothing comm=sx "did you mean 'sh'"
	leaves_nothing pid=7 "no pid is known"
	leaves_nothing function=beto "did you mean 'beta'"
	leaves_nothing function=two "did you mean 'alpha_two'"
	leaves_nothing function=lea "did you mean 'leaf'"
	run --separate-stderr weft report x.folded --filter comm=s
	[[ $stderr != *$'\e'* ]]
	run --separate-stderr weft report x.folded --filter $'comm=\e[31m'
	[[ $stderr != *$'\e'* ]]
}

@test "the head says how many samples the filters left" {
	[[ $(weft report x.folded --filter comm=sh | head -1) == *" 9 of 10 samples"* ]]
	[[ $(weft report x.folded | head -1) == *" 10 samples"* ]]
}

@test "brackets and backslashes are parts of names, * and ? are not" {
	printf '%s\n' 'sh;[kernel] 2' 'sh;k 3' 'sh;a\b 4' 'sh;äb 5' >odd.folded
	total() { weft report odd.folded --filter "function=$1" --json 2>/dev/null | jq .total; }
	[ "$(total '[kernel]')" -eq 2 ]
	[ "$(total '[k*')" -eq 2 ]
	[ "$(total 'a\b')" -eq 4 ]
	[ "$(total 'a\*')" -eq 4 ]
	[ "$(total '?b')" -eq 5 ]
	[ "$(total '*')" -eq 14 ]
	[ "$(total '?')" -eq 3 ]
	[ "$(total '??')" -eq 5 ]
}

@test "callers and callees of all that a pattern names" {
	weft report x.folded --caller 'alpha_*' --json >json
	[ "$(jq '[.stacks[] | select(.parent == 0) | .total] | add' json)" -eq 9 ]
	weft report x.folded --callee main --json >json
	jq -e '[.stacks[] | select(.name == "leaf")] | length == 1 and .[0].self == 6' json
	run --separate-stderr weft report x.folded --caller 'gamma*'
	[ "$status" -eq 1 ]
	[[ $stderr == *"no function is called 'gamma*'"*'--top 0'* ]]
}

@test "--least is exact, however large the sum is" {
	printf '%s\n' 'sh;main 285' 'sh;odd 2' >x.folded
	[ "$(weft report x.folded | grep -c 'odd$')" -eq 1 ] # in the table
	[ "$(weft report x.folded --least 7 | grep -c 'odd$')" -eq 1 ]
	[ "$(weft report x.folded --least 6 | grep -c 'odd$')" -eq 2 ]
	[ "$(weft report x.folded --least 7 --json | jq '.stacks | length')" -eq 2 ]
	[ "$(weft report x.folded --least 6 --json | jq '.stacks | length')" -eq 3 ]
	printf 'sh;main %s\n' {1..9}00000000000000000 >x.folded
	echo 'sh;odd 20000000000000000' >>x.folded
	[ "$(weft report x.folded | grep -c 'odd$')" -eq 1 ]
	[ "$(weft report x.folded --least 3 | grep -c 'odd$')" -eq 2 ]
	[ "$(weft report x.folded --least 1000 | grep -c 'main$')" -eq 1 ]
}

@test "who calls a function that is rare in all is told" {
	printf '%s\n' 'sh;main;often 999' 'sh;main;once;rare 1' >x.folded
	weft report x.folded --caller rare | grep -q '  once$'
	weft report x.folded --callee once | grep -q '  rare$'
	weft report x.folded --caller rare --json --least 1000 | jq -e '.stacks | length == 3'
}

@test "JSON holds everything, or says how much it does not" {
	for i in {1..30}; do echo "sh;main;leaf_$i 1"; done >x.folded
	echo 'sh;main 9970' >>x.folded
	weft report x.folded --json >json
	jq -e '(.functions | length == 31) and .functions_dropped == 0' json
	jq -e '(.stacks | length == 32) and .stacks_dropped == 0' json
	weft report x.folded --json --top 5 >json
	jq -e '(.functions | length == 5) and .functions_dropped == 26' json
	jq -e '(.stacks | length == 32) and .stacks_dropped == 0' json
	weft report x.folded --json --least 10 >json
	jq -e '(.functions | length == 31) and .functions_dropped == 0' json
	jq -e '(.stacks | length == 2) and .stacks_dropped == 30' json
	weft report x.folded --json --callee main --top 20 --least 10 >json
	jq -e '.functions_dropped == 11 and .stacks_dropped == 30' json
	[ "$(weft report x.folded | grep -c leaf_)" -eq 19 ] # a table is for the eye
}

@test "pictures that exclude each other" {
	refused 'caller and --callee' report x.folded --caller a --callee b
	refused 'caller and --invert' report x.folded --caller a --invert
	refused 'callee and --invert' report x.folded --callee a --invert
	refused 'invert and --group-by' report x.folded --invert --group-by comm
}

@test "a file that can't be read is named as it was given" {
	refused "cannot read 'nowhere': No such file" report nowhere
	refused "cannot read '.': it is a folder" report .
}

@test "a recording that ends before its first sample" {
	weft report x.folded -o x.weft
	head -c 30 x.weft >cut.weft
	run --separate-stderr weft report cut.weft
	[ "$status" -eq 0 ]
	[[ $stderr == *"cut short"*"ends before the first sample"* ]]
}

@test "what could not be read is told" {
	printf '%s\n' 'a;b 2' garbage 'c;d 3' >x.folded
	run --separate-stderr weft report x.folded
	[ "$status" -eq 0 ]
	[[ $output == *"5 samples"* && $stderr == *"x.folded: weft dropped 1 lines, names or stacks"* ]]
}

# What folded text is, said once more: its lines' sums, by their bytes.
@test "folded to recording to folded is the identity, whatever the names" {
	cat >fuzz.py <<-'END'
		import random, sys
		random.seed(int(sys.argv[1]))
		alphabet = "ab_:<>&\"'\\/[]{}()*?.,+-=~|#@!$%^`0189 \u00e4\u00df\u4e2d\U0001f600"
		odd = ["--", "_--", "[cut]", "[missing frames]", "_[k]", "x_[k]", "--_[k]",
		       "y_[j]_[i]", "[cut]_[i]", "12", "1.5", "a 12", "0", "-", "  ", "[no_name]",
		       "operator()(int, char) const", "f<a, b>", "libx.so+0x12", "[unknown]"]
		def name(last=False):
		    while True:
		        s = random.choice(odd) if random.random() < 0.3 else "".join(
		            random.choice(alphabet) for _ in range(random.randint(1, 12)))
		        # a count of two is a differential pair: weft guards such a leaf
		        head, _, tail = s.rpartition(" ")
		        if last and tail.replace(".", "").isdigit():
		            continue
		        if last and _ and not tail:
		            continue
		        return s
		sums = {}
		for _ in range(400):
		    depth = random.randint(1, 8)
		    stack = ";".join(name(i == depth - 1) for i in range(depth))
		    count = random.choice([1, 2, 99, 2**31, 2**32, 2**40])
		    sums[stack] = sums.get(stack, 0) + count
		lines = [f"{stack} {count}".encode() for stack, count in sums.items()]
		shuffled = [f"{stack} {count - 1}\n{stack} 1".encode() if count > 1 else
		            f"{stack} {count}".encode() for stack, count in sums.items()]
		random.shuffle(shuffled)
		open("any.folded", "wb").write(b"\n".join(shuffled) + b"\n")
		key = lambda line: line.rpartition(b" ")[0]
		open("sorted.folded", "wb").write(b"\n".join(sorted(lines, key=key)) + b"\n")
	END
	for seed in {1..25}; do
		python3 fuzz.py "$seed"
		weft report any.folded -o any.weft
		weft report any.weft -o again.folded
		cmp again.folded sorted.folded ||
			{ diff again.folded sorted.folded | head; false; }
		weft report any.weft --view thread -o again.folded
		cmp again.folded sorted.folded
	done
}

@test "Ctrl-C leaves nothing half written" {
	awk 'BEGIN { for (i = 0; i < 300000; i++) print "sh;f" i ";g" i % 977 " 1" }' >large
	set -m # else a background job ignores it
	"$WEFT" report large -o out.html 3>&- &
	reporter=$!
	for _ in {1..2000}; do
		[ ! -e "out.html.$reporter.part" ] || break
		sleep 0.01
	done
	[ -e "out.html.$reporter.part" ]
	kill -INT $reporter
	status=0
	wait $reporter || status=$?
	[ "$status" -eq 130 ]
	[ ! -e out.html ]
	[ "$(find . -name '*.part' | wc -l)" -eq 0 ]
}

@test "--group-by writes a file for each group into a folder" {
	printf '%s\n' 'sh;m;a 6' 'sh;m;b 3' 'srv;m;b 1' '../x;m;b 2' '-rf;m;b 4' 'SH;m;c 5' \
		'.;m;d 7' 'a/b;m;e 8' 'a\b;m;e 9' >odd.folded
	weft report odd.folded --group-by comm -o all/
	[ "$(cd all && echo *)" = 'SH_2.folded a_b.folded a_b_2.folded rf.folded sh.folded srv.folded unnamed.folded x.folded' ]
	[ -z "$(find . -newer odd.folded -name '*.folded' ! -path './all/*')" ]
	[ "$(cat all/*.folded | awk '{ sum += $NF } END { print sum }')" -eq 45 ]
	weft report odd.folded --filter comm=sh -o sh.folded
	cmp sh.folded all/sh.folded
	grep -q '^a/b;m;e 8$' all/a_b.folded
	grep -q '^a\\b;m;e 9$' all/a_b_2.folded

	weft report odd.folded --group-by comm -o all --format html --filter 'comm=s*'
	[ "$(cd all && echo *.html)" = 'sh.html srv.html' ]
	grep -q '"title":"srv"' all/srv.html
	weft report odd.folded --group-by host -o hosts/ --format weft
	[ "$(weft report hosts/unknown_host.weft --json | jq .total)" -eq 45 ]
}

@test "--group-by and -o: what can't be, and 1,000 files at most" {
	refused '--output names one file' report x.folded --group-by comm -o y.svg
	refused '--output names one file' report x.folded --group-by comm -o -
	refused 'none has no groups' report x.folded --group-by none -o all/
	refused 'is also an input' report x.folded --group-by comm -o .
	refused 'no such format' report x.folded --group-by comm -o all/ --format none
	[ ! -e all ]
	for i in $(seq 1001); do echo "t$i;m 1"; done >many.folded
	run --separate-stderr weft report many.folded --group-by comm -o all/
	[ "$status" -eq 1 ]
	[[ $stderr == *'more than 1000 groups'*'--filter'* ]]
	[ ! -e all ]
	weft report many.folded --group-by comm -o all/ --filter 'comm=t1*'
	[ "$(find all -name '*.folded' | wc -l)" -eq 113 ]
	: >file
	run --separate-stderr weft report x.folded --group-by comm -o file/
	[ "$status" -eq 1 ]
	[[ $stderr == *'file is no folder'* ]]
}

@test "an image is well formed wherever names of other scripts are cut" {
	# boxes of all widths, names of two and of four bytes a character
	for i in $(seq 20); do
		echo "größe;größe_überprüfen_äöü_$i;日本語の関数🚀🚀🚀🚀🚀🚀 $i"
	done >x.folded
	echo "größe;ende_mit_ä 300" >>x.folded
	weft report x.folded -o x.svg
	iconv -f UTF-8 -t UTF-8 x.svg >/dev/null
	python3 -c 'import xml.dom.minidom as d; d.parse("x.svg")'
	[ "$(grep -c '…</text>' x.svg)" -ge 5 ]
	grep -q '>ende_mit_ä</text>' x.svg
}
