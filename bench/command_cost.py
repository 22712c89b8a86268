#!/usr/bin/env python3
"""command_cost.py -- what the arras command costs beyond its work.

  command_cost.py [--build build/release] [--cells 50000000] [--rounds 5] [--folder /tmp]

Files: arras run 'y = a*sin(b)+exp(-c)*d' on .npy files, against reading and writing files of the same
size by themselves, plus the kernel on arrays in memory.  Start-up: the same on ten cells, against a
program that does nothing.  Needs a build with ARRAS_BENCH, as make bench makes it.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import contenders
import workloads

EQUATION = "y = a*sin(b)+exp(-c)*d"
NAMES = "abcd"
PIECE = bytearray(8 << 20)
STARTS = 200


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def read_files(paths):
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(PIECE):
                pass


def map_files(paths):
    """The fastest way there is: every page is looked at where it lies, by all CPUs."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda path: np.memmap(path, np.uint8, "r")[::4096].max(), paths))


def write_file(path, size):
    with open(path, "wb", buffering=0) as file:
        for start in range(0, size, len(PIECE)):
            file.write(memoryview(PIECE)[: min(len(PIECE), size - start)])


def command_line(build, folder):
    inputs = [f"{name}={folder / name}.npy" for name in NAMES]
    return [build / "arras", "run", EQUATION, *inputs, "-o", f"y={folder / 'y.npy'}"]


def kernel_of(build, arrays, cells):
    """The kernel alone, on arrays in memory that were all touched before."""
    workload = next(w for w in workloads.WORKLOADS if w.name == "dear_chain")
    outputs = {"y": np.ones(cells)}
    return contenders.Arras(build, 0).take(workload, [cells], arrays, outputs)


def measure_files(build, folder, cells, rounds):
    rng = np.random.default_rng(1)
    arrays = {name: rng.random(cells) for name in NAMES}
    paths = [folder / f"{name}.npy" for name in NAMES]
    for path, array in zip(paths, arrays.values()):
        np.save(path, array)
    kernel = kernel_of(build, arrays, cells)
    parts = {
        "read": lambda: read_files(paths),
        "map": lambda: map_files(paths),
        "write": lambda: write_file(folder / "plain.npy", 8 * cells),
        "kernel": lambda: kernel.call(1),
        "command": lambda: subprocess.run(command_line(build, folder), check=True),
    }
    taken = {name: [] for name in parts}
    for _ in range(rounds + 1):  # the first one warms up
        for name, call in parts.items():
            for old in ("plain.npy", "y.npy"):
                (folder / old).unlink(missing_ok=True)
            taken[name].append(seconds(call))
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def measure_start(build, folder):
    for name in NAMES:
        np.save(folder / f"{name}.npy", np.ones(10))
    program = command_line(build, folder)
    subprocess.run(program, check=True)
    nothing = [seconds(lambda: subprocess.run(["true"], check=True)) for _ in range(STARTS)]
    start = [seconds(lambda: subprocess.run(program, check=True)) for _ in range(STARTS)]
    return statistics.median(nothing), statistics.median(start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--cells", type=int, default=50_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where files are made and removed")
    chosen = parser.parse_args()
    os.environ.setdefault("ARRAS_CACHE_DIR", str((chosen.build / "kernels").resolve()))
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        took = measure_files(chosen.build.resolve(), Path(folder), chosen.cells, chosen.rounds)
        nothing, start = measure_start(chosen.build.resolve(), Path(folder))
    bound = min(took["read"], took["map"]) + took["write"] + took["kernel"]
    print(f"files: {chosen.cells} cells of f64, 4 read, 1 written, median of {chosen.rounds}")
    for name in ("read", "map", "write", "kernel", "command"):
        print(f"   {name:8} {1e3 * took[name]:8.1f} ms")
    print(f"   command / (the faster of read and map + write + kernel) = {took['command'] / bound:.2f}")
    print(f"start-up: {1e3 * start:.1f} ms, of which a program that does nothing takes {1e3 * nothing:.1f} ms")


main()
