"""meaning.py -- what every operation of ops.def means, computed by NumPy with NumPy 2's rules.

Untyped numbers are Python's own.  A meaning takes NumPy arrays and such numbers, and gives what is
Expected or raises one of REFUSALS.  Operations are looked up in NumPy under their own name; those
that have another name there, or none, or that NumPy 1.24 still did otherwise, are in the table
MEANINGS.  docs/semantics.md lists the differences from NumPy that are meant; each is marked
DIFFERENCE here.
"""

import functools
import math
import operator
from fractions import Fraction

import numpy as np

from .compare import Expected

REFUSALS = (TypeError, ValueError, IndexError, OverflowError)

WIDER = {
    np.dtype("f4"): np.dtype("f8"),
    np.dtype("f8"): np.dtype(np.longdouble),
    np.dtype("c8"): np.dtype("c16"),
    np.dtype("c16"): np.dtype(np.clongdouble),
}


class Inexact(Exception):
    """A value is not fixed to the bit where it would have to be: what was drawn is not used."""


class NoCounterpart(Exception):
    """An operation these tests know nothing of: a mistake in the tests, not in the library."""


# ---- Types -----------------------------------------------------------------------------------


def is_weak(x):
    return isinstance(x, (int, float, complex)) and not isinstance(x, (bool, np.generic))


def typed(x):
    """The array an untyped number is when nothing gives it a type."""
    return np.asarray(x, "i8") if is_weak(x) and isinstance(x, int) else np.asarray(x)


def sample(x):
    """Stands for an operand when only types matter."""
    return x if is_weak(x) else np.empty(0, x.dtype)


@functools.lru_cache(maxsize=None)
def dtype_from_samples(function, *kinds):
    with np.errstate(all="ignore"):
        dtype = function(
            *[np.empty(0, k) if isinstance(k, np.dtype) else k for _, k in kinds]
        ).dtype
    # DIFFERENCE: there is no f16; where NumPy gives it to small integers, Arras gives f32.
    return np.dtype("f4") if dtype == "f2" else dtype


def result_dtype(function, xs):
    """The type NumPy gives; numbers stay themselves, for a misfit among them is refused."""
    return dtype_from_samples(function, *[(type(x), x if is_weak(x) else x.dtype) for x in xs])


def promoted(*xs):
    """The type all operands meet in, whatever their order."""
    strong = [x.dtype for x in xs if not is_weak(x)]
    weak = sorted((x for x in xs if is_weak(x)), key=lambda x: "cfi".index(typed(x).dtype.kind))
    if not strong:
        return np.result_type(*[typed(x) for x in weak])
    dtype = np.result_type(*strong)
    for x in weak:  # highest kind first; an integer that does not fit in the end is refused
        dtype = result_dtype(np.add, [np.empty(0, dtype), x])
    return dtype


def as_dtype(x, dtype):
    """An operand in the type an operation computes in."""
    return np.asarray(x).astype(dtype)


def is_whole(dtype):
    return dtype.kind in "biu"


# ---- How close -------------------------------------------------------------------------------


def ulps(count, dtype, magnitude):
    """`count` units in the last place of numbers of this magnitude."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        size = np.maximum(
            np.abs(magnitude).astype(np.longdouble) * info.eps,
            np.longdouble(info.smallest_subnormal),
        )
        return np.where(np.isfinite(size), count * size, 0)


def plain(function, zero_signs=True):
    """NumPy's own value, bit for bit."""

    def meaning(*xs):
        if result_dtype(function, xs) == "f4":
            xs = [as_dtype(x, "f4") if not is_weak(x) and is_whole(x.dtype) else x for x in xs]
        return Expected(function(*xs), zero_signs=zero_signs)

    return meaning


def size_of(numbers):
    """Their distance from 0; of complex numbers with an infinite part, that of the other part."""
    if numbers.dtype.kind != "c":
        return np.abs(numbers)
    sizes = [np.abs(part) for part in (numbers.real, numbers.imag)]
    rest = np.max([np.where(np.isfinite(size), size, 0) for size in sizes], axis=0)
    return np.where(np.isfinite(numbers), np.abs(numbers), rest)


def near(function, count=3, condition=None):
    """NumPy's value in a wider type, rounded; the C library is allowed some units in the last
    place."""

    def meaning(*xs):
        dtype = result_dtype(function, xs)
        if dtype not in WIDER:
            return Expected(function(*xs))
        xs = [as_dtype(x, dtype) for x in xs]
        wide_xs = [x.astype(WIDER[dtype]) for x in xs]
        wide = np.asarray(function(*wide_xs))
        if dtype.kind == "c":
            return near_complex(function, xs, wide_xs, wide, 2 * count + 4, condition)
        finite = functools.reduce(np.logical_and, [np.isfinite(x) for x in xs])
        value = np.where(finite, wide, function(*xs)).astype(dtype)
        return Expected(value, slack=ulps(count, dtype, wide))

    return meaning


def near_complex(function, xs, wide_xs, wide, count, condition):
    """Where NumPy's own formulas overflow, its own value stands.  `condition` says how much
    rounding inside the operation is magnified; where nothing is left of a number, anything may be
    there."""
    dtype, magnified = xs[0].dtype, 1 if condition is None else condition(*wide_xs)
    narrow = np.asarray(function(*xs))
    value = np.where(np.isfinite(wide) & ~np.isfinite(narrow), narrow, wide).astype(dtype)
    free = magnified * np.finfo(dtype).eps > 0.1
    return Expected(value, slack=ulps(count, dtype, size_of(wide) * magnified), free=free)


def plain_unless_complex(function, scale):
    """Exact for all types but complex, whose parts may be off by a few units of `scale`.
    NumPy may fuse the products of parts with their sum, which shows where a product overflows."""

    def meaning(x, y):
        expected = plain(function)(x, y)
        dtype = expected.value.dtype
        if dtype.kind == "c":
            x, y = as_dtype(x, dtype), as_dtype(y, dtype)
            expected.slack = ulps(4, dtype, scale(x.astype(WIDER[dtype]), y.astype(WIDER[dtype])))
            expected.free = np.any(
                [
                    np.isfinite(a) & np.isfinite(b) & ~np.isfinite(a * b)
                    for a in (x.real, x.imag)
                    for b in (y.real, y.imag)
                ],
                axis=0,
            )
        return expected

    return meaning


# ---- Operations that need more than a name ---------------------------------------------------


def comparison(function, exactly):
    """Integers compare by value, whatever their types and however large an untyped one is."""

    def meaning(x, y):
        if all(typed(v).dtype.kind in "iu" for v in (x, y)):
            return Expected(
                np.asarray(exactly(typed(x).astype(object), typed(y).astype(object)), bool)
            )
        return Expected(function(x, y))

    return meaning


def integer_power(x, y, dtype):
    """DIFFERENCE: NumPy refuses negative exponents in arrays; Arras rounds the result towards 0."""
    x, y = np.broadcast_arrays(as_dtype(x, dtype), as_dtype(y, dtype))
    if dtype.kind == "u":
        return np.power(x, y)
    small = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y % 2), 0)).astype(dtype)
    return np.where(y < 0, small, np.power(x, np.maximum(y, 0)))


def power(x, y):
    dtype = result_dtype(np.power, (x, y))
    if is_whole(dtype):
        if is_weak(y) and y < 0:
            raise ValueError("integers to negative powers are not allowed")
        return Expected(integer_power(x, y, dtype).astype(dtype))
    if dtype.kind == "c":
        return complex_power(as_dtype(x, dtype), as_dtype(y, dtype))
    return near(np.power)(x, y)


def product(x, y):
    """Of complex numbers by the plain formula; NumPy fuses it on some processors."""
    result = np.empty(np.broadcast_shapes(x.shape, y.shape), x.dtype)
    result.real = x.real * y.real - x.imag * y.imag
    result.imag = x.real * y.imag + x.imag * y.real
    return result


def whole_power(x, n):
    """DIFFERENCE: NumPy's first factor is 1, so that infinite parts become nan."""
    result, factor = None, x
    for bit in reversed(bin(abs(n))[2:]):
        if bit == "1":
            result = factor if result is None else product(result, factor)
        factor = product(factor, factor)
    return result if n > 0 else 1 / result


def complex_power(x, y):
    """NumPy 2's; 1.24 gives nan for 0 to a power that is not real."""
    dtype = x.dtype
    x, y = np.broadcast_arrays(x, y)
    value = np.power(x, y)
    for n in np.unique(y[(y.imag == 0) & (np.abs(y.real) < 100)].real):
        if n == np.rint(n) and n != 0:
            value = np.where(y == n, whole_power(x, int(n)), value)
    zero = np.where(y.real > 0, 0, complex(np.nan, np.nan))
    value = np.where(y == 0, 1, np.where(x == 0, zero, value)).astype(dtype)
    return Expected(value, slack=ulps(8, dtype, size_of(value)), zero_signs=False)


def magnitude(x):
    dtype = typed(x).dtype
    if dtype.kind != "c":
        return Expected(np.absolute(x))
    wide = np.absolute(as_dtype(x, WIDER[dtype]))
    return Expected(wide.astype(result_dtype(np.absolute, (x,))), slack=ulps(2, dtype, wide))


def sign(x):
    """NumPy 2's: a complex number divided by its distance from 0; along the axis of an infinite
    part."""
    if typed(x).dtype.kind != "c":
        return Expected(np.sign(x))
    x = typed(x)
    size, endless = np.abs(x), np.isinf(x.real) | np.isinf(x.imag)
    parts = [part / np.where(size == 0, 1, size) for part in (x.real, x.imag)]
    value = parts[0] + 1j * np.where(np.isfinite(parts[1]), parts[1], 0)
    along = np.where(np.isinf(x.real), np.sign(x.real), 1j * np.sign(x.imag))
    nowhere = np.isnan(size) | (np.isinf(x.real) & np.isinf(x.imag))
    value = np.where(nowhere, complex(np.nan, np.nan), np.where(endless, along, value)).astype(
        x.dtype
    )
    free = np.isfinite(x) & np.isinf(size)
    return Expected(value, slack=ulps(3, x.dtype, np.ones(x.shape)), zero_signs=False, free=free)


def square_root(x):
    """Rounded once, so exact, unless complex."""
    return (near if typed(x).dtype.kind == "c" else plain)(np.sqrt)(x)


def rounding(function):
    """NumPy 2's: integers and booleans stay as they are."""

    def meaning(x):
        return Expected(typed(x) if is_whole(typed(x).dtype) else function(x))

    return meaning


def where(c, x, y):
    """DIFFERENCE: an untyped integer that does not fit is refused; NumPy's where wraps it
    around."""
    dtype = promoted(x, y)
    return Expected(np.where(typed(c).astype(bool), as_dtype(x, dtype), as_dtype(y, dtype)))


def round_fraction(value, dtype):
    """The number of a real type nearest to a fraction, ties to even."""
    guess = dtype.type(float(value))
    if dtype == "f8" or not np.isfinite(guess):
        return guess
    around = [np.nextafter(guess, dtype.type(side), dtype=dtype) for side in (-np.inf, np.inf)] + [
        guess
    ]
    around = [g for g in around if np.isfinite(g)]
    bits = [int(g.view(f"u{dtype.itemsize}")) for g in around]
    best = min(zip(around, bits), key=lambda gb: (abs(Fraction(float(gb[0])) - value), gb[1] % 2))
    return best[0]


def fma_cell(x, y, z, dtype):
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return (
            dtype.type(float(x) * float(y) + float(z))
            if np.isfinite(z) or not (np.isfinite(x) and np.isfinite(y))
            else z
        )
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact != 0:
        try:
            return round_fraction(exact, dtype)
        except OverflowError:
            return dtype.type(math.inf if exact > 0 else -math.inf)
    product = math.copysign(0.0, math.copysign(1, x) * math.copysign(1, y))
    both_zero = z == 0 and (x == 0 or y == 0)
    return dtype.type(product + float(z)) if both_zero else dtype.type(0.0)


def fma(x, y, z):
    dtype = promoted(x, y, z)
    x, y, z = np.broadcast_arrays(*[as_dtype(v, dtype) for v in (x, y, z)])
    if dtype.kind == "f":
        cells = [fma_cell(*cell, dtype) for cell in zip(x.ravel(), y.ravel(), z.ravel())]
        return Expected(np.array(cells, dtype).reshape(x.shape))
    expected = Expected(np.asarray(x * y + z))
    if dtype.kind == "c":
        wide = WIDER[dtype]
        scale = np.abs(x.astype(wide)) * np.abs(y.astype(wide)) + np.abs(z.astype(wide))
        expected.slack = ulps(4, dtype, scale)
    return expected


def poles_as_c(function):
    """A function of Python's math module, with C's values where Python raises."""

    def value(x):
        try:
            return function(x)
        except OverflowError:
            return (
                math.inf
                if function is math.lgamma or x > 0 or math.floor(x) % 2 == 0
                else -math.inf
            )
        except ValueError:
            if function is math.lgamma:
                return math.inf
            return math.copysign(math.inf, x) if x == 0 else math.nan

    return value


def from_math(function, count, floor=0.0):
    """An operation NumPy does not have, from Python's math; typed as NumPy types cbrt."""

    def meaning(x):
        dtype = result_dtype(np.cbrt, (x,))
        cells = as_dtype(x, dtype)
        values = np.array([poles_as_c(function)(float(v)) for v in cells.ravel()], "f8").reshape(
            cells.shape
        )
        slack = ulps(count, dtype, np.maximum(np.abs(values), floor))
        return Expected(values.astype(dtype), slack=slack)

    return meaning


def product_scale(x, y):
    return np.abs(x) * np.abs(y)


def quotient_scale(x, y):
    return np.abs(x) / np.abs(y)


MEANINGS = {
    "add": plain(np.add),
    "subtract": plain(np.subtract),
    "multiply": plain_unless_complex(np.multiply, product_scale),
    "divide": plain_unless_complex(np.divide, quotient_scale),
    "floor_divide": plain(np.floor_divide),
    "remainder": plain(np.remainder),
    "fmod": plain(np.fmod),
    "pow": power,
    "negative": plain(np.negative),
    "abs": magnitude,
    "sign": sign,
    "fma": fma,
    "bitwise_and": plain(np.bitwise_and),
    "bitwise_or": plain(np.bitwise_or),
    "bitwise_xor": plain(np.bitwise_xor),
    "bitwise_invert": plain(np.invert),
    "left_shift": plain(np.left_shift),
    "right_shift": plain(np.right_shift),
    "where": where,
    "minimum": plain(np.minimum, zero_signs=False),
    "maximum": plain(np.maximum, zero_signs=False),
    "fmin": plain(np.fmin, zero_signs=False),
    "fmax": plain(np.fmax, zero_signs=False),
    "sqrt": square_root,
    "exp2": near(np.exp2, condition=lambda x: 1 + np.abs(x)),
    "log1p": near(np.log1p, condition=lambda x: 1 + 1 / np.abs(np.log1p(x))),
    "asin": near(np.arcsin),
    "acos": near(np.arccos),
    "atan": near(np.arctan),
    "asinh": near(np.arcsinh),
    "acosh": near(np.arccosh),
    "atanh": near(np.arctanh),
    "atan2": near(np.arctan2),
    "erf": from_math(math.erf, 4),
    "erfc": from_math(math.erfc, 8),
    "tgamma": from_math(math.gamma, 24),
    "lgamma": from_math(math.lgamma, 8, floor=1.0),
    "floor": rounding(np.floor),
    "ceil": rounding(np.ceil),
    "trunc": rounding(np.trunc),
    "round": rounding(np.round),
    "copysign": plain(np.copysign),
    "real": lambda x: Expected(np.real(typed(x))),
    "imag": lambda x: Expected(np.imag(typed(x))),
    "conj": plain(np.conjugate),
}
for _name, _python in (
    ("equal", operator.eq),
    ("not_equal", operator.ne),
    ("less", operator.lt),
    ("less_equal", operator.le),
    ("greater", operator.gt),
    ("greater_equal", operator.ge),
):
    MEANINGS[_name] = comparison(getattr(np, _name), np.frompyfunc(_python, 2, 1))
for _name in (
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
):
    MEANINGS[_name] = plain(getattr(np, _name))


def meaning_of(op):
    """The meaning of an operation; one that is NumPy's by name is compared with some tolerance."""
    if op in MEANINGS:
        return MEANINGS[op]
    function = getattr(np, op, None)
    if function is None:
        raise NoCounterpart(
            f"no NumPy counterpart is known for the operation '{op}': "
            "add one to MEANINGS in tests/kit/against_numpy/meaning.py"
        )
    return near(function)


def elementwise(op, xs):
    with np.errstate(all="ignore"):
        return meaning_of(op)(*xs)


# ---- Casts -----------------------------------------------------------------------------------


def cast(x, dtype):
    """DIFFERENCE: real to integer saturates and nan gives 0; NumPy leaves both to the machine."""
    x, dtype = typed(x), np.dtype(dtype)
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return Expected(x.astype(dtype))
    info = np.iinfo(dtype)
    low, high = x <= info.min, x >= float(
        info.max
    )  # float(max) rounds up: still out of range or max
    result = np.where(low | high | np.isnan(x), 0, x).astype(dtype)
    result[low], result[high] = info.min, info.max
    return Expected(result)
