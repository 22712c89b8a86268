"""components_by_sweeps.py --program PROGRAM -- the example finds the components that scipy.ndimage.label finds, in
memory and with little of it, and in as few steps on fields of ice as the paper says."""

import command_kit  # first: it sets up NumPy

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import ndimage
from tally import Tally

FULL = 2_000_000_000  # bytes of memory: more than any field here needs


def run(program, mask, neighbours, memory, threads):
    """Labels, and the number of steps."""
    with tempfile.TemporaryDirectory() as folder:
        source, sink = Path(folder, "mask.npy"), Path(folder, "labels.npy")
        np.save(source, mask)
        said = subprocess.run(
            [program, source, sink, str(neighbours), str(memory), str(threads)],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        return np.load(sink), int(re.search(r"(\d+) steps", said)[1])


def complaints_about(mask, labels, neighbours):
    structure = ndimage.generate_binary_structure(2, 1 if neighbours == 4 else 2)
    expected, count = ndimage.label(mask, structure)
    first = np.zeros(count + 1, "i4")  # of each component, its first cell, from 1
    numbers, places = np.unique(expected, return_index=True)
    first[numbers[numbers > 0]] = places[numbers > 0] + 1
    wrong = np.argwhere(labels != first[expected])
    return [f"cell {tuple(at)}: {labels[tuple(at)]}" for at in wrong[:5]]


def ice(rng, side):
    """Sheets with ragged margins, islands, specks."""
    y, x = np.ogrid[:side, :side]
    field = np.full((side, side), -0.4)
    for _ in range(4):
        cy, cx, radius = rng.uniform(0.2, 0.8) * side, rng.uniform(0.2, 0.8) * side, rng.uniform(0.1, 0.2) * side
        field = np.maximum(field, 1 - ((y - cy) ** 2 + (x - cx) ** 2) / radius**2)
    for cells, height in ((side // 8, 0.3), (side // 32, 0.1)):
        field += height * ndimage.zoom(rng.standard_normal((side // cells + 2,) * 2), cells, order=1)[:side, :side]
    specks = rng.random((side, side))
    return ((field > 0) & (specks > 0.002) | (specks > 0.999)).astype("u1")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    rng = np.random.default_rng(3)
    tally = Tally()
    for number in range(12):
        rows, columns = rng.integers(1, 200, 2)
        mask = (rng.random((rows, columns)) < rng.choice([0.3, 0.5, 0.62, 0.9])).astype("u1")
        neighbours = int(rng.choice([4, 8]))
        # The state and the mask need 5 bytes a cell; three rows, and a few more, are enough.
        memory = int(rng.choice([FULL, 5 * columns * 9]))
        labels, _ = run(program, mask, neighbours, memory, 1 + number % 3)
        tally.check(f"field {number} of {rows} x {columns}, {neighbours} neighbours, {memory} bytes",
                    complaints_about(mask, labels, neighbours))
    mask = ice(rng, 768)
    labels, steps = run(program, mask, 8, FULL, 2)
    tally.check("ice", complaints_about(mask, labels, 8))
    tally.check("ice in few steps", [] if steps <= 8 else [f"{steps} steps, the paper has 8"])
    tally.finish()


main()
