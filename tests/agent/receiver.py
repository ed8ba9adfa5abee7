#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A server that takes profiles and holds whoever sends to the receivers' rules.

    receiver.py FOLDER [SCRIPT]     prints its port, and serves until it is killed;
                                    over TLS where TLS_CERT and TLS_KEY name files, for
                                    those alone whom TLS_CA vouches for, if that does

FOLDER gets a file for each profile that was taken: N-KIND.pb.gz, and N-KIND.json with
its labels, its id and the headers of the request; of OTLP also N-KIND.folded. The second
series of a request is in N-KIND+1.pb.gz and so on. SCRIPT says how to answer, one word
for each request in turn, the last one for all that follow: a code (503), CODE/SECONDS
(429/2: with Retry-After), "ok", "hang" (never answers), "reset", "slow" (a byte of the
answer every 100 ms), "html" (200, and a page, as servers have for unknown paths),
"most:BYTES" (413 if it is larger),
"partial" (OTLP: 200, and the profile was not wanted).

What breaks a rule gets 400 and a line in FOLDER/broken.
"""

import base64
import gzip
import http.server
import json
import os
import otlp
import socket
import ssl
import struct
import sys
import threading
import time

from wire import Broken, fields

folder = sys.argv[1]
script = sys.argv[2].split(",") if len(sys.argv) > 2 else ["ok"]
lock = threading.Lock()
count = 0


def check_labels(labels):
    for name in ("__name__", "service_name"):
        if not labels.get(name):
            raise Broken("no label " + name)
    return labels


def check_profile(raw):
    if raw[:2] != b"\x1f\x8b":
        raise Broken("not gzip")
    text = gzip.decompress(raw)
    if len(text) > 4 << 20:
        raise Broken("more than 4 MiB")
    if not any(number == 2 for number, _ in fields(text)):
        raise Broken("no samples")
    return raw


def read_pyroscope(handler, body):
    if handler.headers["Content-Type"] not in ("application/proto",):
        raise Broken("Content-Type " + str(handler.headers["Content-Type"]))
    ret = []
    for series in [value for number, value in fields(body) if number == 1]:
        labels, samples = {}, []
        for number, value in fields(series):
            if number == 1:
                pair = dict(fields(value))
                if pair[1].decode() in labels:
                    raise Broken("twice a label " + pair[1].decode())
                labels[pair[1].decode()] = pair[2].decode()
            elif number == 2:
                samples.append(dict(fields(value)))
        if len(samples) != 1:
            raise Broken("%d samples" % len(samples))
        (sample,) = samples
        ret.append((check_labels(labels), check_profile(sample[1]), sample[2].decode()))
    return ret


def read_parca(handler, body):
    if handler.headers["Content-Type"] != "application/json":
        raise Broken("Content-Type " + str(handler.headers["Content-Type"]))
    ret = []
    for series in json.loads(body)["series"]:
        labels = {pair["name"]: pair["value"] for pair in series["labels"]["labels"]}
        (sample,) = series["samples"]
        raw = base64.b64decode(sample["rawProfile"], validate=True)
        ret.append((check_labels(labels), check_profile(raw), None))
    return ret


def read_otlp(handler, body):
    if handler.headers["Content-Type"] != "application/x-protobuf":
        raise Broken("Content-Type " + str(handler.headers["Content-Type"]))
    if handler.headers["Content-Encoding"] != "gzip":
        raise Broken("Content-Encoding " + str(handler.headers["Content-Encoding"]))
    exports = otlp.read(gzip.decompress(body))
    handler.folded = [export["folded"] for export in exports]
    return [(export["about"], body, export["id"]) for export in exports]


PATHS = {
    "/v1development/profiles": ("otlp", read_otlp),
    "/push.v1.PusherService/Push": ("pyroscope", read_pyroscope),
    "/api/profiles/writeraw": ("parca", read_parca),
}


def next_word():
    global count
    with lock:
        word = script[min(count, len(script) - 1)]
        count += 1
        return count, word


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, text, kind="application/json", slow=False, after=None):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        for i in range(len(text)) if slow else ():
            self.wfile.write(text[i : i + 1])
            self.wfile.flush()
            time.sleep(0.1)
        if not slow:
            self.wfile.write(text)

    def keep(self, stem, profile, folded):
        labels, raw, profile_id = profile
        about = {"labels": labels, "id": profile_id, "headers": dict(self.headers)}
        with open(stem + ".json", "w") as f:
            json.dump(about, f)
        if folded is not None:
            with open(stem + ".folded", "w") as f:
                f.writelines("%s %d\n" % line for line in folded.items())
        with open(stem + ".pb.gz.part", "wb") as f:
            f.write(raw)
        os.rename(stem + ".pb.gz.part", stem + ".pb.gz")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        number, word = next_word()
        with open(os.path.join(folder, "requests"), "a") as f:
            f.write("%.3f %s %s\n" % (time.monotonic(), word, self.path))
        if word == "hang":
            time.sleep(3600)
        if word == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            return
        if word == "html":
            self.answer(200, b"<html>", "text/html")
            return
        if word.startswith("most:") and len(body) > int(word[5:]):
            self.answer(413, b'{"code":"too large"}')
            return
        if word not in ("ok", "slow", "partial") and not word.startswith("most:"):
            code, _, after = word.partition("/")
            self.answer(int(code), b'{"code":"as the script says"}', after=after)
            return
        try:
            kind, read = PATHS[self.path]
            profiles = read(self, body)
            if not profiles:
                raise Broken("no series")
        except Exception as error:
            with open(os.path.join(folder, "broken"), "a") as f:
                f.write("%s: %r\n" % (self.path, error))
            self.answer(400, b'{"code":"invalid_argument"}')
            return
        stem = os.path.join(folder, "%06d-%s" % (number, kind))
        # the first last: who waits for its file finds the others
        for i in reversed(range(len(profiles))):
            folded = self.folded[i] if kind == "otlp" else None
            self.keep(stem + ("+%d" % i if i else ""), profiles[i], folded)
        if kind == "otlp":
            # a partial success: one profile was not wanted, or none was but a word
            said = b"\x0a\x02\x08\x01" if word == "partial" else b"\x0a\x04\x12\x02hm"
            self.answer(200, said, "application/x-protobuf")
            return
        self.answer(200, b"{}", slow=word == "slow")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if "TLS_CERT" in os.environ:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
    if "TLS_CA" in os.environ:
        context.load_verify_locations(os.environ["TLS_CA"])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
