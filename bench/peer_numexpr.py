"""peer_numexpr.py -- the workloads in numexpr; it has no reductions, products or gathers to compare."""

import numexpr as ne
import numpy as np

NAME = "numexpr"
VERSION = ne.__version__
temporaries = {}


def prepare(threads):
    ne.set_num_threads(threads)


def adopt(array):
    return array


def temporary(shape, dtype, name):
    if name not in temporaries:
        temporaries[name] = np.zeros(shape, dtype)
    return temporaries[name]


def forget():
    temporaries.clear()


def cheap_chain(y, a, b, c):
    ne.evaluate("2*a + 3*b - c", out=y)


def dear_chain(y, a, b, c, d):
    ne.evaluate("a*sin(b) + exp(-c)*d", out=y)


def int_map(y, x):
    ne.evaluate("(x*3 + 7) ^ (x >> 2)", out=y)


def padded(x):
    """x with a border of zeros, which stays 0 from call to call."""
    result = temporary([n + 2 for n in x.shape], x.dtype, "padded")
    result[tuple(slice(1, -1) for _ in x.shape)] = x
    return result


def stencil5(y, x):
    p, half, eighth = padded(x), np.float32(0.5), np.float32(0.125)
    n, s, w, e = p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]
    ne.evaluate("half*x + eighth*(n + s + w + e)", out=y)


def stencil7(y, x):
    p, centre, side = padded(x), np.float32(0.4), np.float32(0.1)
    u, d = p[:-2, 1:-1, 1:-1], p[2:, 1:-1, 1:-1]
    n, s = p[1:-1, :-2, 1:-1], p[1:-1, 2:, 1:-1]
    w, e = p[1:-1, 1:-1, :-2], p[1:-1, 1:-1, 2:]
    ne.evaluate("centre*x + side*(u + d + n + s + w + e)", out=y)


def stencil5_twice(y, x):
    between = temporary(y.shape, y.dtype, "between")
    stencil5(between, x)
    stencil5(y, between)


def conv8(y, x, kernel):
    nw, ne_, sw, se = (
        x[r : x.shape[0] - 1 + r, s : x.shape[1] - 1 + s, None] for r in (0, 1) for s in (0, 1)
    )
    k, l, m, n = kernel.reshape(4, 8)
    zero = np.float32(0)
    total = "nw*k + ne_*l + sw*m + se*n"
    ne.evaluate(f"where({total} > zero, {total}, zero)", out=y)


def chain50(y, x):
    text = "x"
    for _ in range(10):
        text = f"(abs(({text} + 0.25)*0.875) - 0.5 + x)"
    ne.evaluate(text, out=y)
