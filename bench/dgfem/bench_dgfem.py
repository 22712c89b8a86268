"""bench_dgfem.py -- one right-hand side of examples/dgfem: Arras, its graph without fusion, its
operations one by one, NumPy and hand-written C, interleaved in one run, for the sizes of the thesis read as cells
(A) and as tetrahedra (B).

Before a size is timed all results are compared.  Ratios beside the thesis's, then the bounds."""

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import environment

TREE = HERE.parent.parent
NODES, FACE_NODES = {1: 4, 2: 10, 3: 20, 4: 35}, {1: 3, 2: 6, 3: 10, 4: 15}
# By degree.
FAMILIES = {
    "A": {1: (30, 30, 30), 2: (25, 25, 25), 3: (15, 15, 15), 4: (10, 10, 10)},
    "B": {1: (15, 15, 20), 2: (13, 14, 14), 3: (7, 8, 10), 4: (4, 6, 7)},
    "quick": {1: (3, 2, 4), 2: (2, 3, 2), 3: (2, 2, 2), 4: (2, 1, 2)},
}
WAYS = ["Arras", "unfused graph", "one by one", "C"]  # as dgfem_face.c numbers them
THESIS = {"wave": "3-6", "euler": "1.5-3"}  # times as fast as one kernel after the other
FIELDS = {"wave": 4, "euler": 5}
TIMES_ONE_BY_ONE = {"wave": 6, "euler": 3}
TIMES_NUMPY = {1: 40, 4: 12}
SLOWEST_AGAINST_C = 1.5
COLD_MS, CACHED_MS, LAUNCH_US = 1000, 5, 30
TOLERANCE = 1e-11
COUNTERS = ["nodes", "kernels", "tasks", "bytes_stored", "bytes_moved", "bytes_compulsory", "bytes_temporary",
            "bytes_live", "launches"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=TREE / "build/release", help="with the libraries")
    parser.add_argument("--equations", choices=["wave", "euler"], help="only these")
    parser.add_argument("--degree", type=int, help="only this one")
    parser.add_argument("--family", choices=list(FAMILIES), action="append", help="A and B unless given")
    parser.add_argument("--rounds", type=int, default=7, help="of which medians are taken")
    parser.add_argument("--threads", type=int, default=2, help="of each but NumPy's own arithmetic")
    parser.add_argument("--json", type=Path, help="writes all numbers to this file")
    parser.add_argument("--no-install", action="store_true", help="this Python with what it has")
    return parser.parse_args()


def load(build):
    library = ctypes.CDLL(str(build / "libbench_dgfem.so"))
    pointer, big = ctypes.c_void_p, ctypes.c_int64
    library.dgfem_message.restype = ctypes.c_char_p
    library.dgfem_open.restype = pointer
    library.dgfem_open.argtypes = [ctypes.c_bool, ctypes.c_int, ctypes.POINTER(big), ctypes.c_int]
    library.dgfem_close.argtypes = [pointer]
    library.dgfem_run.restype = ctypes.c_bool
    library.dgfem_run.argtypes = [pointer, ctypes.c_int, big]
    library.dgfem_counters.argtypes = [ctypes.POINTER(big), pointer]
    library.dgfem_arrays.argtypes = [ctypes.POINTER(pointer), pointer]
    for name in ("dgfem_field", "dgfem_rate"):
        getattr(library, name).restype = pointer
        getattr(library, name).argtypes = [pointer, ctypes.c_int]
    return library


class Problem:
    """A size of one of the equations, with all who compute its right-hand side."""

    def __init__(self, library, equations, degree, cells, threads):
        self.library, self.equations, self.degree, self.cells = library, equations, degree, cells
        self.elements = 6 * cells[0] * cells[1] * cells[2]
        self.race = library.dgfem_open(equations == "euler", degree, (ctypes.c_int64 * 3)(*cells), threads)
        if not self.race:
            raise RuntimeError(library.dgfem_message().decode())
        fields = range(FIELDS[equations])
        shape = (self.elements, NODES[degree])
        self.fields = [self.array(library.dgfem_field(self.race, i), shape) for i in fields]
        self.rates = [self.array(library.dgfem_rate(self.race, i), shape) for i in fields]
        self.space = self.make_space()
        self.of_numpy = None

    def array(self, address, shape, ctype=ctypes.c_double):
        import numpy as np

        return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctype)), shape)

    def make_space(self):
        import dgfem_numpy
        import numpy as np

        e, np_, nfp = self.elements, NODES[self.degree], FACE_NODES[self.degree]
        index, flag, real = ctypes.c_int32, ctypes.c_uint8, ctypes.c_double
        shapes = [((3, 3, e), real), ((e,), real), ((4, e), real), ((3, 4, e), real), ((4, e), index),
                  ((4, e, nfp), index), ((4, e), flag), ((3, np_, np_), real), ((np_, np_), real),
                  ((np_, 4, nfp), real), ((4, nfp), index)]
        addresses = (ctypes.c_void_p * len(shapes))()
        self.library.dgfem_arrays(addresses, self.race)
        arrays = [self.array(address, *shape) for address, shape in zip(addresses, shapes)]
        arrays[6] = arrays[6].astype(np.bool_)
        return dgfem_numpy.Space(*arrays)

    def run(self, way, times):
        if not self.library.dgfem_run(self.race, WAYS.index(way), times):
            raise RuntimeError(self.library.dgfem_message().decode())

    def run_numpy(self, times):
        import dgfem_numpy

        for _ in range(times):
            self.of_numpy = getattr(dgfem_numpy, self.equations)(self.space, *self.fields)

    def calls(self):
        ways = {way: (lambda times, way=way: self.run(way, times)) for way in WAYS}
        return {**ways, "NumPy": self.run_numpy}

    def differences(self):
        """How far the others are from NumPy, relative to the largest rate."""
        from timing import difference

        self.run_numpy(1)
        found = {}
        for way in WAYS:
            for rate in self.rates:
                rate.fill(0)
            self.run(way, 1)
            found[way] = difference(self.rates, self.of_numpy)
        return found

    def counters(self):
        numbers = (ctypes.c_int64 * len(COUNTERS))()
        self.library.dgfem_counters(numbers, self.race)
        return dict(zip(COUNTERS, numbers))

    def close(self):
        self.library.dgfem_close(self.race)


def run_size(library, arguments, family, equations, degree, failures):
    from timing import in_turn

    cells = FAMILIES[family][degree]
    problem = Problem(library, equations, degree, cells, arguments.threads)
    title = f"{equations} P{degree} {'x'.join(map(str, cells))}"
    for way, away in problem.differences().items():
        if not away <= TOLERANCE:
            failures.append(f"{title}: {way} differs from NumPy by {away:.2g}")
    row = {"family": family, "equations": equations, "degree": degree, "cells": cells,
           "elements": problem.elements, "seconds": in_turn(problem.calls(), arguments.rounds),
           **problem.counters()}
    problem.close()
    return row


def ratio(row, way, base="Arras"):
    return row["seconds"][way] / row["seconds"][base]


def row_cells(row):
    from report import number

    moved = row["bytes_moved"] / row["seconds"]["Arras"] / 1e9
    return [f"{row['equations']} P{row['degree']} {row['family']}", str(row["elements"]),
            number(1e3 * row["seconds"]["Arras"]), number(ratio(row, "one by one")), THESIS[row["equations"]],
            number(ratio(row, "unfused graph")), number(ratio(row, "NumPy")), number(1 / ratio(row, "C")),
            str(row["launches"]), str(row["kernels"]), str(row["tasks"]),
            number(row["bytes_moved"] / row["bytes_compulsory"]), number(moved)]


def show(rows):
    from report import show_table

    show_table(["one right-hand side", "elements", "Arras ms", "one by one/Arras", "thesis", "unfused graph/Arras",
                "NumPy/Arras", "Arras/C", "launches one by one", "kernels", "tasks", "bytes/least", "GB/s"],
               [row_cells(row) for row in rows])


def bounds_of(row):
    from report import Bound

    title, equations = f"{row['equations']} P{row['degree']} {row['family']}", row["equations"]
    limit = TIMES_ONE_BY_ONE[equations]
    bounds = [Bound(f"{title}: one by one / Arras", ratio(row, "one by one"), limit, at_least=True)]
    if row["degree"] in TIMES_NUMPY:
        limit = TIMES_NUMPY[row["degree"]]
        bounds.append(Bound(f"{title}: NumPy / Arras", ratio(row, "NumPy"), limit, at_least=True))
    if row["family"] == "B":
        bounds.append(Bound(f"{title}: Arras / C", 1 / ratio(row, "C"), SLOWEST_AGAINST_C))
    return bounds


def compile_bounds(build):
    """The step of the Euler equations, in processes with a new cache: the first compiles it, the
    median of the others is what it takes to find it."""
    from statistics import median

    from report import Bound

    bounds = []
    for degree in NODES:
        with tempfile.TemporaryDirectory() as cache:
            words = [build / "dgfem", "euler", "--case", "E2", "--degree", str(degree), "--cells", "2",
                     "--steps", "1", "--json"]
            said = [
                subprocess.run(words, check=True, capture_output=True, text=True,
                               env={"PATH": "/usr/local/bin:/usr/bin:/bin", "ARRAS_CACHE_DIR": cache}).stdout
                for _ in range(4)
            ]
        cold, *found = (json.loads(text)["compile_ms"] for text in said)
        bounds.append(Bound(f"compile the Euler step P{degree}, cold", cold, COLD_MS, "ms"))
        bounds.append(Bound(f"compile the Euler step P{degree}, from disk", median(found), CACHED_MS, "ms"))
    return bounds


def launch_bounds(library, threads, rounds):
    """Six tetrahedra: all that is left is the launch."""
    from report import Bound
    from timing import in_turn

    bounds = []
    for equations in FIELDS:
        problem = Problem(library, equations, 1, (1, 1, 1), threads)
        seconds = in_turn({"Arras": lambda times: problem.run("Arras", times)}, rounds)["Arras"]
        bounds.append(Bound(f"launch {equations} on 6 tetrahedra", 1e6 * seconds, LAUNCH_US, "us"))
        problem.close()
    return bounds


def main():
    arguments = parse_arguments()
    environment.threads_in_environment(arguments.threads)
    if not arguments.no_install and not environment.is_active():
        environment.enter(["numpy"])
    from report import show_bounds

    library = load(arguments.build)
    rows, failures = [], []
    for family in arguments.family or ["A", "B"]:
        for equations in [arguments.equations] if arguments.equations else FIELDS:
            for degree in [arguments.degree] if arguments.degree else NODES:
                print(f"== {equations} P{degree} {family}", flush=True)
                rows.append(run_size(library, arguments, family, equations, degree, failures))
    print()
    show(rows)
    bounds = [bound for row in rows for bound in bounds_of(row)]
    if "quick" not in (arguments.family or []):
        bounds += launch_bounds(library, arguments.threads, arguments.rounds) + compile_bounds(arguments.build)
        show_bounds(bounds)
    if arguments.json:
        found = [{"what": b.what, "value": b.value, "limit": b.limit, "holds": b.holds} for b in bounds]
        arguments.json.write_text(json.dumps({"rows": rows, "bounds": found}, indent=1) + "\n")
    for failure in failures:
        print(f"failed: {failure}")
    print(f"\n{len(WAYS) * len(rows) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
