#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# compare_symbols.py ADDRESSES OURS THEIRS: is the name that weft gives each address one
# of those that it may have (tab-separated)? Prints how many are not, and some of them;
# fails if more than one in 1,000 is not.
import re
import sys


def bare(name):
    name = name.split("@")[0]
    name = re.sub(r"\[abi:\w+\]| \[clone [^]]*\]", "", name)
    name = re.sub(r"(\.(cold|isra|part|constprop)(\.\d+)?)+$", "", name)
    name = name.replace("(anonymous namespace)", "~")
    name = re.sub(r"operator\b\W.*", "operator", name)
    name = re.sub(r"\{lambda.*|<lambda.*", "{lambda", name)
    while True:
        less = re.sub(r"<[^<>]*>|\([^()]*\)| const$| &+$", "", name)
        if less == name:
            return name.split(" ")[-1]
        name = less


def read(path):
    return open(path, errors="replace").read().split("\n")[:-1]


addresses, ours, theirs = (read(path) for path in sys.argv[1:4])
assert len(addresses) == len(ours) == len(theirs) > 1000
wrong = [(at, our, their) for at, our, their in zip(addresses, ours, theirs)
         if bare(our) not in {bare(name) for name in their.split("\t")}]
for at, our, their in wrong[:5]:
    print(f"{at}: {our[:200]}, not {their[:300]}")
print(f"{len(ours)} addresses, {len(wrong)} of them with another name")
sys.exit(len(wrong) * 1000 > len(ours))
