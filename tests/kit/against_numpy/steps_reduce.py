"""steps_reduce.py -- fewer cells from more: every reduction of the table, mean, var, std."""

import numpy as np

from . import meaning, values
from .compare import Expected
from .program import Kind, register


def axes_last(x, axes):
    """The cells of each reduction as one last axis, in row-major order, and the axes as numbers
    >= 0."""
    axes = range(x.ndim) if axes is None else axes
    axes = [axis + x.ndim if -x.ndim <= axis < 0 else axis for axis in axes]
    if any(not 0 <= axis < x.ndim for axis in axes) or len(set(axes)) < len(axes):
        raise ValueError("an axis does not exist or is given twice")
    axes = sorted(axes)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return x.transpose(kept + axes).reshape([x.shape[axis] for axis in kept] + [count]), axes


def with_kept_axes(result, axes, keepdims):
    for axis in axes if keepdims else []:
        result = np.expand_dims(result, axis)
    return result


def count_units(n):
    """Units in the last place that a tree of n roundings and its operands may lose."""
    return 8 + 2 * int(np.log2(n + 1))


def overflows(scale, dtype):
    """Where parts of a sum or product may leave the range of the type, which its order decides."""
    return ~(np.abs(scale) <= np.finfo(dtype).max)


def near_sum(cells):
    """The sum over the last axis in a wider type, and what rounding may make of it."""
    wide = cells.astype(meaning.WIDER[cells.dtype])
    total, scale = wide.sum(axis=-1), meaning.size_of(wide)
    scale = np.where(np.isfinite(scale), scale, 0).sum(axis=-1)
    slack = meaning.ulps(count_units(cells.shape[-1]), cells.dtype, scale)
    free = overflows(scale, cells.dtype)
    return Expected(total.astype(cells.dtype), slack=slack, zero_signs=False, free=free)


def near_product(cells):
    wide = cells.astype(meaning.WIDER[cells.dtype])
    total, finite = wide.prod(axis=-1), np.isfinite(cells)
    sizes = np.where(finite & (cells != 0), np.abs(wide), 1)
    info = np.finfo(cells.dtype)
    free = (np.maximum(sizes, 1).prod(axis=-1) > info.max) | (
        np.minimum(sizes, 1).prod(axis=-1) < info.tiny
    )
    if cells.dtype.kind == "c":  # parts of infinite products depend on the order
        free |= ~finite.all(axis=-1)
    slack = meaning.ulps(2 * cells.shape[-1] + 4, cells.dtype, np.abs(total))
    return Expected(total.astype(cells.dtype), slack=slack, zero_signs=False, free=free)


def place(function):
    def reduction(cells):
        if cells.shape[-1] == 0 and cells.size == 0 and 0 in cells.shape[:-1]:
            return Expected(np.zeros(cells.shape[:-1], "i8"))
        return Expected(function(cells, axis=-1))

    return reduction


def ordered(function):
    def reduction(cells):
        # DIFFERENCE: an empty result needs no cells to choose from.
        if cells.shape[-1] == 0 and 0 in cells.shape[:-1]:
            return Expected(np.zeros(cells.shape[:-1], cells.dtype))
        return Expected(function(cells, axis=-1), zero_signs=False)

    return reduction


def summed(function, near):
    def reduction(cells):
        return near(cells) if cells.dtype in meaning.WIDER else Expected(function(cells, axis=-1))

    return reduction


# Over the last axis.  What is not here is NumPy's under its own name, exactly.
REDUCTIONS = {
    "sum": summed(np.sum, near_sum),
    "prod": summed(np.prod, near_product),
    "min": ordered(np.min),
    "max": ordered(np.max),
    "argmin": place(np.argmin),
    "argmax": place(np.argmax),
    "count_nonzero": lambda cells: Expected(np.asarray(np.count_nonzero(cells, axis=-1), "i8")),
}
COMBINE = {
    "sum": "add",
    "prod": "multiply",
    "min": "minimum",
    "max": "maximum",
    "all": "logical_and",
    "any": "logical_or",
    "count_nonzero": "add",
}


def reduction_of(name):
    if name in REDUCTIONS:
        return REDUCTIONS[name]
    function = getattr(np, name, None)
    if function is None:
        raise meaning.NoCounterpart(
            f"no NumPy counterpart is known for the reduction '{name}': "
            "add one to REDUCTIONS in tests/kit/against_numpy/steps_reduce.py"
        )
    return lambda cells: Expected(function(cells, axis=-1))


def with_initial(name, cells, initial):
    """The initial value is one more cell; it may not change the type.
    DIFFERENCE: NumPy casts it, whatever is lost, and knows it for four reductions only."""
    if name in ("argmin", "argmax"):
        raise TypeError("takes no initial value")
    dtype = reduction_of(name)(np.ones(cells.shape[:-1] + (1,), cells.dtype)).value.dtype
    if meaning.promoted(np.empty(0, dtype), initial) != dtype:
        raise TypeError("the initial value does not fit")
    first = meaning.as_dtype(initial, dtype)
    if name == "count_nonzero":
        expected = reduction_of(name)(cells)
        expected.value = expected.value + first
        return expected
    first = np.broadcast_to(first, cells.shape[:-1] + (1,))
    return reduction_of(name)(np.concatenate([first, cells.astype(dtype)], axis=-1))


def reduce(name, x, axes, keepdims, initial=None):
    cells, axes = axes_last(meaning.typed(x), axes)
    expected = reduction_of(name)(cells) if initial is None else with_initial(name, cells, initial)
    for part in ("value", "slack", "free"):
        array = getattr(expected, part)
        if array is not None:
            setattr(expected, part, with_kept_axes(np.asarray(array), axes, keepdims))
    return expected


@register
class Reduce(Kind):
    """Every reduction, over any axes, with and without an initial value."""

    weight = 9

    def draw(self, maker):
        rng = maker.rng
        x = maker.pick(weak=rng.random() < 0.05)
        axes = None if rng.random() < 0.25 else maker.axes(maker.rank(x))
        operands = [x]
        if rng.random() < 0.3:
            how = rng.random()
            dtype = maker.dtype(x) if how < 0.7 else values.draw_dtype(rng)
            array = values.draw_array(rng, dtype, () if not maker.wrong() else (1,))
            operands.append(maker.number() if how < 0.4 else maker.leaf(array))
        args = {
            "name": rng.choice(maker.lib.reductions),
            "axes": axes,
            "keepdims": rng.random() < 0.4,
        }
        return operands, args

    def record(self, graph, xs, args):
        return graph.reduce(args["name"], xs[0], args["axes"], args["keepdims"], *xs[1:])

    def meaning(self, xs, args):
        if len(xs) > 1 and np.ndim(xs[1]) > 0:
            raise ValueError("the initial value is not of rank 0")
        return reduce(args["name"], xs[0], args["axes"], args["keepdims"], *xs[1:])

    def labels(self, args):
        return ["reduction " + args["name"]]

    def all_labels(self, lib):
        return ["reduction " + name for name in lib.reductions]


def statistic(name, x, axes, keepdims, ddof):
    """mean, var and std in a wider type."""
    x = meaning.typed(x)
    dtype = x.dtype if x.dtype in meaning.WIDER else np.dtype("f8")
    cells, axes = axes_last(x.astype(dtype), axes)
    wide = cells.astype(meaning.WIDER[dtype])
    count, size = np.longdouble(cells.shape[-1]), np.abs(wide)
    value = np.sum(wide, axis=-1) / count
    largest = np.max(size, axis=-1, initial=0)
    if name != "mean":
        squares = np.abs(wide - value[..., np.newaxis]) ** 2
        left = np.maximum(count - ddof, 0)
        value, dtype = np.sum(squares, axis=-1) / left, np.empty(0, dtype).real.dtype
        largest = np.where(left > 0, largest**2 * count / np.maximum(left, 1), largest)
    slack = meaning.ulps(count_units(cells.shape[-1]), dtype, largest)
    if name == "std":
        root = np.sqrt(value)
        slack = np.maximum(meaning.ulps(8, dtype, root), np.minimum(np.sqrt(slack), slack / root))
        value = root
    free = np.isfinite(cells).all(axis=-1) & (overflows(largest * count, dtype) | (count <= ddof))
    return [
        with_kept_axes(np.asarray(part), axes, keepdims)
        for part in (value.astype(dtype), slack, free)
    ]


@register
class Statistic(Kind):
    """mean, var, std."""

    weight = 3

    def draw(self, maker):
        rng = maker.rng
        x = maker.pick()
        axes = None if rng.random() < 0.25 else maker.axes(maker.rank(x))
        name = rng.choice(["mean", "var", "std"])
        ddof = rng.choice([0, 0, 1, 2, 9]) if name != "mean" else 0
        return [x], {"name": name, "axes": axes, "keepdims": rng.random() < 0.4, "ddof": ddof}

    def record(self, graph, xs, args):
        return graph.statistic(args["name"], xs[0], args["axes"], args["keepdims"], args["ddof"])

    def meaning(self, xs, args):
        value, slack, free = statistic(
            args["name"], xs[0], args["axes"], args["keepdims"], args["ddof"]
        )
        return Expected(value, slack=np.nan_to_num(slack), zero_signs=False, free=free)

    def labels(self, args):
        return [args["name"]]

    def all_labels(self, lib):
        return ["mean", "var", "std"]
