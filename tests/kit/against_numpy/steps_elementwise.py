"""steps_elementwise.py -- cell by cell: every operation of the table, cast, clip."""

import numpy as np

from . import meaning, values
from .compare import Expected
from .program import Kind, register


@register
class Elementwise(Kind):
    """Every operation, by its own function or by arras_apply."""

    weight = 22

    def draw(self, maker):
        op = maker.rng.choice(sorted(maker.lib.arity))
        operands = [maker.pick(weak=maker.rng.random() < 0.2)]
        while len(operands) < maker.lib.arity[op]:
            operands.append(maker.partner(operands[0]))
        maker.rng.shuffle(operands)
        if op == "where" and maker.rng.random() < 0.2:
            operands[1:] = [maker.number(), maker.number()]
        return operands, {"op": op, "by_number": maker.rng.random() < 0.3}

    def record(self, graph, xs, args):
        return (graph.apply if args["by_number"] else graph.op)(args["op"], *xs)

    def meaning(self, xs, args):
        return meaning.elementwise(args["op"], xs)

    def gives_weak(self, xs, args):
        """Untyped numbers alone give an untyped number, but for what is true or false."""
        if not all(meaning.is_weak(x) for x in xs):
            return False
        return meaning.elementwise(args["op"], xs).value.dtype != bool

    def labels(self, args):
        return ["op " + args["op"]]

    def all_labels(self, lib):
        return ["op " + op for op in lib.arity]


@register
class Cast(Kind):
    weight = 3

    def draw(self, maker):
        return [maker.pick(weak=maker.rng.random() < 0.1)], {"dtype": values.draw_dtype(maker.rng)}

    def record(self, graph, xs, args):
        return graph.cast(xs[0], args["dtype"])

    def meaning(self, xs, args):
        return meaning.cast(xs[0], args["dtype"])


def clip(x, lo, hi):
    """The upper bound wins where the bounds cross, as in NumPy."""
    bounds = [bound for bound in (lo, hi) if bound is not None]
    dtype = meaning.promoted(x, *bounds)
    value = meaning.as_dtype(x, dtype)
    if lo is not None:
        value = np.maximum(value, meaning.as_dtype(lo, dtype))
    if hi is not None:
        value = np.minimum(value, meaning.as_dtype(hi, dtype))
    return Expected(value, zero_signs=False)


@register
class Clip(Kind):
    def draw(self, maker):
        x = maker.pick()
        lo, hi = [maker.partner(x) if maker.rng.random() < 0.75 else None for _ in range(2)]
        operands = [x] + [bound for bound in (lo, hi) if bound is not None]
        return operands, {"lo": lo is not None, "hi": hi is not None}

    def split(self, xs, args):
        rest = list(xs[1:])
        lo = rest.pop(0) if args["lo"] else None
        return xs[0], lo, rest.pop(0) if args["hi"] else None

    def record(self, graph, xs, args):
        return graph.lib.clip(*self.split(xs, args))

    def meaning(self, xs, args):
        return clip(*self.split(xs, args))
