#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What weft agent says, for programs that read logs: a line at a time, each whole.
# shellcheck disable=SC2154 # set by run

load lib

@test "logs as JSON: each line an object with time, level and text" {
	start_agent --log-format json --push pyroscope=http://127.0.0.1:9
	wait_for grep -q 'try 1 failed' said
	stop_agent
	cat said
	jq -es 'length > 2 and all(has("time") and has("msg") and
		(.level | IN("error", "warn", "info", "debug")) and
		(.time | test("^20[0-9]{2}-[0-9-]{5}T[0-9:]{8}\\.[0-9]{3}Z$")))' said
	# and one says what it does
	jq -es 'any(.level == "info" and (.msg | startswith("samples each CPU")))' said
	jq -es 'any(.level == "warn" and (.msg | startswith("receiver pyroscope: try 1"))) and
		any(.level == "info" and (.msg | test("^weft agent: [0-9]+ windows")))' said
}

@test "logs as logfmt: what is wrong with a configuration" {
	printf '[agent]\nlog-format = logfmt\nkeep = kept\nwindow = 1ms\n' >b.ini
	run --separate-stderr weft agent --config b.ini --check-config
	[ "$status" -eq 2 ]
	[[ $stderr =~ ^time=20[-0-9T:.]+Z\ level=error\ msg=\"--window:\ from\ 1s\ to\ 1h\"$ ]]
}

@test "it says that it samples, where profiles go, and who may ask; no password" {
	start_agent -F 29 --window 2s --push pyroscope=http://me:hidden@127.0.0.1:9/x \
		--push parca=http://127.0.0.1:9 --keep kept --listen "unix:$PWD/agent.sock"
	wait_for is_ready
	stop_agent
	cat said
	[ "$(grep -m 1 ' samples each CPU ' said)" = "weft: samples each CPU at 29 Hz, in profiles of 2 s, sends them\
 to pyroscope at http://127.0.0.1:9 and parca at http://127.0.0.1:9, keeps them in kept;\
 its status is at unix:$PWD/agent.sock" ]
	run ! grep hidden said
	rm -r kept
	start_agent -q --keep kept
	wait_for are_kept 1
	stop_agent
	# what others on this machine do may be worth a warning
	run ! grep -v ' kept who opens what it maps waiting' said
}

@test "a server's port for gRPC is told from that for HTTP" {
	run --separate-stderr weft agent --check-config --push otlp=http://collector:4317
	[ "$status" -eq 0 ]
	[[ $stderr == *"use port 4318"* ]]
	for url in http://collector:4318 http://c:14317 http://c/:4317 http://4317; do
		run --separate-stderr weft agent --check-config --push "otlp=$url"
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
	done
}
