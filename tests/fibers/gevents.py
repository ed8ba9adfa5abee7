# SPDX-License-Identifier: BSD-2-Clause
"""Two of gevent's greenlets that sleep for nothing: crc32 is what no one else calls."""
from zlib import crc32

import gevent

text = b'weft' * 2000


def turns():
    while True:
        for _ in range(10):
            crc32(text)
        gevent.sleep(0)


gevent.joinall([gevent.spawn(turns), gevent.spawn(turns)])
