"""block_addressing.py --program PROGRAM -- the example stores the chunks that are not all zero, and finds them: those of
data/chunking_vectors.json, and of random arrays, counted by NumPy."""

import command_kit  # first: it sets up NumPy

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from tally import Tally

VECTORS = Path(__file__).parents[1] / "chunk/data" / "chunking_vectors.json"
PAPER = """6 of 9 chunks are stored: 24 bytes instead of 36
row of chunks   first   columns
            0       0   0 2
            1       2   0
            2       3   0 1 2
header: 56 bytes (rows 32, chunks 24)
hash table: 400 bytes
9 of 9 look-ups are right in both
"""
SAID = re.compile(r"""(?P<stored>\d+) of (?P<total>\d+) chunks are stored: (?P<bytes>\d+) bytes instead of \d+
(?P<rows>row of chunks +first +columns
(?:.*\n)+?)?header: (?P<header>\d+) bytes \(rows \d+, chunks \d+\)
hash table: (?P<hash>\d+) bytes
(?P<found>\d+) of (?P<sought>\d+) look-ups are right in both
""")


def run(program, cells, edges):
    """What the program says of an array: the groups of SAID."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cells.npy")
        np.save(path, cells)
        ran = subprocess.run([program, path, ",".join(map(str, edges))], capture_output=True, text=True, timeout=600)
    said = SAID.fullmatch(ran.stdout)
    if ran.returncode != 0 or not said:
        raise RuntimeError(f"status {ran.returncode}: {ran.stdout}{ran.stderr}")
    return said


def offsets_of(said):
    """The places of the chunks that are stored, in C order, as the rows that are printed have them."""
    columns = int(said["total"]) // (said["rows"].count("\n") - 1)
    rows = [line.split() for line in said["rows"].splitlines()[1:]]
    return [int(row[0]) * columns + int(column) for row in rows for column in row[2:]]


def stored_offsets(cells, edges):
    """The same, by NumPy."""
    grid = [-(-length // edge) for length, edge in zip(cells.shape, edges)]
    numbers = [index // edge for index, edge in zip(np.nonzero(cells), edges)]
    return sorted({int(offset) for offset in np.ravel_multi_index(numbers, grid)}), grid


def complaints_about(said, offsets, grid, chunk_bytes):
    want = {"stored": len(offsets), "total": np.prod(grid), "found": np.prod(grid), "sought": np.prod(grid),
            "bytes": len(offsets) * chunk_bytes, "header": 8 * (np.prod(grid[:-1]) + 1) + 4 * len(offsets)}
    wrong = [f"{what}: {said[what]}, not {number}" for what, number in want.items() if int(said[what]) != number]
    if said["rows"] and offsets_of(said) != offsets:
        wrong.append(f"stored are {offsets_of(said)}, not {offsets}")
    return wrong


def check_vectors(tally, program):
    for case in json.loads(VECTORS.read_text())["cases"]:
        if case["kind"] != "sparse":
            continue
        given, expect = case["input"], case["expect"]
        said = run(program, np.array(given["matrix"], "i2"), given["block"])
        tally.check(case["id"], complaints_about(said, expect["nonempty_rowmajor_offsets"], expect["grid"],
                                                 2 * np.prod(given["block"])))


def check_random(tally, program, rng):
    for number in range(20):
        shape = rng.integers(1, 30, rng.integers(1, 5))
        edges = np.minimum(rng.integers(1, 9, len(shape)), shape)
        cells = np.where(rng.random(shape) < rng.choice([0, 0.001, 0.01, 0.3]), rng.random(shape), 0)
        offsets, grid = stored_offsets(cells, edges)
        tally.check(f"array {number}: {shape} in {edges}",
                    complaints_about(run(program, cells, edges), offsets, grid, 8 * np.prod(edges)))


def check_smaller(tally, program, rng):
    """Long rows of chunks, one in twenty there: the header is a small part of the hash table."""
    cells = np.zeros((64, 64, 512), "u1")
    cells[tuple(rng.integers(0, length, 1600) for length in cells.shape)] = 1
    said = run(program, cells, [4, 4, 4])
    small = 4 * int(said["header"]) < int(said["hash"])
    tally.check("the header is smaller", [] if small else [f"{said['header']} bytes, {said['hash']}"])


def check_wrong(tally, program):
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "a.npy"), np.zeros((3, 4)))
        np.save(Path(folder, "none.npy"), np.zeros((3, 0)))
        for words, want in ((["a.npy", "2"], "expected an edge"), (["a.npy", "2,0"], "expected an edge"),
                            (["a.npy", "2,2,2"], "expected an edge"), (["none.npy", "1,1"], "one cell"),
                            (["there-is-none.npy", "1,1"], "there-is-none.npy"), (["a.npy"], "FILE EDGE")):
            ran = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=600)
            right = ran.returncode == 1 and want in ran.stderr and ran.stderr.count("\n") == 1
            tally.check(f"refused: {words}", [] if right else [f"status {ran.returncode}: {ran.stderr}"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = str(Path(parser.parse_args().program).resolve())
    rng = np.random.default_rng(7)
    tally = Tally()
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    tally.check("the paper's matrix", [] if said == PAPER else [said])
    check_vectors(tally, program)
    check_random(tally, program, rng)
    check_smaller(tally, program, rng)
    check_wrong(tally, program)
    tally.finish()


main()
