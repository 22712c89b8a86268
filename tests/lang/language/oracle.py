"""oracle.py -- what a program gives: every cell in plain NumPy, from docs/language.md and
docs/semantics.md.

The right side of an equation is evaluated at all cells at once: an index is the array of its values, a
reduction adds a place for each of its tuples.  With every value goes a bound on how far Arras may be
off: 0 where the bits are fixed; inf where anything may stand."""

import numpy as np
from against_numpy import meaning
from arras_ctypes import DTYPES

from . import whole
from .ranges import Expander, Fails, NotMeant, Ranges
from .tree import ranges_of

MOST_PLACES = 60000
MOST_CELLS = 8000 # of a result: tiles may be a few cells
TINY = 5e-324
FAR = float("inf")


class Value:
    """x: an array or a Python number; off: None, or how far each cell may be off."""

    __slots__ = ("x", "off")

    def __init__(self, x, off=None):
        if off is not None and not np.any(off):
            off = None
        self.x, self.off = x, off

    def take(self, places):
        if meaning.is_weak(self.x):
            return self
        return Value(self.x[places], None if self.off is None else self.off[places])

    def offs(self):
        return np.zeros(np.shape(self.x)) if self.off is None else self.off


def from_expected(expected):
    x = np.asarray(expected.value)
    off = np.zeros(x.shape) if expected.slack is None else np.array(
        np.broadcast_to(expected.slack, x.shape), "f8")
    if not expected.zero_signs:
        off = np.maximum(off, np.where(x == 0, TINY, 0))
    if expected.free is not None:
        off = np.where(expected.free, FAR, off)
    return Value(x, off)


def distance(a, b):
    """inf where only one is a number."""
    same = (a == b) | ((a != a) & (b != b))
    if a.dtype.kind not in "fc":
        return np.where(same, 0, FAR)
    apart = np.abs(a.astype(np.clongdouble) - b.astype(np.clongdouble)).astype("f8")
    return np.where(same, 0, np.where(np.isfinite(apart), apart, FAR))


WEAK = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "negative": lambda x: -x,
}


def elementwise(name, values):
    xs = [v.x for v in values]
    if all(meaning.is_weak(x) for x in xs):
        if name not in WEAK or abs(WEAK[name](*xs)) >= 2**62:
            raise NotMeant("numbers alone")
        return Value(WEAK[name](*xs))
    try:
        value = from_expected(meaning.elementwise(name, xs))
    except meaning.REFUSALS as refusal:
        raise NotMeant(str(refusal)) from refusal
    moved = [i for i, v in enumerate(values) if v.off is not None]
    if not moved:
        return value
    off = value.offs().copy()
    for corner in range(2 ** len(moved)):
        shifted = list(xs)
        for bit, i in enumerate(moved):
            sign = 1 if corner >> bit & 1 else -1
            shifted[i] = shift(values[i], sign)
        other = from_expected(meaning.elementwise(name, shifted))
        off = np.maximum(off, 2 * distance(value.x, other.x) + other.offs())
    for i in moved:
        off = np.where(values[i].off == FAR, FAR, off)
    return Value(value.x, off)


def shift(value, sign):
    x, off = value.x, np.where(np.isfinite(value.off), value.off, 0)
    if x.dtype.kind not in "fc":
        return x
    step = (off * (1 + 1j) if x.dtype.kind == "c" else off).astype(x.dtype)
    wanted = x + sign * step
    if x.dtype.kind == "f":  # at least the next number
        next_one = np.nextafter(x, x.dtype.type(sign * FAR), dtype=x.dtype)
        wanted = np.where((off > 0) & (wanted == x) & (off > TINY), next_one, wanted)
    return np.where(np.isfinite(x), wanted, x)


def fits(number, dtype):
    info = np.iinfo(dtype)
    return isinstance(number, int) and info.min <= number <= info.max


def cast(value, name):
    dtype = DTYPES[name]
    if meaning.is_weak(value.x):
        if dtype.kind in "iu" and not fits(value.x, dtype):
            raise NotMeant("an integer that does not fit")
        return Value(meaning.cast(value.x, dtype).value)
    result = Value(meaning.cast(value.x, dtype).value)
    if value.off is None:
        return result
    off = np.maximum(*[
        2 * distance(result.x, meaning.cast(shift(value, sign), dtype).value) for sign in (-1, 1)
    ])
    if dtype.kind in "fc":
        off = np.maximum(off, np.where(np.isfinite(value.off), value.off, 0) * 1.001)
    return Value(result.x, np.where(value.off == FAR, FAR, off))


def strong(value, n):
    """As an array of n cells, with the default type of a number."""
    x = np.broadcast_to(meaning.typed(value.x), (n,))
    return Value(x, None if value.off is None else np.broadcast_to(value.off, (n,)))


# ---- Reductions ------------------------------------------------------------------------------------


def eps_of(dtype):
    return float(np.finfo(dtype).eps) * (2 if dtype.kind == "c" else 1)


def total_type(dtype):
    return np.dtype({"b": "i8", "i": "i8", "u": "u8"}.get(dtype.kind, dtype))


def wide(x):
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def total(x, off, of_product):
    dtype = total_type(x.dtype)
    if dtype.kind in "iu":
        return x.astype(dtype).sum(dtype=dtype), np.max(off, initial=0)
    if not np.isfinite(x).all():
        doubtful = of_product or np.abs(wide(x[np.isfinite(x)])).sum() > np.finfo(dtype).max / 4
        parts = np.concatenate([x.real, x.imag])  # of a complex number one may be finite
        slack = np.abs(parts[np.isfinite(parts)]).sum() * eps_of(dtype) * len(x) if dtype.kind == "c" else 0
        return x.sum(dtype=dtype), FAR if doubtful or (off == FAR).any() else slack
    size = np.abs(wide(x)).sum()
    if size > np.finfo(dtype).max / 4:
        return x.sum(dtype=dtype), FAR
    slack = float(size) * eps_of(dtype) * (len(x) + 2) if len(x) > 1 or of_product else 0
    tiny = float(np.finfo(dtype).smallest_subnormal) * (len(x) + 1)
    return wide(x).sum().astype(dtype), slack + off.sum() + tiny


def product(x, off, _):
    dtype = total_type(x.dtype)
    if dtype.kind in "iu":
        return np.prod(x.astype(dtype), dtype=dtype), np.max(off, initial=0)
    value = np.prod(wide(x)).astype(dtype)
    size = np.abs(wide(x))
    if not np.isfinite(x).all() or (size == 0).any():
        return np.prod(x, dtype=dtype), FAR if (off > 0).any() or not np.isfinite(value) else TINY
    steps = np.abs(np.log2(size)).sum()
    if steps > -np.finfo(dtype).minexp - 8:
        return value, FAR
    relative = (off / size.astype("f8")).sum() * 2 + eps_of(dtype) * (2 * len(x) + 2)
    return value, float(np.abs(value)) * relative


def mean(x, off, _):
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype("f8")
    if len(x) == 0:
        return dtype.type(np.nan), FAR if dtype.kind == "c" else 0
    if x.dtype.kind not in "fc":
        exact = sum(int(v) for v in x)
        size = float(sum(abs(int(v)) for v in x)) / len(x)
        return dtype.type(exact / len(x)), size * 2.3e-16 * (len(x) + 2) + np.max(off)
    value, slack = total(x, off, True)
    return (value / dtype.type(len(x))).astype(dtype), 2 * slack / len(x) + float(
        np.abs(value)) / len(x) * eps_of(dtype) + TINY


def spread(word, ddof=0):
    """The variance, or its root."""
    def meant(x, off, _):
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype("f8")
        cells, eps = wide(x), eps_of(dtype) * (len(x) + 8)
        if len(x) <= ddof:
            return dtype.type(np.nan), 0 if ddof == 0 else FAR
        if (off == FAR).any() or not np.isfinite(cells).all():
            return dtype.type(np.nan), FAR
        size, most = float(np.abs(cells).max()), float(np.max(off))
        if size > np.sqrt(float(np.finfo(dtype).max)) / (len(x) + 1):
            return dtype.type(np.nan), FAR
        value = dtype.type(getattr(np, word)(cells, ddof=ddof))
        slack = eps * size**2 * 4 + (4 * size + most) * most * len(x) / (len(x) - ddof)
        if word == "std":  # the root of a number near 0 is off by the root of that
            slack = min(slack / max(float(value), 1e-300), np.sqrt(slack)) + eps * float(value)
        return value, slack + TINY

    return meant


def extreme(function):
    def meant(x, off, _):
        if len(x) == 0:
            raise Fails("the largest of nothing")
        value = function(x)
        if x.dtype.kind == "c" and np.isnan(x).any():
            return value, FAR
        zero = TINY if x.dtype.kind in "fc" and value == 0 else 0
        return value, max(np.max(off), zero)

    return meant


def place(function):
    def meant(x, off, _):
        if len(x) == 0:
            raise Fails("the place of the largest of nothing")
        at = function(x)
        others = np.delete(np.arange(len(x)), at)
        unsure = False
        if off.any() and len(others):
            near = distance(x[others], np.broadcast_to(x[at], others.shape))
            unsure = (near <= 2 * (off[others] + off[at])).any() or x.dtype.kind == "c"
        if x.dtype.kind == "c" and np.isnan(x).any():
            unsure = True
        return np.int64(at), FAR if unsure else 0

    return meant


def truth(function):
    return lambda x, off, _: (function(x != 0), FAR if off.any() and (
        off == FAR).any() or x.dtype.kind in "fc" and (np.abs(x) <= off)[off > 0].any() else 0)


REDUCTIONS = {
    "sum": total,
    "prod": product,
    "mean": mean,
    "var": spread("var"),
    "std": spread("std"),
    "min": extreme(np.min),
    "max": extreme(np.max),
    "argmin": place(np.argmin),
    "argmax": place(np.argmax),
    "all": truth(lambda x: np.bool_(x.all())),
    "any": truth(lambda x: np.bool_(x.any())),
    "count": truth(lambda x: np.int64(np.count_nonzero(x))),
    "count_nonzero": truth(lambda x: np.int64(np.count_nonzero(x))),
}


def result_type(word, dtype):
    if word in ("all", "any"):
        return np.dtype("?")
    if word.startswith(("arg", "count")):
        return np.dtype("i8")
    if word in ("mean", "var", "std"):
        return dtype if dtype.kind in "fc" else np.dtype("f8")
    return total_type(dtype) if word in ("sum", "prod") else dtype


def reduce_groups(word, value, counts, of_product=False, ddof=0):
    """One cell for each group of so many consecutive ones."""
    meant = spread(word, ddof) if ddof else REDUCTIONS[word]
    ends = np.cumsum(counts)
    offs = value.offs()
    out = np.empty(len(counts), result_type(word, value.x.dtype))
    off = np.zeros(len(counts))
    for i, (count, end) in enumerate(zip(counts, ends)):
        part = slice(end - count, end)
        out[i], off[i] = meant(value.x[part], offs[part], of_product)
    return Value(out, off)


# ---- Edges -----------------------------------------------------------------------------------------


def settle(position, length, rule):
    """Positions inside, and a mask of those outside that have the number of the edge."""
    outside = np.array((position < 0) | (position >= length), bool)
    none = np.zeros(len(position), bool)
    if rule in (None, "none"):
        if outside.any():
            raise Fails("outside")
        return position, none
    if not isinstance(rule, str):
        return np.where(outside, 0, position), outside
    if length == 0 and len(position):
        raise NotMeant("an edge of nothing")
    if rule == "nearest":
        settled = [min(max(int(p), 0), length - 1) for p in position]
    elif rule == "wrap":
        settled = [int(p) % length for p in position]
    elif rule == "mirror":
        period = max(1, 2 * length - 2)
        settled = [min(int(p) % period, period - int(p) % period) for p in position]
        settled = [min(s, length - 1) for s in settled]
    else:
        settled = [min(int(p) % (2 * length), 2 * length - 1 - int(p) % (2 * length)) for p in position]
    return np.array(settled, "i8"), none


# ---- Cells -----------------------------------------------------------------------------------------


class World:
    """Arrays by name, rules of their edges, and the values of params."""

    def __init__(self, program):
        self.program, self.arrays, self.busy = program, {}, set()
        self.equations = {e.name: e for e in program.equations}
        self.own = None  # the equation that is evaluated: its name is the input's in it
        self.inputs = {name: Value(x) for name, x in program.inputs.items()}

    def array(self, name):
        if name in self.equations and name != self.own:
            if name not in self.arrays:
                self.arrays[name] = evaluate_equation(self, self.equations[name])
            return self.arrays[name]
        return self.inputs[name]

    def length(self, name, axis):
        """axis None: the value of a param, known before the program runs."""
        if axis is not None and meaning.is_weak(self.array(name).x):
            raise NotMeant("the length of a number")
        if axis is None:
            return self.scalar(name).x if name in self.program.params else None
        return self.array(name).x.shape[axis]

    def rules(self, name):
        rank = np.ndim(self.array(name).x)
        rules = self.program.edges.get(name, (None,) * rank)
        return rules if len(rules) == rank else rules * rank

    def axis(self, node, axis):
        if node.kind == "cells":
            return whole.evaluate(self, node.kids[0]).x.shape[axis], None
        return self.length(node.value, axis), self.rules(node.value)[axis]

    def scalar(self, name):
        if name in self.program.params:
            given, replaced = self.program.params[name]
            return Value(given if replaced is None else replaced)
        return self.array(name)


class Places:
    """The cells at which an expression is evaluated: values of the indices there."""

    def __init__(self, world, boxes, indices, n):
        self.world, self.boxes, self.indices, self.n = world, boxes, indices, n

    def take(self, places):
        indices = {name: x[places] for name, x in self.indices.items()}
        return Places(self.world, self.boxes, indices, len(places))

    def with_index(self, name, counts, start):
        """Each place once for each value of another index."""
        if sum(int(c) for c in counts) > MOST_PLACES:
            raise NotMeant("too many places")
        parents = np.repeat(np.arange(self.n), counts)
        inner = self.take(parents)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        inner.indices[name] = np.arange(len(parents)) - first + start[parents]
        return inner, parents


def integers(value, n):
    """Python's integers if they need more than 63 bits."""
    x = np.broadcast_to(np.asarray(value.x), (n,))
    if value.off is not None and (value.off == FAR).any():
        raise NotMeant("a place that is not known")
    if x.dtype.kind == "f":
        if value.off is not None or not (np.abs(x) < 2**53).all():
            raise NotMeant("a place that is not known")
        return x.astype("i8")
    if x.dtype.kind not in "biu":
        raise NotMeant("not an index")
    return x.astype(object) if x.dtype == "u8" else x.astype("i8")


def bound(value, n):
    if np.asarray(value.x).dtype.kind not in "iu":
        raise NotMeant("a bound has to be an integer")
    return integers(value, n)


ROUNDED = ("floor", "ceil", "round")


def evaluate(node, at):
    """The value of an expanded tree at these places; numbers stay Python's."""
    return globals()["cell_" + node.kind](node, at)


def cell_number(node, at):
    if isinstance(node.value, bool):
        return Value(np.full(at.n, node.value))
    return Value(node.value)


def cell_size(node, at):
    return Value(at.world.length(*node.value))


def cell_var(node, at):
    return Value(at.indices[node.value])


def cell_scalar(node, at):
    value = at.world.scalar(node.value)
    return value if meaning.is_weak(value.x) else Value(*[
        None if part is None else np.broadcast_to(part, (at.n,)) for part in (value.x, value.off)
    ])


def cell_whole(node, at):
    value = whole.evaluate(at.world, node)
    if np.ndim(value.x):
        raise NotMeant("one cell is needed")
    return Value(np.broadcast_to(value.x, (at.n,)),
                 None if value.off is None else np.broadcast_to(value.off, (at.n,)))


cell_part = cell_whole


def cell_op(node, at):
    values = [evaluate(kid, at) for kid in node.kids]
    if node.value == "clip":
        return elementwise("minimum", [elementwise("maximum", values[:2]), values[2]])
    return elementwise(node.value, values)


def cell_cast(node, at):
    value = cast(evaluate(node.kids[0], at), node.value)
    return value if np.ndim(value.x) else strong(value, at.n)


def cell_choose(node, at):
    condition = evaluate(node.kids[0], at)
    if meaning.is_weak(condition.x):
        raise NotMeant("a condition that is a number")
    condition = cast(condition, "bool")
    if condition.off is not None and condition.off.any():
        raise NotMeant("a choice that is not known")
    sides = [np.flatnonzero(condition.x), np.flatnonzero(~condition.x)]
    values = [evaluate(kid, at.take(side)) for kid, side in zip(node.kids[1:], sides)]
    try:
        dtype = meaning.promoted(*[v.x for v in values])
    except meaning.REFUSALS as refusal:
        raise NotMeant(str(refusal)) from refusal
    out, off = np.zeros(at.n, dtype), np.zeros(at.n)
    for side, value in zip(sides, values):
        out[side] = meaning.as_dtype(value.x, dtype)
        off[side] = 0 if value.off is None else value.off
    return Value(out, off)


def cell_load(node, at):
    name = node.value
    return read(at.world.array(name), at.world.rules(name), node.kids, at)


def cell_cells(node, at):
    array = whole.evaluate(at.world, node.kids[0])
    return read(array, (None,) * np.ndim(array.x), node.kids[1:], at)


def read(array, rules, indices, at):
    if len(indices) != np.ndim(array.x) or meaning.is_weak(array.x):
        raise NotMeant("another number of axes")
    positions, filled = [], np.zeros(at.n, bool)
    number = np.zeros(at.n, array.x.dtype)
    for index, length, rule in zip(indices, array.x.shape, rules):
        value = evaluate(index, at)
        real = not meaning.is_weak(value.x) and value.x.dtype.kind == "f"
        if real and not (index.kind == "op" and index.value in ROUNDED):
            raise NotMeant("a real index")
        position, outside = settle(integers(value, at.n), length, rule)
        positions.append(np.asarray(position, "i8"))
        if outside.any():
            filled |= outside
            number[outside] = np.asarray(rule).astype(array.x.dtype)
    if filled.any() or 0 in array.x.shape:
        if not filled.all() and 0 in array.x.shape:
            raise NotMeant("a cell of nothing")
        positions = tuple(p[~filled] for p in positions)
        number[~filled] = array.x[positions]
        off = np.zeros(at.n)
        off[~filled] = 0 if array.off is None else array.off[positions]
        return Value(number, off)
    return array.take(tuple(positions))


def cell_reduce(node, at):
    world, word = at.world, node.value[0]
    inner, parents, ranges = at, np.arange(at.n), ranges_of(node)
    for name, low, high in ranges:
        box = at.boxes.get(name)
        if box is not None:
            start, stop = (np.full(inner.n, end, "i8") for end in box)
        else:
            start, stop = (bound(evaluate(end, inner), inner.n) for end in (low, high))
            if any(len(e) and max(abs(int(v)) for v in e) > 2**62 for e in (start, stop)):
                raise NotMeant("a range that long")
            start, stop = start.astype("i8"), stop.astype("i8")
        counts = np.maximum(stop - start, 0)
        inner, outer = inner.with_index(name, counts, start)
        parents = parents[outer]
    value = strong(evaluate(node.kids[-1], inner), inner.n)
    counts = np.bincount(parents, minlength=at.n)
    body = node.kids[-1]
    of_product = body.kind == "op" and body.value in ("multiply", "pow")
    result = reduce_groups(word, value, counts, of_product)
    if word.startswith("arg") and len(ranges) == 1:
        first = np.cumsum(counts) - counts
        result = Value(inner.indices[ranges[0][0]][first + result.x], result.off)
    return result


# ---- Equations -------------------------------------------------------------------------------------


def evaluate_equation(world, equation):
    if equation.name in world.busy:
        raise NotMeant("defined by itself")
    world.busy.add(equation.name)
    before, world.own = world.own, equation.name
    try:
        if equation.indices is None:
            value = whole.evaluate_all(world, equation.body)
            if np.size(value.x) > MOST_CELLS:
                raise NotMeant("too many cells")
            return value
        return evaluate_cells(world, equation)
    finally:
        world.own = before
        world.busy.discard(equation.name)


def evaluate_cells(world, equation):
    expander = Expander(world.program.functions)
    body = expander.expand(equation.body, {})
    names = [name for name, _, _ in equation.indices]
    ranges = Ranges(world, equation.indices, body, expander.around)
    boxes = [ranges.boxes[name] for name in names]
    shape = [stop - start for start, stop in boxes]
    n = int(np.prod(shape, dtype="i8")) if shape else 1
    if n > MOST_PLACES:
        raise NotMeant("too many cells")
    grid = np.indices(shape).reshape(len(shape), n) if shape else []
    indices = {name: cells + box[0] for name, cells, box in zip(names, grid, boxes)}
    value = strong(evaluate(body, Places(world, ranges.boxes, indices, n)), n)
    return Value(value.x.reshape(shape),
                 None if value.off is None else value.off.reshape(shape))


def evaluate_program(program):
    """{result: Value}; Fails where it has to be refused."""
    world = World(program)
    with np.errstate(all="ignore"):
        return {name: result(world.array(name)) for name in program.results()}


def result(value):
    """A number that is a result has the default type of its kind."""
    return Value(meaning.typed(value.x), value.off)


def wrong(got, want):
    """None, or how an array differs from what it must be."""
    if got.dtype != want.x.dtype or got.shape != want.x.shape:
        return f"{got.dtype}{list(got.shape)}, wanted {want.x.dtype}{list(want.x.shape)}"
    off = np.zeros(got.shape) if want.off is None else np.asarray(want.off)
    with np.errstate(all="ignore"):
        same = got == want.x
        if got.dtype.kind in "fc":
            same = alike(got, want.x, off)
        bad = ~same & ~(off == FAR)
    if not bad.any():
        return None
    cell = tuple(int(i) for i in np.argwhere(bad)[0])
    return (f"{int(bad.sum())} of {bad.size} cells differ, first [{', '.join(map(str, cell))}]: "
            f"{got[cell]!r}, wanted {want.x[cell]!r} within {off[cell]:.3g}")


def alike(got, want, off):
    same = np.ones(got.shape, bool)
    for part in ("real", "imag"):
        a, b = getattr(got, part), getattr(want, part)
        near = (a == b) & ((np.signbit(a) == np.signbit(b)) | (off > 0) | (got.dtype.kind == "c"))
        near |= (a != a) & (b != b)
        near |= np.abs(a.astype(np.longdouble) - b.astype(np.longdouble)) <= off
        same &= near
    return same
