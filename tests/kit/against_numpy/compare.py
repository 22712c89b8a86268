"""compare.py -- what NumPy expects of one array, how closely, and where an array differs from
it."""

import numpy as np


class Expected:
    """A value, and how far a cell may be from it.

    slack       how far each cell (of complex numbers: each part) may be off; None: not at all
    zero_signs  whether -0.0 and 0.0 are told apart
    free        cells that may hold anything: where the order of a sum decides about overflow"""

    def __init__(self, value, slack=None, zero_signs=True, free=None):
        self.value = np.asarray(value)
        self.slack, self.zero_signs, self.free = slack, zero_signs, free


def parts(array):
    """Real and imaginary parts along a new last axis; other types get an axis of 1."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], axis=-1)
    return array[..., np.newaxis]


def wrong_cells(got, want):
    """A mask of the cells of `got` that are not as expected; dtype and shape agree already."""
    a, b = parts(got), parts(want.value)
    same = a == b
    if a.dtype.kind == "f":
        if want.zero_signs:
            same &= np.signbit(a) == np.signbit(b)
        same |= np.isnan(a) & np.isnan(b)
    if want.slack is not None:
        distance = np.abs(a.astype(np.longdouble) - b.astype(np.longdouble))
        near = distance <= np.asarray(want.slack)[..., np.newaxis]
        if want.zero_signs and got.dtype.kind == "f":
            near &= (a != 0) | (b != 0) | (np.signbit(a) == np.signbit(b))
        same |= near
    wrong = ~same.all(axis=-1)
    return wrong if want.free is None else wrong & ~np.asarray(want.free)


def difference(got, want):
    """None, or one line that says how an array differs from what is expected."""
    if got.dtype != want.value.dtype:
        return f"dtype is {got.dtype}, NumPy's is {want.value.dtype}"
    if got.shape != want.value.shape:
        return f"shape is {got.shape}, NumPy's is {want.value.shape}"
    with np.errstate(all="ignore"):
        wrong = wrong_cells(got, want)
    if not wrong.any():
        return None
    cell = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{int(wrong.sum())} of {wrong.size} cells differ, first at {cell}: "
        f"{got[cell]!r}, NumPy's is {want.value[cell]!r}"
    )


def same_or_nan(a, b):
    """Cell by cell and part by part: the same bits, or both nan."""
    same = a == b
    if a.dtype.kind == "f":
        same &= np.signbit(a) == np.signbit(b)
        same |= np.isnan(a) & np.isnan(b)
    return same


def unlike(got, reference):
    """None, or one line that says where an array is not what the reference evaluator gives."""
    if got.dtype != reference.dtype or got.shape != reference.shape:
        return f"{got.dtype}{got.shape}, in the reference {reference.dtype}{reference.shape}"
    with np.errstate(all="ignore"):
        wrong = ~same_or_nan(parts(got), parts(reference)).all(axis=-1)
    if not wrong.any():
        return None
    cell = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{int(wrong.sum())} of {wrong.size} cells are not the reference's, first at {cell}: "
        f"{got[cell]!r}, there {reference[cell]!r}"
    )


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
