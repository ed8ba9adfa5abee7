#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""batches.py FILE.weft: its batches, unpacked, one after another, on stdout.

Written from docs/format.md alone. Messages that follow each other are one."""
import sys
import zlib


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 5:
            value, at = int.from_bytes(data[at:at + 4], "little"), at + 4
        else:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
        yield key >> 3, value


inflate = zlib.decompressobj()
for number, value in fields(open(sys.argv[1], "rb").read()):
    if number == 2:
        block = dict(fields(value))
        assert zlib.crc32(block[3]) == block[1]
        batch = inflate.decompress(block[3])
        assert len(batch) == block[2]
        sys.stdout.buffer.write(batch)
