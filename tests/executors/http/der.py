"""Keys and parameters written by hand: of sizes that would take minutes to make."""

import base64


def sequence(*fields):
    return _field(0x30, b"".join(fields))


def integer(number):
    return _field(0x02, number.to_bytes(number.bit_length() // 8 + 1))


def octets(value):
    return _field(0x04, value)


def name(dotted):
    """An object identifier."""
    first, second, *rest = map(int, dotted.split("."))
    found = bytes([40 * first + second])
    for number in rest:
        septets = [number & 0x7F]
        while number := number >> 7:
            septets.insert(0, number & 0x7F | 0x80)
        found += bytes(septets)
    return _field(0x06, found)


def explicit(number, value):
    return _field(0xA0 + number, value)


def pem(label, der):
    body = base64.encodebytes(der).decode()
    return f"-----BEGIN {label}-----\n{body}-----END {label}-----\n"


def _field(tag, value):
    size = len(value)
    if size < 128:
        return bytes([tag, size]) + value
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + value
