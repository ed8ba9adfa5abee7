#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# random_addresses.py FILE N: addresses in functions of FILE, ascending, each as likely as
# any other; and on descriptor 3 the names of all symbols that hold it, tab-separated.
import bisect
import os
import random
import subprocess
import sys

path, wanted = sys.argv[1], int(sys.argv[2])
# some constants lie among the code; nm does not tell them apart
symbols = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                         errors="replace").stdout
functions = {int(words[1], 16) for words in map(str.split, symbols.splitlines())
             if words[3:4] in (["FUNC"], ["IFUNC"])}
spans = {}
for table in (["--dynamic"], []):
    # mangled names beside the others: a demangler may give up on one
    for demangle in (["-C"], []):
        lines = subprocess.run(["nm", "-S", "--defined-only", *table, *demangle, path],
                               capture_output=True, text=True, errors="replace").stdout
        for line in lines.splitlines():
            words = line.split(" ", 3)
            if len(words) < 4 or words[2] not in "TtWi":
                continue
            start, size = int(words[0], 16), int(words[1], 16)
            if size and start in functions:
                spans.setdefault((start, size), set()).add(words[3])
listed = sorted(spans)
starts = [start for start, _ in listed]
longest = max(size for _, size in listed)
random.seed(1)
chosen = set()
for start, size in random.choices(listed, weights=[size for _, size in listed], k=wanted):
    chosen.add(start + random.randrange(size))
with os.fdopen(3, "w") as names:
    for at in sorted(chosen):
        print(f"{at:#x}")
        held = set()
        for i in range(bisect.bisect_right(starts, at) - 1, -1, -1):
            if starts[i] + longest <= at:
                break
            if at < starts[i] + listed[i][1]:
                held |= spans[listed[i]]
        names.write("\t".join(sorted(held)) + "\n")
