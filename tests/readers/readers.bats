#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Each format, read by the tool that it is for. The recording is that of
# tests/unit/made.h, so its numbers are known: 15 samples at 10 ms.
# shellcheck disable=SC2154 # set by run

bats_require_minimum_version 1.5.0

setup_file() {
	export GET=${WEFT_READERS:-$READERS_BIN/get}
	"$BATS_TEST_DIRNAME/get" "$GET" 2>"$BATS_FILE_TMPDIR/get.err" || true
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$READERS_BIN/fixture" made.weft
}

weft() {
	"$WEFT" "$@"
}

needs() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

needs_npm() {
	needs node
	[ -d "$GET/node_modules/$1" ] || skip "$1 could not be had from npm"
}

pprof() {
	PPROF_TMPDIR=$PWD HOME=$PWD GOCACHE=${GOCACHE:-/tmp/weft-go-cache} \
		GOFLAGS=-mod=mod go tool pprof "$@" 2>/dev/null
}

@test "pprof -top: totals and shares" {
	needs go
	weft report made.weft -o made.pb.gz
	pprof -top made.pb.gz >top || skip 'go tool pprof does not run'
	grep -q 'Total samples = 150ms' top
	grep -qE '^ +50ms 33.33% .* 50ms 33.33%  inlined \(inline\)$' top
	grep -qE ' 90ms 60.00%  on_read$' top
	grep -q 'File: service' top
	grep -q 'Build ID: 0123456789abcdef' top
	grep -q 'oncpu.outcome.ring_full 5' top
}

@test "pprof: two names of 9,000 bytes that differ in their last are two" {
	needs go
	name=$(printf '%8999s' '' | tr ' ' a)
	printf 'comm;main;%sy 3\ncomm;main;%sz 4\n' "$name" "$name" >long.folded
	weft report long.folded -o long.pb.gz
	pprof -raw long.pb.gz >raw || skip 'go tool pprof does not run'
	grep -qF -f <(echo "${name}y") raw
	grep -qF -f <(echo "${name}z") raw
}

@test "pprof -traces, -tags and -raw: each stack, labels, mappings" {
	needs go
	weft report made.weft -o made.pb.gz
	pprof -traces made.pb.gz >traces || skip 'go tool pprof does not run'
	grep -A9 'comm:  service' traces | grep -q 'async.hops:  1\|async: asked for by'
	pprof -tags made.pb.gz >tags
	grep -qE '90.*service' tags
	grep -qE '60.*other one' tags
	pprof -raw made.pb.gz >raw
	grep -q 'samples/count cpu/nanoseconds' raw
	grep -q 'async' raw
	[ "$(awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && /^ +[0-9]+ +[0-9]+:/ { sum += $1 } END { print sum }' raw)" -eq 15 ]
}

@test "pprof -diff_base: a profile less itself is nothing" {
	needs go
	weft report made.weft -o made.pb.gz
	pprof -top -diff_base=made.pb.gz made.pb.gz >less || skip 'no go tool pprof'
	grep -qE '0, *0% of|Total samples = 150ms' less
	run ! grep -qE '^ +[1-9][0-9]*ms' less
}

@test "protoc --decode: the profile is what its schema says" {
	needs protoc
	proto=/usr/share/gocode/src/github.com/google/pprof/proto
	[ -f $proto/profile.proto ] || skip 'golang-github-google-pprof-dev is not there'
	for view in async thread; do
		weft report made.weft --view $view -o made.pb.gz
		gzip -dc made.pb.gz |
			protoc --decode=perftools.profiles.Profile -I$proto profile.proto >text
		# fields that the schema does not know are shown by number
		run ! grep -qE '^ *[0-9]+[: ]' text
		[ "$(awk '/^sample \{/ { on = 1; first = 1 } /^}/ { on = 0 }
			on && first && / value:/ { sum += $2; first = 0 }
			END { print sum }' text)" -eq 15 ]
	done
}

@test "pprof: the numbers of fields are those of its schema" {
	proto=/usr/share/gocode/src/github.com/google/pprof/proto/profile.proto
	[ -f $proto ] || skip 'golang-github-google-pprof-dev is not there'
	"$BATS_TEST_DIRNAME/../../tools/proto-fields" $proto >theirs
	grep -oE '[A-Z_]+ = [0-9]+' theirs >known
	grep -oE '[A-Z_]+ = [0-9]+' \
		"$BATS_TEST_DIRNAME/../../user/format/pprof/pprof_fields.h" >ours
	[ "$(wc -l <ours)" -ge 40 ]
	run ! grep -vxFf known ours
}

@test "protoc --decode: our own recordings are what our schema says" {
	needs protoc
	docs=$BATS_TEST_DIRNAME/../../docs
	protoc --decode=weft.Recording -I"$docs" weft.proto <made.weft >outer
	grep -q 'magic: "weft recording 2' outer
	run ! grep -qE '^ *[0-9]+[: ]' outer
	python3 "$BATS_TEST_DIRNAME/batches.py" made.weft >batches
	protoc --decode=weft.Batch -I"$docs" weft.proto <batches >inner
	run ! grep -qE '^ *[0-9]+[: ]' inner
	grep -q 'complete: true' inner
	grep -q 'strings: "hash_round"' inner
}

@test "speedscope: its schema, and both views add up" {
	needs_npm speedscope
	needs_npm ajv
	weft report made.weft -o made.speedscope.json
	node "$BATS_TEST_DIRNAME/speedscope.js" "$GET" made.speedscope.json >sums
	diff sums - <<<$'async view 150000000\nthread view 150000000'
	# in order of time: 3 and 5 samples in the first second, 4, then 2 and 1
	jq -c '.profiles[].weights | map(. / 1e7)' made.speedscope.json >weights
	diff weights - <<<$'[3,5,4,2,1]\n[3,5,4,2,1]'
}

@test "speedscope: long recordings stay small, and add up" {
	needs_npm speedscope
	needs_npm ajv
	total=$("$READERS_BIN/generate" long.weft 8 99 600)
	weft report long.weft -o long.speedscope.json
	jq -e '[.profiles[] | (.samples | length) == (.weights | length) and
		(.samples | length) <= 250000] == [true, true]' long.speedscope.json
	period=$((1000000000 / 99))
	for profile in 0 1; do
		[ "$(jq ".profiles[$profile].weights | map(. / $period) | add" \
			long.speedscope.json)" -eq "$total" ]
	done
}

@test "speedscope itself: loads it in a browser, and counts as we do" {
	needs_npm speedscope
	for view in async thread; do
		weft report made.weft --view $view -o made.speedscope.json
		status=0
		node "$BATS_TEST_DIRNAME/speedscope_page.js" "$GET" made.speedscope.json >rows ||
			status=$?
		[ $status -ne 4 ] || skip 'no Chromium here'
		cat rows
		[ $status -eq 0 ]
		weft report made.weft --view $view --top 0 --json |
			jq -r '.functions[] | [.total, .self, .name] | @tsv' |
			awk -F'\t' '{ printf "%s.00ms\t%s\t%s\n", $1 * 10,
				$2 ? $2 * 10 ".00ms" : "0.00ns", $3 }' | sort >ours
		grep -qF $'1\tasync view\t150.00ms' rows
		grep -qF $'2\tthread view\t150.00ms' rows
		# its shares, which it rounds, and what is no function, are left out
		sed -E 's/ \(<?[0-9.]+%\)//g' rows | awk -F'\t' '$1 ~ /^[0-9.]+m?s$/ &&
			$3 !~ /^(--|\[cut\]|\[missing frames\]|service|other one)$/' |
			sort >theirs
		diff ours theirs
	done
}

@test "Firefox Profiler: its own command line reads it" {
	needs_npm @firefox-devtools/profiler-cli
	weft report made.weft -o made.json
	export HOME=$PWD
	cli=$GET/node_modules/.bin/profiler-cli
	# it gives its daemon half a second, which it may not have on a busy machine
	timeout 60 "$cli" load made.json >loaded 2>&1 || sleep 5
	timeout 60 "$cli" profile info >known 2>&1 ||
		{ cat loaded known; skip 'its daemon does not become ready'; }
	for thread in 0 1; do
		timeout 60 "$cli" thread select t-$thread >/dev/null 2>&1 || true
		timeout 60 "$cli" thread samples >>shown 2>&1
	done
	timeout 60 "$cli" stop --all >/dev/null 2>&1 || true
	cat shown
	grep -q '(9 running samples)' shown
	grep -q '(6 running samples)' shown
	grep -q 'service!on_read - total: 9 ' shown
	grep -qE 'Kernel .* 4  ' shown
}

@test "inferno: a flame graph of as many samples" {
	[ -x "$GET/bin/inferno-flamegraph" ] || skip 'inferno could not be had'
	weft report made.weft -o made.folded
	"$GET/bin/inferno-flamegraph" made.folded >made.svg
	grep -q 'all (15 samples' made.svg
	grep -q 'on_read (9 samples' made.svg
}

@test "SVG: well formed, and each box says its share" {
	needs python3
	weft report made.weft -o made.svg
	python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' made.svg
	grep -q 'on_read (9 samples, 60.00%)' made.svg
	grep -q '&lt;b&gt;&quot;quoted&quot;; 7 (1 samples, 6.67%)' made.svg
	run ! grep -q '<script' made.svg
	grep -q '>A print: an HTML page of the same recording zooms and searches.<' made.svg
}

# Bytes as they were when somebody last looked at them. WEFT_GOLDEN=write renews.
@test "golden files of each writer" {
	for view in async thread; do
		for format in folded speedscope.json json svg; do
			name=made.$view.$format
			weft report made.weft --view $view -o "$name"
		done
		weft report made.weft --view $view -o x.pb.gz
		gzip -dc x.pb.gz | od -An -c >made.$view.pprof.txt
		weft report made.weft --view $view >made.$view.text
		weft report made.weft --view $view --json >made.$view.report.json
	done
	version=$(weft --version)
	for made in made.*.*; do
		case $made in *.pprof.txt) ;; *) sed -i "s/$version/weft VERSION/" "$made" ;; esac
		golden=$BATS_TEST_DIRNAME/golden/$made
		[ "${WEFT_GOLDEN-}" != write ] || cp "$made" "$golden"
		cmp "$made" "$golden"
	done
}
