# SPDX-License-Identifier: BSD-2-Clause
# JSON, regular expressions, sorting with callbacks and recursion, for ever.
import json
import re

data = {"a": [{"k%d" % i: [i, str(i), {"x": i * 1.5}]} for i in range(100)]}
pattern = re.compile(r'"k(\d+)":\s*\[(\d+),\s*"(\d+)"')


def depth(n, then):
    return then() if n == 0 else depth(n - 1, then)


def text():
    there = json.dumps(data)
    return len(pattern.findall(there)) + len(json.loads(there))


def order():
    return sorted(range(500), key=lambda i: i * 7919 % 503)[0]


while True:
    depth(10, text)
    depth(40, order)
