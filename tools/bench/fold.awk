# SPDX-License-Identifier: BSD-2-Clause
# What `perf script` prints, as folded stacks: the least that can be done, for
# what perf costs from tick to folded file. The number of samples to stderr.
/^[^ \t]/ { comm = $1; next }
NF { stack = ";" $2 stack; next }
stack { counts[comm stack]++; samples++; stack = "" }
END {
	if (stack) { counts[comm stack]++; samples++ }
	for (s in counts) print s, counts[s]
	print samples + 0 > "/dev/stderr"
}
