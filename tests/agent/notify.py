#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A service manager's ear:

    notify.py NAME FILE     adds each line of the datagrams to the socket NAME (a path,
                            or an abstract name after '@') to FILE, which is there once
                            it listens
"""

import socket
import sys

name, path = sys.argv[1:]
ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ear.bind("\0" + name[1:] if name[0] == "@" else name)
with open(path, "w", buffering=1) as out:
    while True:
        out.write(ear.recv(4096).decode().rstrip("\n") + "\n")
