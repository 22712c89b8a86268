"""steps_stencil.py -- neighbours of every cell, with a rule for each axis where they lie
outside."""

import numpy as np

import arras_ctypes

from . import meaning, padding, values
from .compare import Expected
from .program import MAX_CELLS, Kind, register

RULES = arras_ctypes.EDGE_RULES


def draw_rule(rng):
    """(rule, fill): the fill is a number, or None for 0."""
    rule = rng.choice(RULES)
    fill = rng.choice([None, rng.randint(0, 9), draw_fill(rng)]) if rule == "constant" else None
    return rule, fill


def draw_fill(rng):
    """Whole numbers fit every type here: one that does not is refused, as any untyped integer."""
    return rng.choice([values.draw_real(rng), float("nan"), 7, 100])


def shrunk(n, reach):
    """First and one past the last cell whose every neighbour exists."""
    low = max(0, -min(reach))
    return low, max(low, n - max(0, max(reach)))


def shift(x, axis, rule, fill, offset, reach):
    """The neighbours of x at an offset along one axis."""
    n = x.shape[axis]
    low, high = shrunk(n, reach) if rule == "none" else (0, n)
    index = np.arange(low, high) + offset
    if rule == "none":
        return np.take(x, index, axis=axis)
    if rule != "constant":
        return np.take(x, padding.EDGE_MAPS[rule](index, n), axis=axis) if n else x
    taken = np.take(x, np.clip(index, 0, max(n - 1, 0)), axis=axis) if n else x
    outside = ((index < 0) | (index >= n)).reshape([-1] + [1] * (x.ndim - axis - 1))
    return np.where(outside, meaning.cast(fill or 0, x.dtype).value, taken)


def neighbour(x, offsets, which, rules):
    """All axes in turn, so that where two are left the last one's fill stays."""
    rules = rules or [("none", None)] * x.ndim
    result = x
    for axis, (rule, fill) in enumerate(rules):
        reach = [offset[axis] for offset in offsets]
        result = shift(result, axis, rule, fill, offsets[which][axis], reach)
    return result.astype(x.dtype)


class Stencil(Kind):
    def draw_offsets(self, maker):
        rng = maker.rng
        x = maker.pick(lambda i: maker.rank(i) <= 4 and np.size(maker.value(i)) <= MAX_CELLS)
        if x is None:
            return None, None
        reach = rng.choice([1, 1, 2, 12])
        offsets = [
            [rng.randint(-reach, reach) for _ in maker.shape(x)] for _ in range(rng.randint(1, 4))
        ]
        rules = None if rng.random() < 0.1 else [draw_rule(rng) for _ in maker.shape(x)]
        return x, {"offsets": offsets, "rules": rules}

    def edges(self, graph, rules):
        if rules is None:
            return None
        return [(rule, None if fill is None else graph.expr_number(fill)) for rule, fill in rules]

    def labels(self, args):
        return [self.name] + ["edge " + rule for rule, _ in args["rules"] or []]

    def all_labels(self, lib):
        return [self.name] + ["edge " + rule for rule in RULES]


@register
class Neighbours(Stencil):
    weight = 3

    def draw(self, maker):
        x, args = self.draw_offsets(maker)
        return (
            None
            if x is None
            else ([x], {**args, "which": maker.rng.randrange(len(args["offsets"]))})
        )

    def record(self, graph, xs, args):
        return graph.neighbours(xs[0], args["offsets"], self.edges(graph, args["rules"]))[
            args["which"]
        ]

    def meaning(self, xs, args):
        return Expected(neighbour(xs[0], args["offsets"], args["which"], args["rules"]))


@register
class WeightedStencil(Stencil):
    weight = 2

    def draw(self, maker):
        x, args = self.draw_offsets(maker)
        if x is None:
            return None
        weights = [values.draw_real(maker.rng) for _ in args["offsets"]]
        return [x], {**args, "weights": weights}

    def record(self, graph, xs, args):
        return graph.stencil(
            xs[0], args["offsets"], args["weights"], self.edges(graph, args["rules"])
        )

    def meaning(self, xs, args):
        dtype = meaning.promoted(xs[0], 1.0)
        wide = meaning.WIDER[dtype]
        total = scale = 0
        for which, weight in enumerate(args["weights"]):
            cells = (
                neighbour(xs[0], args["offsets"], which, args["rules"]).astype(dtype).astype(wide)
            )
            term = cells * np.asarray(weight, dtype).astype(wide)
            size = meaning.size_of(term)
            total, scale = total + term, scale + np.where(np.isfinite(size), size, 0)
        free = ~(scale <= np.finfo(dtype).max)
        slack = meaning.ulps(12, dtype, scale)
        return Expected(np.asarray(total).astype(dtype), slack=slack, zero_signs=False, free=free)
