#!/usr/bin/env python3
"""make_data.py -- the inputs of the four applications, as HDF5 files.

  make_data.py [--folder .] [--image 512,512] [--climate 768,1152] [--grid 64,32,32]
               [--particles 10000] [--ice 512,512] [--only cnn]

  cnn.h5       /x, an image; /k1 and /k2, the kernels of two layers
  cam5.h5      /tmq, vapour above each place of the world; /w, a kernel
  vpic.h5      /g, a field; /electron/x, y and z, where particles are, in cells
  bisicles.h5  /thickness of ice, in metres; compressed

All numbers are f32.  Arrays are made and written slab by slab, so they may be larger than memory.
"""

import argparse
from pathlib import Path

import h5py
import numpy as np

KERNELS = 8
SLAB = 1 << 24  # cells that are made at once
CHUNK = 512


def slabs(shape):
    """Ranges of rows, each of about SLAB cells."""
    cells = max(1, int(np.prod(shape[1:])))
    rows = max(1, SLAB // cells)
    return [(row, min(row + rows, shape[0])) for row in range(0, shape[0], rows)]


def write(file, name, shape, cells_of, **storage):
    """cells_of(rng, first, last) makes rows; the same ones whatever the size of memory."""
    data = file.create_dataset(name, shape, "f4", **storage)
    rng = np.random.default_rng(1)
    for first, last in slabs(shape):
        data[first:last] = cells_of(rng, first, last)


def waves(first, last, columns, length):
    """Crests that run across the rows, from -1 to 1."""
    i = np.arange(first, last, dtype="f4")[:, None]
    j = np.arange(columns, dtype="f4")[None]
    return np.sin(i / length + np.cos(j / (2 * length))) * np.cos(j / length)


def make_cnn(folder, shape):
    rng = np.random.default_rng(2)
    with h5py.File(folder / "cnn.h5", "w") as file:
        def rows(rng, first, last):
            noise = rng.random((last - first, shape[1]), dtype="f4")
            return waves(first, last, shape[1], 23) + np.float32(0.1) * noise

        write(file, "x", shape, rows)
        file["k1"] = rng.standard_normal((2, 2, KERNELS), dtype="f4")
        file["k2"] = rng.standard_normal((2, 2, KERNELS, KERNELS), dtype="f4") / KERNELS


def make_cam5(folder, shape):
    def rows(rng, first, last):
        storms = waves(first, last, shape[1], shape[1] / 40)
        tropics = np.cos(np.linspace(-1.5, 1.5, shape[0], dtype="f4"))[first:last, None]
        noise = rng.standard_normal((last - first, shape[1]), dtype="f4")
        return tropics * (30 + 15 * storms + noise)

    with h5py.File(folder / "cam5.h5", "w") as file:
        write(file, "tmq", shape, rows)
        file["w"] = np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]], "f4") / 8


def make_vpic(folder, shape, particles):
    def planes(rng, first, last):
        layer = waves(0, shape[1], shape[2], shape[2] / 9)
        height = np.tanh((np.arange(first, last, dtype="f4") - shape[0] / 2) / 8)
        noise = rng.standard_normal((last - first, *shape[1:]), dtype="f4")
        return height[:, None, None] + layer + np.float32(0.05) * noise

    with h5py.File(folder / "vpic.h5", "w") as file:
        write(file, "g", shape, planes)
        for name, length in zip("xyz", shape):
            def places(rng, first, last):
                return rng.random(last - first, dtype="f4") * np.float32(length - 1)

            write(file, f"electron/{name}", (particles,), places)


def make_bisicles(folder, shape):
    def rows(rng, first, last):
        sheets = 1500 * waves(first, last, shape[1], shape[1] / 20) - 400
        ragged = 400 * waves(first, last, shape[1], 11) * waves(first, last, shape[1], 7)
        specks = rng.random((last - first, shape[1]), dtype="f4")
        ice = np.where(specks < 0.002, 30, np.where(specks > 0.998, 0, sheets + ragged))
        return np.maximum(ice, 0)

    chunk = tuple(min(CHUNK, length) for length in shape)
    with h5py.File(folder / "bisicles.h5", "w") as file:
        write(file, "thickness", shape, rows, chunks=chunk, compression="gzip", shuffle=True)


def shape_of(rank):
    def parse(text):
        shape = tuple(int(length) for length in text.split(","))
        if len(shape) != rank or min(shape) < 2:
            raise argparse.ArgumentTypeError(f"{text}: expected {rank} lengths of 2 or more")
        return shape

    return parse


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("."))
    parser.add_argument("--image", type=shape_of(2), default=(512, 512))
    parser.add_argument("--climate", type=shape_of(2), default=(768, 1152))
    parser.add_argument("--grid", type=shape_of(3), default=(64, 32, 32))
    parser.add_argument("--particles", type=int, default=10_000)
    parser.add_argument("--ice", type=shape_of(2), default=(512, 512))
    parser.add_argument("--only", choices=["cnn", "cam5", "vpic", "bisicles"])
    chosen = parser.parse_args()
    makers = {
        "cnn": lambda: make_cnn(chosen.folder, chosen.image),
        "cam5": lambda: make_cam5(chosen.folder, chosen.climate),
        "vpic": lambda: make_vpic(chosen.folder, chosen.grid, chosen.particles),
        "bisicles": lambda: make_bisicles(chosen.folder, chosen.ice),
    }
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for name, make in makers.items():
        if chosen.only in (None, name):
            make()


if __name__ == "__main__":
    main()
