#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# compare.py OURS BINUTILS LLVM: what locations and the two addr2line -a -i -f -C (or
# another two) say of the same addresses. Names of inlined functions, files and lines must
# be those of one of the two, and mostly of both: each misreads something. What neither
# knows a line of is left out. Of a name that one can't read ("??", as of what dwz moved to
# another file) only the lines are compared, and there may be few. Prints how many.
import re
import sys

CUT = 900  # bytes: weft's names end at 1023


def bare(name):
    # our names of C++ functions have no parameters and no return types; all spell
    # operators as they like
    name = re.sub(r"\boperator\b\W.*", "operator", name)
    name = re.sub(r"\[abi:\w+\]|\[clone [^]]*\]", "", name)
    while True:
        less = re.sub(r"<[^<>]*>|\([^()]*\)| const$|\[with [^]]*\]", "", name)
        if less == name:
            break
        name = less
    return name.split(" ")[-1]


def agrees(ours, theirs):
    # we also say what a function lies in where g++ gave it no linkage name
    ours, theirs = bare(ours), bare(theirs)
    return ours == theirs or ours.endswith("::" + theirs)


def read(path):
    places, at = {}, None
    lines = open(path, errors="replace").read().split("\n")
    i = 0
    while i < len(lines) and lines[i]:
        if re.fullmatch(r"0x[0-9a-f]+", lines[i]):
            at = int(lines[i], 16)
            places[at] = []
            i += 1
            continue
        name, where = lines[i], lines[i + 1]
        file, _, line = re.sub(r" \(discriminator \d+\)$", "", where).rpartition(":")
        line = "0" if line == "?" else line
        places[at].append((name, file.rpartition("/")[2], line))
        i += 2
    return places


def same(our, their):
    # binutils gives an inlined function without a linkage name the symbol's
    by_symbol = len(their) > 1 and their[0][0] == their[-1][0]
    return [(f, l) for _, f, l in our] == [(f, l) for _, f, l in their] and all(
        len(theirs) > CUT or "lambda" in theirs or theirs == "??" or agrees(ours, theirs)
        or not i and by_symbol
        for i, ((ours, _, _), (theirs, _, _)) in enumerate(zip(our[:-1], their[:-1])))


def has_line(places):
    return places and not places[0][1].startswith("?") and places[-1][2] != "0"


ours, *theirs = [read(path) for path in sys.argv[1:4]]
counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
compared = inlined = unread = 0
for at in theirs[0]:
    their = [their.get(at, []) for their in theirs]
    if not all(map(has_line, their)) or any(f == "<artificial>" for _, f, _ in their[0]):
        continue
    our = ours.get(at, [])
    said = tuple(same(our, places) for places in their)
    counts[said] += 1
    compared += 1
    inlined += len(our) > 1
    unread += all(any(name == "??" for name, _, _ in places[:-1]) for places in their)
    if not any(said) and counts[said] < 4:
        print(f"{at:#x}: {our}, not {their}"[:1000])
none = counts[False, False]
print(f"{compared} compared, {inlined} of them with inlined functions: "
      f"{counts[True, True]} the same in all, {counts[True, False]} in the first alone, "
      f"{counts[False, True]} in the second alone, {none} in none; "
      f"{unread} have names that neither can read")
sys.exit(not (compared > 100 and inlined > 20 and none * 1000 <= compared and
              unread * 50 <= compared))
