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
	jq -es 'any(.level == "warn" and (.msg | startswith("receiver pyroscope: try 1"))) and
		any(.level == "info" and (.msg | test("^weft agent: [0-9]+ windows")))' said
}

@test "logs as logfmt: what is wrong with a configuration" {
	printf '[agent]\nlog-format = logfmt\nkeep = kept\nwindow = 1ms\n' >b.ini
	run --separate-stderr weft agent --config b.ini --check-config
	[ "$status" -eq 2 ]
	[[ $stderr =~ ^time=20[-0-9T:.]+Z\ level=error\ msg=\"--window:\ from\ 1s\ to\ 1h\"$ ]]
}
