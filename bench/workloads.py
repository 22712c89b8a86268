"""workloads.py -- what is measured: one row for each workload.

A row's name is also that of its recording (recordings.c), of its kernel (hand_NAME) and of the
functions of the peers (peer_*.py).  All of them take results first, then inputs, in this order."""

from dataclasses import dataclass
from typing import Callable

import numpy as np

F32, F64, I64 = np.dtype("f4"), np.dtype("f8"), np.dtype("i8")


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    size: tuple  # what the recording and the hand-written kernel take
    quick: tuple  # the same for a quick run; odd numbers, so that tails are there
    inputs: Callable  # of a random generator and the size: arrays by name
    outputs: Callable  # of the size: (shape, dtype) by name
    work: Callable  # of the size: bytes that must move, or floating operations
    unit: str = "GB/s"  # or GFlop/s
    tolerance: float = 1e-12  # of results, relative to the largest cell
    is_chain: bool = False  # chains and stencils have a bound of their own against NumPy
    repeats_in_c: bool = False  # so short that C repeats it, not Python

    def title_at(self, size):
        lengths = [f"{n:.0e}".replace("e+0", "e") if n >= 10**6 else str(n) for n in size]
        return f"{self.title} {'x'.join(lengths)}"


def vectors(names, dtype=F64):
    return lambda rng, size: {name: rng.random(size[0], dtype) for name in names}


def field(rng, size):
    return {"x": rng.random(size, F32)}


def field_and_kernel(*shape):
    def make(rng, size):
        return {"x": rng.random(size, F32), "kernel": rng.random(shape, F32) - F32.type(0.5)}

    return make


def integers(rng, size):
    return {"x": rng.integers(-(2**40), 2**40, size[0])}


def gathered(rng, size):
    return {"x": rng.random(size[0]), "index": rng.integers(0, size[0], size[0])}


def matrices(rng, size):
    return {name: rng.random((size[0], size[0])) for name in "ab"}


def elements(rng, size):
    return {"d": rng.random((3, 20, 20)), "u": rng.random((size[0], 20))}


def like_input(dtype):
    return lambda size: {"y": (size, dtype)}


def statistics(axis):
    return lambda size: {name: ((size[axis],), F32) for name in ("mean", "std")}


def cells(count_of_bytes):
    """Bytes: so many for each cell of the size."""
    return lambda size: count_of_bytes * int(np.prod(size))


WORKLOADS = [
    Workload(
        "cheap_chain",
        "2a+3b-c, f64",
        (50_000_000,),
        (100_003,),
        vectors("abc"),
        like_input(F64),
        cells(32),
        is_chain=True,
    ),
    Workload(
        "dear_chain",
        "a*sin(b)+exp(-c)*d, f64",
        (50_000_000,),
        (100_003,),
        vectors("abcd"),
        like_input(F64),
        cells(40),
        is_chain=True,
    ),
    Workload(
        "int_map",
        "(3x+7)^(x>>2), i64",
        (50_000_000,),
        (100_003,),
        integers,
        like_input(I64),
        cells(16),
        tolerance=0,
        is_chain=True,
    ),
    Workload(
        "stencil5",
        "5-point, f32",
        (8192, 8192),
        (203, 301),
        field,
        like_input(F32),
        cells(8),
        tolerance=1e-5,
        is_chain=True,
    ),
    Workload(
        "stencil7",
        "7-point, f32",
        (512, 256, 256),
        (33, 67, 41),
        field,
        like_input(F32),
        cells(8),
        tolerance=1e-5,
        is_chain=True,
    ),
    Workload(
        "stencil5_twice",
        "5-point of 5-point, f32",
        (8192, 8192),
        (203, 301),
        field,
        like_input(F32),
        cells(8),
        tolerance=1e-5,
        is_chain=True,
    ),
    Workload(
        "conv8",
        "8 2x2 conv + ReLU, f32",
        (8192, 8192),
        (103, 201),
        field_and_kernel(2, 2, 8),
        lambda size: {"y": ((size[0] - 1, size[1] - 1, 8), F32)},
        cells(36),
        tolerance=1e-5,
    ),
    Workload(
        "conv_pool",
        "3x3 conv + ReLU + max-pool, f32",
        (768, 1152),
        (102, 200),
        field_and_kernel(3, 3),
        lambda size: {"y": (((size[0] - 2) // 2, (size[1] - 2) // 2), F32)},
        lambda size: 18 * (size[0] - 2) * (size[1] - 2),
        unit="GFlop/s",
        tolerance=1e-5,
    ),
    Workload(
        "stats_axis0",
        "mean, std over axis 0, f32",
        (20000, 5000),
        (203, 101),
        field,
        statistics(1),
        cells(4),
        tolerance=1e-3,
    ),
    Workload(
        "stats_axis1",
        "mean, std over axis 1, f32",
        (20000, 5000),
        (203, 101),
        field,
        statistics(0),
        cells(4),
        tolerance=1e-3,
    ),
    Workload(
        "argmin",
        "argmin, f64",
        (50_000_000,),
        (100_003,),
        vectors("x"),
        lambda size: {"place": ((), I64)},
        cells(8),
        tolerance=0,
    ),
    Workload(
        "matmul",
        "matmul, f64",
        (1000,),
        (67,),
        matrices,
        lambda size: {"y": ((size[0], size[0]), F64)},
        lambda size: 2 * size[0] ** 3,
        unit="GFlop/s",
    ),
    Workload(
        "einsum",
        "xij,ej->xei of 20 nodes, f64",
        (27000,),
        (131,),
        elements,
        lambda size: {"y": ((3, size[0], 20), F64)},
        lambda size: 2 * 3 * 20 * 20 * size[0],
        unit="GFlop/s",
    ),
    Workload(
        "gather",
        "gather, f64",
        (10_000_000,),
        (100_003,),
        gathered,
        like_input(F64),
        cells(24),
    ),
    Workload(
        "chain50",
        "50 operations, f64",
        (1000,),
        (1000,),
        vectors("x"),
        like_input(F64),
        lambda size: 50 * size[0],
        unit="GFlop/s",
        repeats_in_c=True,
    ),
]
