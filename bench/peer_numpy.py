"""peer_numpy.py -- the workloads in NumPy: results and temporaries are allocated beforehand."""

import numpy as np

NAME = "NumPy"
VERSION = np.__version__
temporaries = {}


def prepare(threads):
    """NumPy computes with one thread, but for matmul."""


def adopt(array):
    return array


def temporary(shape, dtype, name="t"):
    if name not in temporaries:
        temporaries[name] = np.zeros(shape, dtype)
    return temporaries[name]


def forget():
    temporaries.clear()


def cheap_chain(y, a, b, c):
    t = temporary(y.shape, y.dtype)
    np.multiply(a, 2, out=y)
    np.multiply(b, 3, out=t)
    np.add(y, t, out=y)
    np.subtract(y, c, out=y)


def dear_chain(y, a, b, c, d):
    t = temporary(y.shape, y.dtype)
    np.sin(b, out=y)
    np.multiply(a, y, out=y)
    np.negative(c, out=t)
    np.exp(t, out=t)
    np.multiply(t, d, out=t)
    np.add(y, t, out=y)


def int_map(y, x):
    t = temporary(y.shape, y.dtype)
    np.multiply(x, 3, out=y)
    np.add(y, 7, out=y)
    np.right_shift(x, 2, out=t)
    np.bitwise_xor(y, t, out=y)


def add_neighbours(y, x, t, weight):
    """y += weight * (the neighbours of x along all axes)"""
    np.multiply(x, np.float32(weight), out=t)
    for axis in range(x.ndim):
        low = tuple(slice(None, -1) if d == axis else slice(None) for d in range(x.ndim))
        high = tuple(slice(1, None) if d == axis else slice(None) for d in range(x.ndim))
        np.add(y[high], t[low], out=y[high])
        np.add(y[low], t[high], out=y[low])


def stencil5(y, x):
    np.multiply(x, np.float32(0.5), out=y)
    add_neighbours(y, x, temporary(y.shape, y.dtype), 0.125)


def stencil7(y, x):
    np.multiply(x, np.float32(0.4), out=y)
    add_neighbours(y, x, temporary(y.shape, y.dtype), 0.1)


def stencil5_twice(y, x):
    between = temporary(y.shape, y.dtype, "between")
    stencil5(between, x)
    stencil5(y, between)


def corners(x, width):
    """The views x[r:, s:] that a convolution of this width adds up."""
    rows, cols = x.shape[0] - width + 1, x.shape[1] - width + 1
    return [x[r : r + rows, s : s + cols] for r in range(width) for s in range(width)]


def convolve(out, x, kernel, t):
    views = corners(x, kernel.shape[0])
    np.multiply(views[0], kernel[0, 0], out=out)
    for view, weight in zip(views[1:], kernel.flat[1:]):
        np.multiply(view, weight, out=t)
        np.add(out, t, out=out)


def conv8(y, x, kernel):
    flat = temporary(y.shape[:2], y.dtype, "flat")
    t = temporary(y.shape[:2], y.dtype)
    for f in range(8):
        convolve(flat, x, kernel[:, :, f], t)
        np.maximum(flat, 0, out=y[:, :, f])


def conv_pool(y, x, kernel):
    shape = (x.shape[0] - 2, x.shape[1] - 2)
    conv = temporary(shape, x.dtype, "conv")
    convolve(conv, x, kernel, temporary(shape, x.dtype))
    conv = conv[: 2 * y.shape[0], : 2 * y.shape[1]]
    np.maximum(conv[::2, ::2], conv[::2, 1::2], out=y)
    np.maximum(y, conv[1::2, ::2], out=y)
    np.maximum(y, conv[1::2, 1::2], out=y)
    np.maximum(y, 0, out=y)


def stats_axis0(mean, std, x):
    np.mean(x, axis=0, out=mean)
    np.std(x, axis=0, out=std)


def stats_axis1(mean, std, x):
    np.mean(x, axis=1, out=mean)
    np.std(x, axis=1, out=std)


def argmin(place, x):
    place[()] = np.argmin(x)


def matmul(y, a, b):
    np.matmul(a, b, out=y)


def einsum(y, d, u):
    """As a product of matrices, which is faster than np.einsum."""
    np.matmul(u, d.transpose(0, 2, 1), out=y)


def gather(y, x, index):
    np.take(x, index, out=y, mode="raise")


def chain50(y, x):
    np.copyto(y, x)
    for _ in range(10):
        np.add(y, 0.25, out=y)
        np.multiply(y, 0.875, out=y)
        np.abs(y, out=y)
        np.subtract(y, 0.5, out=y)
        np.add(y, x, out=y)
