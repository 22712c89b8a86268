"""padding.py -- what lies outside an array: NumPy's modes of padding and the edge rules of neighbours."""
import numpy as np

from . import meaning
from .compare import Expected

MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
         "symmetric", "wrap", "empty"]


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


# The names of scipy.ndimage; NumPy calls "reflect" what is "mirror" there, and "symmetric" what is "reflect".
EDGE_MAPS = {"nearest": nearest, "wrap": wrap, "reflect": fold_with_edge, "mirror": fold_without_edge}
PAD_MAPS = {"edge": nearest, "wrap": wrap, "symmetric": fold_with_edge, "reflect": fold_without_edge}


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


def fill_value(fill, dtype):
    """DIFFERENCE: a fill is cast as arras_cast casts; an untyped integer must fit."""
    if meaning.is_weak(fill) and isinstance(fill, int) and dtype.kind in "iu":
        meaning.result_dtype(np.add, [np.empty(0, dtype), fill])
    return meaning.cast(fill, dtype).value


def pad(x, widths, mode, fill):
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("widths cannot be negative")
    if mode in PAD_MAPS:
        return Expected(pad_by_map(x, widths, PAD_MAPS[mode]))
    if mode in ("constant", "empty"):
        # DIFFERENCE: cells NumPy leaves undefined are 0.
        value = fill_value(fill if mode == "constant" else 0, x.dtype)
        return Expected(np.pad(x, widths, constant_values=value) if x.ndim else x)
    if x.ndim == 0:
        return Expected(x)
    given = {"end_values": fill_value(fill, x.dtype)} if mode == "linear_ramp" else {}
    return near(np.pad(x, widths, mode, **given), x, given.get("end_values", 0))


def near(value, x, fill):
    """Statistics and ramps are rounded on the way: a few units of the largest cell."""
    if value.dtype not in meaning.WIDER:
        return Expected(value)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(np.where(np.isfinite(x), x, 0)), initial=float(np.abs(fill)))
    slack = meaning.ulps(8, value.dtype, np.full(value.shape, largest))
    return Expected(value, slack=slack, zero_signs=False)
