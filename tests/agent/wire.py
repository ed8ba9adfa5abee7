# SPDX-License-Identifier: BSD-2-Clause
"""Protobuf's wire format, as far as profiles use it; nothing of weft's writer is used."""

import struct


class Broken(Exception):
    """What was sent breaks a rule."""


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data, with_fixed64=False):
    """(number, value) of each field; values are bytes or numbers. Only OpenTelemetry's
    messages have fields of fixed width."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise Broken("a field beyond the end")
            value, at = data[at : at + size], at + size
        elif kind == 0:
            value, at = varint(data, at)
        elif kind == 1 and with_fixed64:
            (value,), at = struct.unpack_from("<Q", data, at), at + 8
        else:
            raise Broken("wire type %d" % kind)
        yield key >> 3, value
