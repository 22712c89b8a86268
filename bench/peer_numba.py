"""peer_numba.py -- the workloads as loops in Numba, compiled for threads with parallel=True."""

import math

import numba
import numpy as np
from numba import njit, prange

NAME = "Numba"
VERSION = numba.__version__
HALF, EIGHTH = np.float32(0.5), np.float32(0.125)
CENTRE, SIDE = np.float32(0.4), np.float32(0.1)
ZERO = np.float32(0)
parallel = njit(parallel=True)
between = {}


def prepare(threads):
    numba.set_num_threads(threads)


def adopt(array):
    return array


def forget():
    between.clear()


@parallel
def cheap_chain(y, a, b, c):
    for i in prange(y.size):
        y[i] = 2 * a[i] + 3 * b[i] - c[i]


@parallel
def dear_chain(y, a, b, c, d):
    for i in prange(y.size):
        y[i] = a[i] * math.sin(b[i]) + math.exp(-c[i]) * d[i]


@parallel
def int_map(y, x):
    for i in prange(y.size):
        y[i] = (x[i] * 3 + 7) ^ (x[i] >> 2)


@njit
def at2(x, i, j):
    inside = 0 <= i < x.shape[0] and 0 <= j < x.shape[1]
    return x[i, j] if inside else ZERO


@njit
def cell5(x, i, j):
    sides = at2(x, i - 1, j) + at2(x, i + 1, j) + at2(x, i, j - 1) + at2(x, i, j + 1)
    return HALF * x[i, j] + EIGHTH * sides


@parallel
def stencil5(y, x):
    rows, cols = x.shape
    for i in prange(rows):
        if i == 0 or i == rows - 1:
            for j in range(cols):
                y[i, j] = cell5(x, i, j)
        else:
            above, here, below, out = x[i - 1], x[i], x[i + 1], y[i]
            for j in range(1, cols - 1):
                sides = above[j] + below[j] + here[j - 1] + here[j + 1]
                out[j] = HALF * here[j] + EIGHTH * sides
            y[i, 0] = cell5(x, i, 0)
            y[i, cols - 1] = cell5(x, i, cols - 1)


def stencil5_twice(y, x):
    if "t" not in between:
        between["t"] = np.zeros_like(y)
    stencil5(between["t"], x)
    stencil5(y, between["t"])


@njit
def at3(x, p, i, j):
    inside = 0 <= p < x.shape[0] and 0 <= i < x.shape[1] and 0 <= j < x.shape[2]
    return x[p, i, j] if inside else ZERO


@njit
def cell7(x, p, i, j):
    levels = at3(x, p - 1, i, j) + at3(x, p + 1, i, j)
    rows = at3(x, p, i - 1, j) + at3(x, p, i + 1, j)
    return CENTRE * x[p, i, j] + SIDE * (levels + rows + at3(x, p, i, j - 1) + at3(x, p, i, j + 1))


@parallel
def stencil7(y, x):
    planes, rows, cols = x.shape
    for p in prange(planes):
        for i in range(rows):
            if p == 0 or p == planes - 1 or i == 0 or i == rows - 1:
                for j in range(cols):
                    y[p, i, j] = cell7(x, p, i, j)
            else:
                above, below, north, south = x[p - 1, i], x[p + 1, i], x[p, i - 1], x[p, i + 1]
                here, out = x[p, i], y[p, i]
                for j in range(1, cols - 1):
                    sides = above[j] + below[j] + north[j] + south[j] + here[j - 1] + here[j + 1]
                    out[j] = CENTRE * here[j] + SIDE * sides
                y[p, i, 0] = cell7(x, p, i, 0)
                y[p, i, cols - 1] = cell7(x, p, i, cols - 1)


@parallel
def conv8(y, x, kernel):
    for i in prange(y.shape[0]):
        for j in range(y.shape[1]):
            for f in range(8):
                total = x[i, j] * kernel[0, 0, f] + x[i, j + 1] * kernel[0, 1, f]
                total += x[i + 1, j] * kernel[1, 0, f] + x[i + 1, j + 1] * kernel[1, 1, f]
                y[i, j, f] = max(total, ZERO)


@njit
def conv3(x, kernel, i, j):
    total = ZERO
    for r in range(3):
        for s in range(3):
            total += x[i + r, j + s] * kernel[r, s]
    return total


@parallel
def conv_pool(y, x, kernel):
    for i in prange(y.shape[0]):
        for j in range(y.shape[1]):
            best = ZERO
            for r in range(2):
                for s in range(2):
                    best = max(best, conv3(x, kernel, 2 * i + r, 2 * j + s))
            y[i, j] = best


@parallel
def stats_axis0(mean, std, x):
    rows, cols = x.shape
    block = 1024
    for b in prange((cols + block - 1) // block):
        first, last = b * block, min(cols, b * block + block)
        total = np.zeros(last - first)
        squares = np.zeros(last - first)
        for i in range(rows):
            for j in range(last - first):
                total[j] += x[i, first + j]
        total /= rows
        for i in range(rows):
            for j in range(last - first):
                away = x[i, first + j] - total[j]
                squares[j] += away * away
        for j in range(last - first):
            mean[first + j] = total[j]
            std[first + j] = math.sqrt(squares[j] / rows)


@parallel
def stats_axis1(mean, std, x):
    rows, cols = x.shape
    for i in prange(rows):
        total = 0.0
        for j in range(cols):
            total += x[i, j]
        total /= cols
        squares = 0.0
        for j in range(cols):
            squares += (x[i, j] - total) ** 2
        mean[i] = total
        std[i] = math.sqrt(squares / cols)


@parallel
def parallel_argmin(x):
    return np.argmin(x)


def argmin(place, x):
    place[()] = parallel_argmin(x)


@parallel
def einsum(y, d, u):
    for e in prange(u.shape[0]):
        for x in range(3):
            for i in range(20):
                total = 0.0
                for j in range(20):
                    total += d[x, i, j] * u[e, j]
                y[x, e, i] = total


@parallel
def gather(y, x, index):
    for i in prange(index.size):
        y[i] = x[index[i]]


@njit
def chain50(y, x):
    for i in range(x.size):
        v = x[i]
        for _ in range(10):
            v = abs((v + 0.25) * 0.875) - 0.5 + x[i]
        y[i] = v
