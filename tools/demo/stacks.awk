# SPDX-License-Identifier: BSD-2-Clause
#
# usage: awk -v comm=NAME -v view=async|thread -v loop=FUNCTION -v most=N
#            -v width=COLUMNS -v bold= -v dim= -v plain=  -f stacks.awk FILE.folded
#
# The commonest stacks of one program as blocks of lines, leaf first, cut at
# the callback that the loop ran: what lies above it is the callback's own
# business. Every line is padded to the width, colours not counted.

function line(text, colour)
{
	text = substr(text, 1, width)
	printf "%s%s%s%*s\n", colour, text, colour ? plain : "", width - length(text), ""
}

# Sets ours[], callback first; returns how many frames, and in `asked` how many
# of them are on the thread (the rest asked for them).
function cut(n,    i, from, last)
{
	from = 0
	asked = 0
	for (i = n; i > 1 && !from; i--)
		if (frames[i] == "--" || (view == "thread" && frames[i] == loop))
			from = i
	if (!from)
		for (i = n; i > 1 && !from; i--)
			if (frames[i] == loop || frames[i] == "[missing frames]")
				from = i - 1
	last = 0
	if (from < n)
		ours[++last] = frames[from + 1]
	for (i = from; i > 1; i--) {
		if (frames[i] == "--")
			asked = last
		else if (frames[i] !~ /^(_start|__libc_start|\[cut\])/)
			ours[++last] = frames[i]
	}
	return last
}

{
	count = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frames, ";")
	if (frames[1] != comm)
		next
	total += count
	last = cut(n)
	key = asked
	for (i = 1; i <= last; i++)
		key = key ";" ours[i]
	sum[key] += count
}

END {
	for (shown = 0; shown < most; shown++) {
		best = ""
		for (key in sum)
			if (best == "" || sum[key] > sum[best] ||
			    (sum[key] == sum[best] && key < best))
				best = key
		if (best == "")
			break
		n = split(best, ours, ";")
		line(sprintf("%5.1f %%  %s", 100 * sum[best] / total, ours[2]), bold)
		if (ours[2] == "[missing frames]")
			line("         (code without frame pointers)", dim)
		if (ours[1])
			line("         asked for by", dim)
		for (i = 3; i <= n; i++)
			line("         " ours[i])
		line("")
		delete sum[best]
	}
}
