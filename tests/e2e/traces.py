#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""traces.py FILE.pb.gz [LABEL…]: FUNCTION VALUE… COUNT of each sample that has one of the
functions of traced.c and its like in it, FUNCTION being that one; - for a label that it
does not have. Without labels: trace_id and span_id.

Written from profile.proto alone; nothing of weft's writer is used."""
import collections
import gzip
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../agent"))
from wire import fields, varint  # pylint: disable=wrong-import-position

NAMES = re.compile(
    "works_for_[1-4]|turns_to_[56]|not_valid|no_span|garbage|kernel_address|nothing"
    "|says_[a-z_]+"
)


def numbers(value):
    if isinstance(value, int):
        return [value]
    ret, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        ret.append(number)
    return ret


def read(profile):
    strings, functions, locations, samples = [], {}, {}, []
    for number, value in fields(profile):
        if number == 6:
            strings.append(value.decode())
        elif number == 5:
            function = dict(fields(value))
            functions[function[1]] = function[2]
        elif number == 4:
            parts = list(fields(value))
            lines = [dict(fields(line)) for n, line in parts if n == 4]
            locations[dict(parts)[1]] = [line[1] for line in lines]
        elif number == 2:
            samples.append(list(fields(value)))
    return strings, functions, locations, samples


def main():
    strings, functions, locations, samples = read(gzip.open(sys.argv[1]).read())
    counts = collections.Counter()
    wanted = sys.argv[2:] or ["trace_id", "span_id"]
    for sample in samples:
        stack = [x for n, v in sample if n == 1 for x in numbers(v)]
        names = [strings[functions[f]] for place in stack for f in locations[place]]
        count = [x for n, v in sample if n == 2 for x in numbers(v)][0]
        labels = [dict(fields(v)) for n, v in sample if n == 3]
        texts = {strings[label[1]]: strings[label.get(2, 0)] for label in labels}
        for name in [name for name in names if NAMES.fullmatch(name)][:1]:
            counts[name, *[texts.get(label, "-") for label in wanted]] += count
    for key, count in sorted(counts.items()):
        print(*key, count)


main()
