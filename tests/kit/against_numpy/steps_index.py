"""steps_index.py -- what stands between brackets: numbers, slices, new axes, an ellipsis, index
arrays."""

import numpy as np

from .compare import Expected
from .program import MAX_CELLS, Kind, register


def draw_slice(maker, n):
    rng = maker.rng

    def bound():
        return None if rng.random() < 0.35 else rng.randint(-n - 2, n + 2)

    step = rng.choice([1, 1, 1, 2, 3, -1, -1, -2, -3, 100, -(2**62)])
    return slice(bound(), bound(), 0 if maker.wrong() else rng.choice([None, step, step]))


def draw_at(maker, n):
    if n == 0 or maker.wrong():
        return maker.rng.choice([n, -n - 1, 2**40])
    return maker.rng.randrange(-n, n)


def add_extras(maker, items, rank):
    """An ellipsis for a run of axes, and new axes here and there."""
    rng = maker.rng
    if rng.random() < 0.35:
        at = rng.randint(0, len(items))
        items[at : at + rng.randint(0, 2)] = [Ellipsis]
    elif rng.random() < 0.4:
        del items[rng.randint(0, len(items)) :]
    while rng.random() < 0.25:
        items.insert(rng.randint(0, len(items)), None)
    if maker.wrong():
        items += [rng.choice([Ellipsis, 0, slice(None)])] * 2


@register
class Index(Kind):
    """Basic indices."""

    weight = 6

    def draw(self, maker):
        x = maker.pick()
        items = [
            draw_at(maker, n) if maker.rng.random() < 0.2 else draw_slice(maker, n)
            for n in maker.shape(x)
        ]
        add_extras(maker, items, maker.rank(x))
        return [x], {"items": items}

    def record(self, graph, xs, args):
        return graph.index(xs[0], args["items"])

    def meaning(self, xs, args):
        return Expected(np.array(xs[0][tuple(args["items"])]))


@register
class Gather(Kind):
    """Index arrays among numbers, slices and new axes; indices given, or computed by earlier
    steps."""

    weight = 6

    def index_array(self, maker, n, shape):
        """Integers within -n..n-1; rarely one outside, which is found when the program is run."""
        rng = maker.rng
        dtype = np.dtype(rng.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]))
        low = 0 if dtype.kind == "u" else -n
        cells = [rng.randrange(low, n) if n else 0 for _ in range(int(np.prod(shape)))]
        if cells and maker.wrong():
            cells[rng.randrange(len(cells))] = rng.choice([n, n + 100] + ([-n - 1] if low else []))
        return maker.leaf(np.array(cells, dtype).reshape(shape))

    def computed(self, maker, n, shape):
        """An earlier integer array taken modulo the length."""
        found = maker.pick(lambda i: maker.dtype(i).kind in "iu" and maker.shape(i) == shape)
        if found is None or n == 0:
            return None
        from .steps_elementwise import Elementwise

        at = maker.add(
            Elementwise(), [found, maker.number(n)], {"op": "remainder", "by_number": False}
        )
        return None if maker.steps[at].refusal else at

    def draw(self, maker):
        rng = maker.rng
        x = maker.pick(lambda i: 0 < maker.rank(i) < 8)
        if x is None:
            return None
        common = tuple(rng.choice([0, 1, 2, 3]) for _ in range(rng.choice([0, 1, 1, 2, 3])))
        items, operands = [], [x]
        chosen = rng.randrange(maker.rank(x))
        for axis, n in enumerate(maker.shape(x)):
            if axis == chosen or rng.random() < 0.35:
                shape = maker.partner_shape(common) if rng.random() < 0.3 else common
                index = self.computed(maker, n, shape) if rng.random() < 0.3 else None
                operands.append(self.index_array(maker, n, shape) if index is None else index)
                items.append(len(operands) - 1)
            else:
                items.append(
                    ("at", draw_at(maker, n)) if rng.random() < 0.25 else draw_slice(maker, n)
                )
        add_extras(maker, items, maker.rank(x))
        if np.prod(common, dtype=float) * np.size(maker.value(x)) > MAX_CELLS:
            return None
        return operands, {"items": items}

    def items(self, xs, args, pick):
        """Numbers stand for operands here, and ("at", i) for a number."""
        for item in args["items"]:
            if isinstance(item, tuple):
                yield item[1]
            else:
                yield pick(xs[item]) if isinstance(item, int) else item

    def record(self, graph, xs, args):
        return graph.index(xs[0], list(self.items(xs, args, lambda x: (x,))))

    def meaning(self, xs, args):
        items = tuple(self.items(xs, args, lambda x: x))
        self.check_bounds(xs[0], items)
        return Expected(np.array(xs[0][items]))

    def check_bounds(self, x, items):
        """DIFFERENCE: NumPy does not look at indices when the result is empty."""
        axis = 0
        given = sum(item is not None and item is not Ellipsis for item in items)
        for item in items:
            if item is Ellipsis:
                axis += x.ndim - given
            elif item is not None:
                n = x.shape[axis] if axis < x.ndim else 0
                if isinstance(item, np.ndarray) and any(not -n <= int(i) < n for i in item.ravel()):
                    raise IndexError("an index is out of bounds")
                axis += 1
