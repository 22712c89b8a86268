"""small.py -- what compiling and launching cost: latencies, graphs of many small operations, memory.

Each part prints a table and gives its numbers, for JSON, and the bounds that they must keep."""

import ctypes
import statistics
import subprocess
import tempfile
import time
from ctypes import c_int64, c_void_p

import numpy as np
from report import Bound, number, show_table
from timing import aligned, in_turn

# ---- Compiling: programs of their own, since what is in memory must not help ----------------------


def compile_times(build, cache, recording, programs):
    command = [build / "bench_compile", cache, recording, "1000", str(programs)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [[float(word) for word in line.split()] for line in said.splitlines()]


def median_of(rows, column):
    return statistics.median(row[column] for row in rows)


def jax_doubled(count):
    """Seconds in which JAX compiles the same; None where it is not there."""
    try:
        import jax
    except ImportError:
        return None
    xs = [np.ones(1000) for _ in range(count)]
    start = time.perf_counter()
    jax.jit(lambda *arrays: [2 * array for array in arrays]).lower(*xs).compile()
    return time.perf_counter() - start


def compile_latency(arras, build, rounds, quick):
    count = 50 if quick else 500
    with tempfile.TemporaryDirectory() as cache:
        cold = compile_times(build, cache, "chain10", rounds)
        warm = compile_times(build, cache, "chain10", rounds)
    with tempfile.TemporaryDirectory() as cache:
        doubled = compile_times(build, cache, "doubled", count)
    if any(row[1] for row in cold) or not all(row[1] for row in warm):
        print("   kernels did not come from where they should: the times are not what they say")
    bounds = [
        Bound("compile 10 operations, cold", median_of(cold, 0) / 1e3, 40, "ms"),
        Bound("compile 10 operations, from disk", median_of(warm, 0) / 1e3, 1, "ms"),
        Bound("compile 10 operations, in memory", median_of(cold + warm, 2), 20, "us"),
        Bound(f"compile {count} arrays doubled", median_of(doubled, 0) / 1e6, 1, "s"),
    ]
    rows = [[bound.what, f"{number(bound.value)} {bound.unit}"] for bound in bounds]
    found = {bound.what: bound.value for bound in bounds} | {"doubled in JAX": jax_doubled(count)}
    rows.append(["the same doubled arrays in JAX", f"{number(found['doubled in JAX'])} s"])
    print("\nCompiling")
    show_table(["what", "time"], rows)
    return found, bounds


# ---- Launching: graphs of `height` layers of `width` operations on n cells ------------------------


class Layers:
    """One such graph, compiled with and without fusion, and its operations one by one."""

    def __init__(self, arras, width, height, n):
        rng = np.random.default_rng(1)
        self.arras, self.cells = arras, np.zeros((height + 1, width, n))
        self.cells[0] = rng.random((width, n))
        self.results = np.zeros((width, n))
        arrays = {f"x{k}": self.cells[0, k] for k in range(width)}
        arrays |= {f"y{k}": self.results[k] for k in range(width)}
        self.programs = {
            "graph": arras.open("layers", (width, height, n), no_fusion=True),
            "fused": arras.open("layers", (width, height, n)),
        }
        for program in self.programs.values():
            arras.bind(program, arrays)
        self.operation = arras.open("one_operation", (n,))
        self.arguments = [c_void_p(self.cells.ctypes.data), *map(c_int64, (width, height, n))]

    def one_by_one(self, times):
        for _ in range(times):
            self.arras.check(
                self.arras.library.bench_launch_layers(self.operation, *self.arguments)
            )

    def launch(self, name):
        return lambda times: self.arras.launch(self.programs[name], times)

    def check(self):
        """All three give the same bits."""
        self.one_by_one(1)
        for name in self.programs:
            self.results.fill(0)
            self.launch(name)(1)
            if not np.array_equal(self.results, self.cells[-1]):
                raise RuntimeError(f"layers {self.cells.shape}, {name}: results differ")

    def microseconds(self, rounds):
        calls = {name: self.launch(name) for name in self.programs}
        calls["one by one"] = self.one_by_one
        return {name: seconds * 1e6 for name, seconds in in_turn(calls, rounds).items()}

    def counters(self, name):
        self.launch(name)(2)
        return self.arras.counters(self.programs[name])

    def close(self):
        for program in [*self.programs.values(), self.operation]:
            self.arras.close(program)


def sweep(arras, build, rounds, quick):
    """A graph of one kernel for each operation, against the same kernels one after the other."""
    sizes = [(w, h, 1000) for w, h in [(1, 16), (4, 16), (16, 4), (16, 16), (64, 4), (64, 64)]]
    sizes += [(w, h, 100_000) for w, h in [(1, 16), (4, 16), (16, 4), (16, 16)]]
    if quick:
        sizes = [(1, 4, 100), (4, 4, 100)]
    rows, found = [], {}
    for size in sizes:
        layers = Layers(arras, *size)
        layers.check()
        us = found["{} x {} of {}".format(*size)] = layers.microseconds(rounds)
        layers.close()
        rows.append(["{} x {} of {}".format(*size), number(us["graph"]), number(us["one by one"])])
        rows[-1] += [number(us["one by one"] / us["graph"]), number(us["fused"])]
    head = ["width x height of cells", "graph us", "one by one us", "one by one/graph", "fused us"]
    print("\nGraphs of small operations: launched as a whole, and one operation at a time")
    show_table(head, rows)
    return found, []


def tiny_graph(arras, build, rounds, quick):
    """50 operations on 16 cells each; launched again, it allocates and updates nothing."""
    layers = Layers(arras, 10, 5, 16)
    layers.check()
    us, counters = layers.microseconds(rounds), layers.counters("fused")
    layers.close()
    print("\n50 operations on 16 cells each")
    rows = [[f"launch, {name}", f"{number(value)} us"] for name, value in us.items()]
    show_table(["what", "value"], rows + [[name, str(value)] for name, value in counters.items()])
    bounds = []
    for name in ("graph", "fused"):
        bounds.append(Bound(f"launch of 50 tiny operations, {name}", us[name], 10, "us"))
    for what in ("allocations", "updates"):
        bounds.append(Bound(f"identical relaunch: {what}", counters[what], 0))
    return us | counters, bounds


# ---- Memory ---------------------------------------------------------------------------------------


def memory(arras, build, rounds, quick):
    """Planned memory for temporaries, against the most that is alive at once."""
    n = 1000 if quick else 100_000
    rows, found, bounds = [], {}, []
    for width, height in [(1, 16), (8, 8), (16, 16), (64, 4)]:
        layers = Layers(arras, width, height, n)
        for name in layers.programs:
            c = layers.counters(name)
            title = f"{width} x {height} of {n}, {name}"
            found[title] = {what: c[what] for what in ("temporaries", "live", "planned")}
            if c["live"]:
                bounds.append(Bound(f"planned / live, {title}", c["planned"] / c["live"], 1.1))
                megabytes = [f"{value / 1e6:.2f}" for value in found[title].values()]
                rows.append([title, *megabytes, number(bounds[-1].value)])
        layers.close()
    print("\nMemory for temporaries, MB")
    show_table(["graph", "sum", "live", "planned", "planned/live"], rows)
    return found, bounds


# ---- What memory gives ------------------------------------------------------------------------------


def memory_speed(arras, build, rounds, quick):
    """The cheap chain in C with one thread and with all: where both are as fast, one thread of NumPy
    has all there is, and nobody is faster than its passes over memory are more."""
    library = ctypes.CDLL(str(build / "libbench_c.so"))
    n = 100_003 if quick else 50_000_000
    arrays = [aligned((n,), np.dtype("f8")) for _ in range(4)]
    for array in arrays:
        array[:] = np.arange(n)  # some processors are faster with zeros
    arguments = [c_void_p(array.ctypes.data) for array in arrays] + [c_int64(n)]

    def call(threads):
        def run(times):
            library.omp_set_num_threads(threads)
            for _ in range(times):
                library.hand_cheap_chain(*arguments)

        return run

    names = {f"{k} thread{'s' * (k > 1)}": k for k in sorted({1, arras.threads})}
    seconds = in_turn({name: call(threads) for name, threads in names.items()}, rounds)
    found = {name: 32 * n / time / 1e9 for name, time in seconds.items()}
    print("\nMemory, by 2a+3b-c in C")
    show_table(["with", "speed"], [[name, f"{speed:.1f} GB/s"] for name, speed in found.items()])
    return found, []


PARTS = {
    "compile": compile_latency,
    "tiny": tiny_graph,
    "sweep": sweep,
    "memory": memory,
    "speed": memory_speed,
}
