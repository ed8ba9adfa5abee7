# SPDX-License-Identifier: BSD-2-Clause
"""A greenlet that switches back after some work: crc32 is what no one else calls."""
from zlib import crc32

from greenlet import getcurrent, greenlet

text = b'weft' * 2000


def turns():
    while True:
        for _ in range(10):
            crc32(text)
        getcurrent().parent.switch()


other = greenlet(turns)
while True:
    other.switch()
