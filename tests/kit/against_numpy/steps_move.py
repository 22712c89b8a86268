"""steps_move.py -- the same cells elsewhere: joining, rolling, turning, reshaping, repeating,
padding."""

import numpy as np

from . import meaning, padding, values
from .compare import Expected
from .program import MAX_CELLS, Kind, register


class Join(Kind):
    """Parts of any types along an axis."""

    builder = None

    def record(self, graph, xs, args):
        return graph.with_parts(self.builder, xs, args["axis"])

    def meaning(self, xs, args):
        if abs(args["axis"]) > 32:
            raise ValueError("NumPy 1.24 takes such an axis for None")
        dtype = meaning.promoted(*xs)
        joined = getattr(np, self.builder)(
            [meaning.as_dtype(x, dtype) for x in xs], axis=args["axis"]
        )
        return Expected(joined)


@register
class Stack(Join):
    builder = "stack"

    def draw(self, maker):
        x = maker.pick(lambda i: maker.rank(i) < 9 and np.size(maker.value(i)) * 4 <= MAX_CELLS)
        if x is None:
            return None
        others = maker.find(lambda i: maker.shape(i) == maker.shape(x))
        parts = [x] + [
            maker.rng.choice(others) if maker.rng.random() < 0.5 else maker.new(maker.shape(x))
            for _ in range(maker.rng.randint(0, 3))
        ]
        if maker.wrong():
            parts.append(maker.pick())
        maker.rng.shuffle(parts)
        return parts, {"axis": maker.axis(maker.rank(x) + 1)}


@register
class Concatenate(Join):
    builder = "concatenate"

    def draw(self, maker):
        x = maker.pick(lambda i: np.size(maker.value(i)) <= MAX_CELLS / 4)
        if x is None:
            return None
        axis, shape = maker.axis(maker.rank(x)), maker.shape(x)
        parts = [x]
        for _ in range(maker.rng.randint(0, 2)):
            if -len(shape) <= axis < len(shape) and not maker.wrong():
                other = list(shape)
                other[axis] = values.draw_length(maker.rng)
                parts.append(maker.new(tuple(other)))
            else:
                parts.append(maker.pick())
        maker.rng.shuffle(parts)
        return parts, {"axis": axis}


@register
class Roll(Kind):
    weight = 2

    def draw(self, maker):
        x = maker.pick()
        axes = [maker.axis(maker.rank(x)) for _ in range(maker.rng.randint(0, 3))]
        shifts = [maker.rng.choice([0, 1, -1, 2, -3, 7, 1000, -(2**40)]) for _ in axes]
        return [x], {"shifts": shifts, "axes": axes}

    def record(self, graph, xs, args):
        return graph.roll(xs[0], args["shifts"], args["axes"])

    def meaning(self, xs, args):
        if not args["axes"]:  # an error in NumPy, by accident
            return Expected(xs[0])
        return Expected(np.roll(xs[0], tuple(args["shifts"]), tuple(args["axes"])))


@register
class CumulativeSum(Kind):
    weight = 2

    def draw(self, maker):
        x = maker.pick()
        return [x], {"axis": maker.axis(maker.rank(x))}

    def record(self, graph, xs, args):
        return graph.lib.cumulative_sum(xs[0], args["axis"])

    def meaning(self, xs, args):
        x = meaning.typed(xs[0])
        if not -x.ndim <= args["axis"] < x.ndim:
            raise IndexError("there is no such axis")
        if x.dtype not in meaning.WIDER:
            return Expected(np.cumsum(x, axis=args["axis"]))
        wide, n = x.astype(meaning.WIDER[x.dtype]), x.shape[args["axis"]]
        with np.errstate(all="ignore"):
            scale = np.cumsum(np.where(np.isfinite(wide), np.abs(wide), 0), axis=args["axis"])
            value = np.cumsum(wide, axis=args["axis"]).astype(x.dtype)
        slack = meaning.ulps(8 + 2 * int(np.log2(n + 1)), x.dtype, scale)
        free = ~(scale <= np.finfo(x.dtype).max)
        return Expected(value, slack=slack, zero_signs=False, free=free)


@register
class Permute(Kind):
    weight = 2

    def draw(self, maker):
        x = maker.pick()
        rank = maker.rank(x)
        axes = [
            axis - rank if maker.rng.random() < 0.3 else axis
            for axis in maker.rng.sample(range(rank), rank)
        ]
        if maker.wrong() and axes:
            axes[0] = maker.rng.choice([rank, axes[-1]])
        return [x], {"axes": None if maker.rng.random() < 0.25 else axes}

    def record(self, graph, xs, args):
        return graph.with_axes("permute", xs[0], args["axes"])

    def meaning(self, xs, args):
        return Expected(np.transpose(xs[0], args["axes"]))


def factors(rng, count):
    """A shape with this many cells."""
    if count == 0:
        shape = [values.draw_length(rng) for _ in range(rng.randint(0, 3))] + [0]
    else:
        shape = []
        while count > 1:
            divisor = rng.choice([d for d in range(2, count + 1) if count % d == 0])
            shape.append(divisor)
            count //= divisor
        shape += [1] * rng.choice([0, 0, 1, 2])
    rng.shuffle(shape)
    return shape


@register
class Reshape(Kind):
    weight = 3

    def draw(self, maker):
        x = maker.pick()
        shape = factors(maker.rng, int(np.size(maker.value(x))))
        if shape and maker.rng.random() < 0.4:
            shape[maker.rng.randrange(len(shape))] = -1
        if maker.wrong():
            shape.append(maker.rng.choice([-1, 2, 0, -5]))
        if maker.sizes and maker.rng.random() < 0.7:
            shape = [maker.length(n) if n > 0 else n for n in shape]
        return [x], {"shape": shape, "order": maker.rng.choice("CCF")}

    def record(self, graph, xs, args):
        return graph.reshape(xs[0], args["shape"], args["order"])

    def meaning(self, xs, args):
        shape = [int(n) for n in args["shape"]]
        if any(n < -1 for n in shape):
            raise ValueError("NumPy 1.24 takes any negative length for -1")
        return Expected(np.reshape(xs[0], shape, order=args["order"]))

    def labels(self, args):
        return ["Reshape " + args["order"]]

    def all_labels(self, lib):
        return ["Reshape C", "Reshape F"]


@register
class BroadcastTo(Kind):
    def draw(self, maker):
        x = maker.pick(lambda i: np.size(maker.value(i)) <= 60, weak=maker.rng.random() < 0.05)
        if x is None:
            return None
        shape = [values.draw_length(maker.rng) if n == 1 else n for n in maker.shape(x)]
        shape = [
            values.draw_length(maker.rng) for _ in range(maker.rng.choice([0, 0, 1, 2]))
        ] + shape
        if maker.wrong():
            shape = shape[1:] + [7]
        if np.prod(shape, dtype=float) > MAX_CELLS:
            return None
        return [x], {"shape": [maker.length(n) for n in shape]}

    def record(self, graph, xs, args):
        return graph.broadcast_to(xs[0], args["shape"])

    def meaning(self, xs, args):
        return Expected(np.broadcast_to(meaning.typed(xs[0]), [int(n) for n in args["shape"]]))


class WithAxes(Kind):
    """Builders that take an array and a list of axes."""

    builder = None

    def record(self, graph, xs, args):
        return graph.with_axes(self.builder, xs[0], args["axes"])

    def meaning(self, xs, args):
        axes = args["axes"]
        return Expected(getattr(np, self.builder)(xs[0], None if axes is None else tuple(axes)))


@register
class Squeeze(WithAxes):
    builder = "squeeze"

    def draw(self, maker):
        x = maker.pick(lambda i: 1 in maker.shape(i)) if maker.rng.random() < 0.9 else maker.pick()
        if x is None:
            return None
        ones = [axis for axis, n in enumerate(maker.shape(x)) if n == 1]
        axes = [
            axis - maker.rng.choice([0, maker.rank(x)]) for axis in ones if maker.rng.random() < 0.7
        ]
        if maker.wrong():
            axes.append(maker.axis(maker.rank(x)))
        # An axis of symbolic length is never squeezed, even if it turns out to be 1.
        return [x], {"axes": None if maker.rng.random() < 0.3 and not maker.symbolic else axes}


@register
class ExpandDims(WithAxes):
    builder = "expand_dims"

    def draw(self, maker):
        x = maker.pick(lambda i: maker.rank(i) < 9)
        if x is None:
            return None
        count = maker.rng.choice([0, 1, 1, 2, 3, 22]) if maker.rng.random() < 0.1 else 1
        rank = maker.rank(x) + count
        axes = [axis - maker.rng.choice([0, rank]) for axis in maker.rng.sample(range(rank), count)]
        if maker.wrong():
            axes.append(maker.axis(rank))
        return [x], {"axes": axes}


@register
class Flip(WithAxes):
    builder = "flip"

    def draw(self, maker):
        x = maker.pick()
        return [x], {"axes": None if maker.rng.random() < 0.3 else maker.axes(maker.rank(x))}


@register
class Tile(Kind):
    def draw(self, maker):
        x = maker.pick()
        reps = [
            maker.rng.choice([0, 1, 1, 2, 3])
            for _ in range(maker.rng.randint(0, maker.rank(x) + 1))
        ]
        if maker.wrong():
            reps.append(-1)
        if np.prod(reps, dtype=float) * np.size(maker.value(x)) > MAX_CELLS or len(reps) > 20:
            return None
        return [x], {"reps": reps}

    def record(self, graph, xs, args):
        return graph.tile(xs[0], args["reps"])

    def meaning(self, xs, args):
        if min(args["reps"], default=0) < 0:
            raise ValueError("a negative number of repetitions")
        return Expected(np.tile(xs[0], args["reps"]))


@register
class Repeat(Kind):
    def draw(self, maker):
        x = maker.pick(lambda i: np.size(maker.value(i)) * 3 <= MAX_CELLS)
        if x is None:
            return None
        count = -1 if maker.wrong() else maker.rng.choice([0, 1, 2, 3])
        return [x], {"count": count, "axis": maker.axis(maker.rank(x))}

    def record(self, graph, xs, args):
        return graph.lib.repeat(xs[0], args["count"], args["axis"])

    def meaning(self, xs, args):
        if xs[0].ndim == 0:  # DIFFERENCE: NumPy takes axis 0 of what has none
            raise ValueError("an array of rank 0 has no axis")
        if args["count"] < 0:
            raise ValueError("NumPy does not look when there are no cells")
        return Expected(np.repeat(xs[0], args["count"], args["axis"]))


STATISTICS = ("mean", "median", "minimum", "maximum")


@register
class Pad(Kind):
    """Every mode, widths also longer than the array."""

    weight = 4

    def draw(self, maker):
        rng = maker.rng
        x = maker.pick(lambda i: maker.rank(i) <= 3 and np.size(maker.value(i)) <= 60)
        if x is None:
            return None
        widths = [[rng.choice([0, 0, 1, 2, 3]) for _ in range(2)] for _ in maker.shape(x)]
        if widths and rng.random() < 0.1:
            widths[rng.randrange(len(widths))][rng.randrange(2)] = -1 if maker.wrong() else 9
        mode = rng.choice(padding.MODES)
        if maker.symbolic and 0 in maker.shape(x) and mode in STATISTICS:
            return None  # a symbolic axis that turns out to be empty: known only when it is run
        fill = None
        if mode in ("constant", "linear_ramp") and rng.random() < 0.7:
            fill = maker.number(values.draw_number(rng)) if rng.random() < 0.7 else maker.new(())
        operands = [x] if fill is None else [x, fill]
        return operands, {"widths": widths, "mode": mode}

    def record(self, graph, xs, args):
        return graph.pad(xs[0], args["widths"], args["mode"], xs[1] if len(xs) > 1 else None)

    def meaning(self, xs, args):
        return padding.pad(xs[0], args["widths"], args["mode"], xs[1] if len(xs) > 1 else 0)

    def labels(self, args):
        return ["Pad " + args["mode"]]

    def all_labels(self, lib):
        return ["Pad " + mode for mode in padding.MODES]
