#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A server of debug files by build id, which keeps to that or does not.

    debuginfod.py FOLDER HOW    prints its port, and serves until it is killed

FOLDER/asked gets a line for each request. HOW: "well" (FOLDER/ID, or 404), "hang" (half
of the file, and then nothing), "cut" (half of the file, and the connection is closed),
"other" (FOLDER/other, whatever is asked for), "late" (2 KB a quarter of a second, until
there is FOLDER/go).
"""

import http.server
import os
import sys
import time

folder, how = sys.argv[1], sys.argv[2]


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        with open(os.path.join(folder, "asked"), "a") as asked:
            asked.write(self.path + "\n")
        name = "other" if how == "other" else self.path.split("/")[2]
        path = os.path.join(folder, os.path.basename(name))
        if not os.path.exists(path):
            self.send_error(404)
        else:
            with open(path, "rb") as f:
                whole = f.read()
            half = whole[: len(whole) // 2] if how in ("hang", "cut") else whole
            if how == "late":
                self.dribble(whole)
            else:
                self.answer(half, len(whole))
            while how == "hang":
                time.sleep(1)

    def dribble(self, whole):
        self.answer(whole[:2048], len(whole))
        at = 2048
        while not os.path.exists(os.path.join(folder, "go")):
            time.sleep(0.25)
            self.wfile.write(whole[at : at + 2048])
            self.wfile.flush()
            at += 2048
        self.wfile.write(whole[at:])

    def answer(self, body, length):
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print(server.server_address[1], flush=True)
server.serve_forever()
