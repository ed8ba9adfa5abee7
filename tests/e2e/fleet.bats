#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What docs/fleet.md tells people to write is right.
# shellcheck disable=SC2154 # set by run

load lib

setup() {
	in_a_folder
}

# FILE: each block of it that is ini, as 1.ini, 2.ini and so on, with the files that
# they name as secrets and certificates in this folder
take_blocks() {
	local file

	awk '/^```ini$/ { n++; inside = 1; next } /^```$/ { inside = 0 }
		inside { print > (n ".ini") }' "$1"
	mkdir files
	sed -nE 's/^.*-file = //p' ./*.ini | while read -r file; do
		install -D -m 600 <(echo secret) "files$file"
	done
	sed -i -E "s|^(.*-file) = /|\1 = $PWD/files/|" ./*.ini
}

@test "docs/fleet.md: weft agent takes each configuration in it" {
	take_blocks "$BATS_TEST_DIRNAME/../../docs/fleet.md"
	local file kind
	for file in ./*.ini; do
		run -0 --separate-stderr weft agent --check-config --config "$file"
		[ "$output" = "$file is right" ]
	done
	# all ways out are there
	for kind in 'kind = pyroscope' 'kind = parca' 'kind = otlp' 'keep = ' 'listen = '; do
		grep -q "^$kind" ./*.ini
	done
	# and a mistake would be seen
	sed -i 's/^kind = parca/kind = parka/' ./*.ini
	run -2 weft agent --check-config --config "$(grep -l parka ./*.ini)"
	[[ $output == *"it needs a kind"* ]]
}
