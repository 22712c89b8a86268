"""picture_files.py -- PNG files and terminal output as arrays of colours, for the tests of pictures."""

import re
import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks_of(data):
    at = len(SIGNATURE)
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert zlib.crc32(kind + body) == check, f"bad checksum of chunk {kind}"
        yield kind, body
        at += 12 + length


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def undo_filter(kind, row, above, step):
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        row[i] = (row[i] + [0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner)][kind]) % 256


def decode_png(data):
    """The pixels of a PNG with three bytes each: an array [rows, columns, 3]."""
    assert data.startswith(SIGNATURE)
    chunks = list(chunks_of(data))
    width, height, depth, kind, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, kind, rest) == (8, 2, [0, 0, 0]), "not an RGB picture"
    raw = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    above, rows = bytearray(3 * width), []
    for y in range(height):
        start = y * (3 * width + 1)
        row = bytearray(raw[start + 1 : start + 1 + 3 * width])
        undo_filter(raw[start], row, above, 3)
        rows.append(bytes(row))
        above = row
    return np.frombuffer(b"".join(rows), np.uint8).reshape(height, width, 3)


ESCAPE_OR_LETTER = re.compile(r"\x1b\[([0-9;]*)m|(.)")


def decode_blocks(lines):
    """The colours of lines of half blocks: [2 * lines, columns, 3]; -1 where a colour was not set."""
    rows = []
    for line in lines:
        upper, lower, letter, ground = [], [], [-1] * 3, [-1] * 3
        for code, character in ESCAPE_OR_LETTER.findall(line):
            numbers = [int(n) for n in code.split(";")] if code else []
            if numbers[:2] == [38, 2]:
                letter = numbers[2:]
            elif numbers[:2] == [48, 2]:
                ground = numbers[2:]
            elif character:
                assert character == "▀", f"not a half block: {character!r}"
                upper.append(letter)
                lower.append(ground)
        rows += [upper, lower]
    return np.array(rows)
