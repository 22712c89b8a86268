"""padding.py -- what lies outside an array: NumPy's modes of padding and the edge rules of
neighbours."""

import numpy as np

import arras_ctypes

from . import meaning
from .compare import Expected

MODES = arras_ctypes.PAD_MODES


def nearest(i, n):
    return np.clip(i, 0, n - 1)


def wrap(i, n):
    return np.mod(i, n)


def fold_with_edge(i, n):
    """c b a | a b c d | d c b, on and on."""
    i = np.mod(i, 2 * n)
    return np.where(i < n, i, 2 * n - 1 - i)


def fold_without_edge(i, n):
    """d c b | a b c d | c b a, on and on; one cell alone repeats."""
    if n == 1:
        return np.zeros_like(i)
    i = np.mod(i, 2 * (n - 1))
    return np.where(i < n, i, 2 * (n - 1) - i)


# The names of scipy.ndimage; NumPy calls "reflect" what is "mirror" there, and "symmetric" what is
# "reflect".
EDGE_MAPS = {
    "nearest": nearest,
    "wrap": wrap,
    "reflect": fold_with_edge,
    "mirror": fold_without_edge,
}
PAD_MAPS = {
    "edge": nearest,
    "wrap": wrap,
    "symmetric": fold_with_edge,
    "reflect": fold_without_edge,
}


def pad_by_map(x, widths, rule):
    """NumPy before 1.25 wrapped long paddings wrongly, so the cells are picked here."""
    for axis, (before, after) in enumerate(widths):
        n = x.shape[axis]
        if before + after == 0:
            continue
        if n == 0:
            raise ValueError(f"can't extend empty axis {axis}")
        x = np.take(x, rule(np.arange(-before, n + after), n), axis=axis)
    return x


def ramp(x, axis, width, end):
    """NumPy's linear ramp from `end` up to the edge of x, `width` cells; rounded down in integers.
    DIFFERENCE: what lies beyond the range of an integer type saturates."""
    edge = np.take(x, [0], axis=axis)
    edge = edge.astype("c16" if x.dtype.kind == "c" else "f8")
    steps = np.arange(width).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    cells = steps * ((edge - end) / width) + end if width else np.take(edge, [], axis=axis)
    if x.dtype.kind in "iu":
        cells = np.floor(cells)
    return meaning.cast(cells, x.dtype).value


def pad_by_ramp(x, widths, end):
    for axis, (before, after) in enumerate(widths):
        if before + after == 0:
            continue
        if x.shape[axis] == 0:
            raise ValueError(f"can't extend empty axis {axis}")
        first = ramp(x, axis, before, end)
        last = np.flip(ramp(np.flip(x, axis), axis, after, end), axis)
        x = np.concatenate([first, x, last], axis=axis)
    return x


def pad(x, widths, mode, fill):
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("widths cannot be negative")
    if mode in PAD_MAPS:
        return Expected(pad_by_map(x, widths, PAD_MAPS[mode]))
    if mode in ("constant", "empty"):
        # DIFFERENCE: cells NumPy leaves undefined are 0; reals that go into integers saturate.
        value = meaning.cast(fill if mode == "constant" else 0, x.dtype).value
        return Expected(np.pad(x, widths, constant_values=value) if x.ndim else x)
    if mode == "linear_ramp":
        return near(pad_by_ramp(x, widths, fill), x, fill)
    return near(np.pad(x, widths, mode) if x.ndim else x, x, 0)


def near(value, x, fill):
    """Statistics and ramps are rounded on the way: a few units of the largest cell."""
    if value.dtype not in meaning.WIDER:
        # DIFFERENCE: a mean that rounds to just beyond 64 bits saturates.
        ends = np.max(np.abs(x.astype("f8")), initial=0) > 2.0**62
        return Expected(value, free=np.full(value.shape, bool(ends)))
    with np.errstate(all="ignore"):
        cells = np.concatenate([x.ravel(), np.ravel(fill)])
        largest = np.max(np.abs(np.where(np.isfinite(cells), cells, 0)))
    slack = meaning.ulps(8, value.dtype, np.full(value.shape, largest))
    # Which parts of a complex statistic are nan is left to the order of its sums.
    return Expected(
        value,
        slack=slack,
        zero_signs=False,
        free=np.isnan(value) if value.dtype.kind == "c" else None,
    )
