"""contenders.py -- who takes part: Arras, the hand-written C, and each peer that can be imported.

A contender takes a workload with its arrays and gives a Run: call(times) does the task so often,
results() are NumPy arrays.  All of them read the same inputs and, where they can, write the same
results, all of which were touched before."""

import ctypes
import importlib
import os
import subprocess
import sys
from ctypes import c_char_p, c_int, c_int64, c_void_p
from pathlib import Path

import numpy as np

PEERS = ["numpy", "numexpr", "numba", "torch", "torch_compile", "jax"]
DTYPES = {"f4": "f32", "f8": "f64", "i8": "i64"}


class Run:
    def __init__(self, call, results, close=lambda: None):
        self.call, self.results, self.close = call, results, close


def longs(numbers):
    return (c_int64 * max(1, len(numbers)))(*numbers)


def addresses(arrays):
    return [c_void_p(array.ctypes.data) for array in arrays]


# What OpenBLAS takes a processor for that is newer than itself, and what it should be told then.
UNKNOWN_CORE, CORES = "Prescott", {"avx512vl": "SKYLAKEX", "avx2": "HASWELL"}


def core_for_openblas(path):
    """The kernels that its author would have told OpenBLAS to use; None: it finds out by itself."""
    ask = "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).openblas_get_corename; "
    ask += "f.restype = ctypes.c_char_p; print(f().decode())"
    said = subprocess.run([sys.executable, "-c", ask, path], capture_output=True, text=True)
    flags = Path("/proc/cpuinfo").read_text().split()
    if "OPENBLAS_CORETYPE" in os.environ or said.stdout.strip() != UNKNOWN_CORE:
        return None
    return next((core for flag, core in CORES.items() if flag in flags), None)


class Hand:
    name, version = "C", ""

    def __init__(self, build):
        """OpenBLAS looks at the environment while it is loaded; NumPy, which has its own, was before."""
        path = str(build / "libbench_c.so")
        core = core_for_openblas(path)
        if core:
            os.environ["OPENBLAS_CORETYPE"] = core
        self.library = ctypes.CDLL(path)
        if core:
            del os.environ["OPENBLAS_CORETYPE"]

    def take(self, workload, size, inputs, outputs):
        function = getattr(self.library, f"hand_{workload.name}")
        function.restype = None
        arguments = addresses([*outputs.values(), *inputs.values()]) + [c_int64(n) for n in size]

        def call(times):
            if workload.repeats_in_c:
                function(*arguments, c_int64(times))
                return
            for _ in range(times):
                function(*arguments)

        return Run(call, lambda: list(outputs.values()))


class Arras:
    version = ""

    def __init__(self, build, threads, name="Arras"):
        self.name = name
        self.library = library = ctypes.CDLL(str(build / "libbench_arras.so"))
        self.threads = threads
        library.bench_open.restype = c_void_p
        for name in ("bench_message", "bench_warning"):
            getattr(library, name).restype = c_char_p
        for name in ("bench_bind", "bench_launch", "bench_launch_layers"):
            getattr(library, name).restype = ctypes.c_bool

    def check(self, answer):
        if not answer:
            raise RuntimeError(f"Arras: {self.library.bench_message().decode()}")
        return answer

    def open(self, recording, size, no_fusion=False):
        program = self.library.bench_open(
            recording.encode(), longs(size), c_int(self.threads), ctypes.c_bool(no_fusion), None
        )
        program = c_void_p(self.check(program))
        warning = self.library.bench_warning(program)
        if warning:
            print(f"   Arras, {recording}: {warning.decode()}", flush=True)
        return program

    def bind(self, program, arrays):
        for name, array in arrays.items():
            dtype = DTYPES[array.dtype.str[1:]].encode()
            shape, data = longs(array.shape), c_void_p(array.ctypes.data)
            self.check(
                self.library.bench_bind(program, name.encode(), dtype, array.ndim, shape, data)
            )

    def launch(self, program, times=1):
        self.check(self.library.bench_launch(program, c_int64(times)))

    def counters(self, program):
        numbers = longs([0] * 8)
        self.library.bench_counters(numbers, program)
        names = "kernels tasks updates allocations planned live temporaries moved".split()
        return dict(zip(names, numbers))

    def close(self, program):
        self.library.bench_close(program)

    def take(self, workload, size, inputs, outputs):
        program = self.open(workload.name, size)
        self.bind(program, inputs | outputs)
        return Run(
            lambda times: self.launch(program, times),
            lambda: list(outputs.values()),
            lambda: self.close(program),
        )


class Peer:
    def __init__(self, module, threads):
        self.module = importlib.import_module(f"peer_{module}")
        self.module.prepare(threads)
        self.name, self.version = self.module.NAME, self.module.VERSION
        self.finish = getattr(self.module, "finish", lambda result: None)

    def take(self, workload, size, inputs, outputs):
        """None where the peer has nothing of the kind."""
        function = getattr(self.module, workload.name, None)
        if function is None:
            return None
        arrays = [self.module.adopt(array) for array in [*outputs.values(), *inputs.values()]]
        returned = [None]

        def call(times):
            for _ in range(times):
                returned[0] = None  # so that its memory can be used again
                returned[0] = function(*arrays)
                self.finish(returned[0])

        def results():
            if returned[0] is None:
                return list(outputs.values())
            many = returned[0] if isinstance(returned[0], tuple) else (returned[0],)
            return [np.asarray(one) for one in many]

        return Run(call, results, self.module.forget)


def peers(names, threads):
    found = []
    for name in names:
        try:
            found.append(Peer(name, threads))
        except Exception as error:  # a broken installation must not stop the others
            print(f"== bench: no {name}: {type(error).__name__}: {error}", flush=True)
    return found
