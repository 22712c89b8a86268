"""small.py -- what compiling and launching cost: latencies, graphs of many small operations, memory.

Each part prints a table and gives its numbers, for JSON, and the bounds that they must keep."""

import statistics
import subprocess
import tempfile
import time

import numpy as np
from ctypes import c_int64, c_void_p
from report import Bound, number, show_table

TIMES = 200  # launches in a measurement


def median_us(call, rounds, times):
    """Median microseconds of a call that launches `times` times."""
    call(times)
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        call(times)
        found.append((time.perf_counter() - start) / times * 1e6)
    return statistics.median(found)


# ---- Compiling: programs of their own, since what is in memory must not help ----------------------


def compile_times(build, cache, recording, length, programs):
    command = [build / "bench_compile", cache, recording, str(length), str(programs)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [[float(word) for word in line.split()] for line in said.splitlines()]


def medians(rows, column):
    return statistics.median(row[column] for row in rows)


def compile_latency(arras, build, rounds, quick):
    with tempfile.TemporaryDirectory() as cache:
        cold = compile_times(build, cache, "chain10", 1000, rounds)
        warm = compile_times(build, cache, "chain10", 1000, rounds)
    with tempfile.TemporaryDirectory() as cache:
        doubled = compile_times(build, cache, "doubled", 1000, 50 if quick else 500)
    if not all(row[1] for row in warm) or not all(row[3] for row in cold + warm):
        print("   the cache was not used: these numbers are not what they say")
    found = {
        "10 operations, cold, ms": medians(cold, 0) / 1e3,
        "10 operations, from disk, ms": medians(warm, 0) / 1e3,
        "10 operations, in memory, us": medians(cold + warm, 2),
        "500 arrays doubled, cold, s": medians(doubled, 0) / 1e6,
    }
    limits = zip(found.items(), [40, 1, 20, 1])
    return found, [Bound(f"compile of {what}", value, limit) for (what, value), limit in limits]


def jax_doubled(quick):
    """The same 500 arrays in JAX, in seconds; None where it is not there."""
    try:
        import jax
    except ImportError:
        return None
    xs = [np.ones(1000) for _ in range(50 if quick else 500)]
    start = time.perf_counter()
    jax.jit(lambda *arrays: [2 * array for array in arrays]).lower(*xs).compile()
    return time.perf_counter() - start


# ---- Launching: graphs of `height` layers of `width` operations on n cells ------------------------


def layer_arrays(width, n):
    rng = np.random.default_rng(1)
    arrays = {f"x{k}": rng.random(n) for k in range(width)}
    return arrays | {f"y{k}": np.zeros(n) for k in range(width)}


def open_layers(arras, width, height, n, no_fusion):
    program, arrays = arras.open("layers", (width, height, n), no_fusion), layer_arrays(width, n)
    arras.bind(program, arrays)
    arras.launch(program, 2)
    return program, arrays


def time_layers(arras, width, height, n, rounds, no_fusion):
    program, arrays = open_layers(arras, width, height, n, no_fusion)
    us = median_us(lambda times: arras.launch(program, times), rounds, TIMES)
    counters = arras.counters(program)
    arras.close(program)
    return us, counters, np.stack([arrays[f"y{k}"] for k in range(width)])


def time_one_by_one(arras, width, height, n, rounds):
    cells = np.zeros((height + 1, width, n))
    cells[0] = np.stack([layer_arrays(width, n)[f"x{k}"] for k in range(width)])
    program = arras.open("one_operation", (n,))
    arguments = [c_void_p(cells.ctypes.data), *map(c_int64, (width, height, n))]

    def call(times):
        for _ in range(times):
            arras.check(arras.library.bench_launch_layers(program, *arguments))

    us = median_us(call, rounds, max(1, TIMES // (width * height)))
    arras.close(program)
    return us, cells[-1]


def sweep(arras, build, rounds, quick):
    """A graph of one kernel for each operation, against the same kernels one after the other."""
    lengths, shapes = [1000, 100_000], [(1, 16), (4, 16), (16, 4), (16, 16), (64, 4), (64, 64)]
    if quick:
        lengths, shapes = [100], [(1, 4), (4, 4)]
    rows, found = [], {}
    for n in lengths:
        for width, height in shapes:
            graph, _, last = time_layers(arras, width, height, n, rounds, True)
            fused, _, _ = time_layers(arras, width, height, n, rounds, False)
            single, wanted = time_one_by_one(arras, width, height, n, rounds)
            if not np.array_equal(last, wanted):
                raise RuntimeError(f"layers {width}x{height}: the graph's results differ")
            found[f"{width}x{height} of {n}"] = {"graph": graph, "single": single, "fused": fused}
            rows.append([f"{width} x {height} of {n}", number(graph), number(single)]
                        + [number(single / graph), number(fused)])
    head = ["width x height of cells", "graph us", "one by one us", "ratio", "fused graph us"]
    print("\nGraphs of small operations: a launch of the whole, and of one operation at a time")
    show_table(head, rows)
    return found, []


def tiny_graph(arras, build, rounds, quick):
    """50 operations on 16 cells each; relaunched, it allocates and updates nothing."""
    us, counters, _ = time_layers(arras, 10, 5, 16, rounds, False)
    apart, _, _ = time_layers(arras, 10, 5, 16, rounds, True)
    found = {"us": us, "us without fusion": apart, **counters}
    bounds = [Bound("launch of 50 tiny operations", us, 10, "us")]
    for what in ("allocations", "updates"):
        bounds.append(Bound(f"identical relaunch: {what}", counters[what], 0))
    return found, bounds


# ---- Memory ---------------------------------------------------------------------------------------


def memory(arras, build, rounds, quick):
    """Planned memory for temporaries, against the most that is alive at once."""
    n = 1000 if quick else 100_000
    rows, found, bounds = [], {}, []
    for width, height in [(1, 16), (8, 8), (16, 16), (64, 4)]:
        program, _ = open_layers(arras, width, height, n, True)
        c = arras.counters(program)
        arras.close(program)
        title = f"{width} x {height} of {n}, no fusion"
        found[title] = {name: c[name] for name in ("temporaries", "planned", "live")}
        times = c["planned"] / c["live"] if c["live"] else 1
        rows.append([title, *(f"{c[name] / 1e6:.2f}" for name in ("temporaries", "live", "planned"))])
        rows[-1].append(number(times))
        bounds.append(Bound(f"planned / live, {title}", times, 1.1))
    print("\nMemory for temporaries, MB")
    show_table(["graph", "sum", "live", "planned", "planned / live"], rows)
    return found, bounds


PARTS = {"compile": compile_latency, "tiny": tiny_graph, "sweep": sweep, "memory": memory}


def run(name, arras, build, rounds, quick):
    found, bounds = PARTS[name](arras, build, rounds, quick)
    if name == "compile":
        found["500 arrays doubled in JAX, s"] = jax_doubled(quick)
    if name in ("compile", "tiny"):
        print(f"\n{'Compiling' if name == 'compile' else 'A graph of 50 tiny operations'}")
        show_table(["", ""], [[what, number(value)] for what, value in found.items()])
    return found, bounds
