#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
holders.py PORT   what anybody on the machine may do to who answers HTTP: requests that
                  never end, some with headers of a megabyte or chunks that are none, more
                  profiles of 10 minutes than there are places; says "there", and goes on
"""
import socket
import sys
import time

port = int(sys.argv[1])
held = []


def begin(text, n):
    for _ in range(n):
        peer = socket.socket()
        peer.settimeout(0.1)
        held.append(peer)
        try:
            peer.connect(("127.0.0.1", port))
            peer.sendall(text)
        except OSError:
            pass


HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
begin(b"GET /debug/pprof/profile?seconds=600" + HOST + b"\r\n", 20)
time.sleep(0.5)
begin(b"GET /healthz" + HOST + b"X: " + b"y" * (1 << 20), 5)
begin(b"POST /" + HOST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 5)
begin(b"GET /healthz" + HOST, 100)
print("there", flush=True)
while True:
    for one in held:
        try:
            one.sendall(b"X")
        except OSError:
            pass
    time.sleep(0.5)
