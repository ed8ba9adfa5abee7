# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# How a program that is interpreted or compiled comes to what it is at: the same ways, if
# nothing is cut and nobody invented.

# FILE REGEX: samples a shape, by the callers of the last frame that is the language's, by
# the regex: these are L, and neighbours of them one
shapes_of() {
	awk -v language="$2" '{
		samples = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, frames, ";")
		text = shape = was = ""
		for (i = 2; i <= n; i++) {
			is = frames[i] ~ language
			if (!is || !was)
				text = text ";" (is ? "L" : frames[i])
			if (is)
				shape = text
			was = is
		}
		sum[shape] += samples
	}
	END { for (shape in sum) print sum[shape], shape }' "$1" | sort -rn
}

# SHAPES MORE-SHAPES: nearly all samples of the second have shapes of the first
knows_shapes() {
	awk 'NR == FNR { sub(/^[0-9]+ /, ""); is_known[$0] = 1; next }
		{ n = $1; all += n; sub(/^[0-9]+ /, "") }
		!($0 in is_known) { other += n; print n, "of another shape:", $0 }
		END { exit other > all / 200 }' "$1" "$2"
}
