"""program.py -- a random program: steps, each an operation on earlier ones, and how they are drawn.

A Kind knows three things about one builder of the library: how to draw arguments for it, how to
record it, and what it means in NumPy.  While a program is drawn every step is computed by NumPy
too, so that later steps know the shapes and types they work on."""

import numpy as np

from . import values
from .meaning import REFUSALS, Inexact, is_weak

MAX_CELLS = 400
KINDS = []


class Kind:
    """One builder.  `labels` are counted: a run must have used each of `all_labels`."""

    weight = 1

    @property
    def name(self):
        return type(self).__name__

    def draw(self, maker):
        """(operands, args), or None when nothing fits."""
        raise NotImplementedError

    def record(self, graph, xs, args):
        raise NotImplementedError

    def meaning(self, xs, args):
        raise NotImplementedError

    def gives_weak(self, xs, args):
        return False

    def labels(self, args):
        return [self.name]

    def all_labels(self, lib):
        return [self.name]


def register(kind_class):
    KINDS.append(kind_class())
    return kind_class


class Step:
    """value: what NumPy gives, as an array or an untyped number; None when NumPy refuses.
    skipped: NumPy's value is not fixed well enough to be compared."""

    def __init__(self, kind, operands, args):
        self.kind, self.operands, self.args = kind, operands, args
        self.value, self.refusal, self.skipped = None, None, False

    def expected(self, xs):
        with np.errstate(all="ignore"):
            return self.kind.meaning(xs, self.args)

    def compute(self, xs):
        try:
            value = self.expected(xs).value
            self.value = value.item() if self.kind.gives_weak(xs, self.args) else value
        except REFUSALS as refusal:
            self.refusal = refusal
        except Inexact as inexact:
            self.refusal, self.skipped = inexact, True

    def describe(self):
        args = ", ".join(f"{key}={value!r}" for key, value in self.args.items())
        return f"{self.kind.name}({', '.join(f's{i}' for i in self.operands)}; {args})"


class Leaf(Kind):
    """An array or a number that is given: bound by name, copied, borrowed or untyped."""

    def record(self, graph, xs, args):
        value, how = args["value"], args["how"]
        if how == "number":
            return graph.number(value)
        if how == "input":
            return graph.placeholder(args["name"], value.dtype, args["shape"])
        return getattr(graph, how)(value)

    def meaning(self, xs, args):
        from .compare import Expected

        return Expected(np.asarray(args["value"]))

    def gives_weak(self, xs, args):
        return args["how"] == "number"

    def labels(self, args):
        return ["leaf " + args["how"]]

    def all_labels(self, lib):
        return ["leaf " + how for how in ("number", "input", "copy", "borrow", "scalar")]


LEAF = Leaf()


class Maker:
    """A program while it is being drawn."""

    def __init__(self, rng, lib, symbolic=False, bare=False):
        self.rng, self.lib, self.bare = rng, lib, bare
        self.steps, self.functions = [], 0
        lengths = (
            rng.sample([0, 1, 2, 3, 4, 5, 6], 3)
            if rng.random() < 0.3
            else rng.sample([2, 3, 4, 5], 3)
        )
        self.sizes = dict(zip("nmk", lengths)) if symbolic else {}
        self.symbolic = symbolic  # whether some lengths are not known when the program is recorded

    # ---- Adding steps ----

    def add(self, kind, operands, args):
        step = Step(kind, operands, args)
        step.compute([self.steps[i].value for i in operands])
        self.steps.append(step)
        return len(self.steps) - 1

    def leaf(self, array, how=None):
        """A step that is this array; in a function's body never an input."""
        rng, hows = self.rng, ["copy", "borrow"] + (["scalar"] if array.ndim == 0 else [])
        how = how or rng.choice(hows if self.bare else hows + ["input"] * 3)
        args = {"how": how, "value": array if how == "scalar" else values.spread(rng, array)}
        if how == "input":
            args["name"] = f"x{len(self.steps)}"
            args["shape"] = tuple(self.length(n) for n in array.shape)
        return self.add(LEAF, [], args)

    def size_leaves(self):
        """Inputs that determine every size."""
        for name, value in self.sizes.items():
            array = values.draw_array(self.rng, values.draw_dtype(self.rng), (value,))
            at = self.leaf(array, "input")
            self.steps[at].args["shape"] = (values.Size(value, {name: 1}),)

    def number(self, value=None):
        value = values.draw_number(self.rng) if value is None else value
        return self.add(LEAF, [], {"how": "number", "value": value})

    def new(self, shape=None, kinds="?iufc"):
        shape = values.draw_shape(self.rng) if shape is None else shape
        return self.leaf(values.draw_array(self.rng, values.draw_dtype(self.rng, kinds), shape))

    def length(self, number):
        """A length as it is recorded: symbolic where the program has a size of that value."""
        rng = self.rng
        names = [name for name, value in self.sizes.items() if value == number]
        if names and rng.random() < 0.85:
            return values.Size(number, {names[0]: 1})
        if self.sizes and rng.random() < 0.2:
            name, factor = rng.choice(sorted(self.sizes)), rng.choice([1, 1, 2])
            return values.Size(number, {name: factor}, number - factor * self.sizes[name])
        return number

    # ---- Choosing operands ----

    def value(self, i):
        return self.steps[i].value

    def shape(self, i):
        return np.shape(self.steps[i].value)

    def rank(self, i):
        return len(self.shape(i))

    def dtype(self, i):
        return np.asarray(self.steps[i].value).dtype

    def find(self, test):
        return [i for i, step in enumerate(self.steps) if step.value is not None and test(i)]

    def pick(self, test=lambda i: True, weak=False):
        """An array that passes a test, the newest most often; None when there is none."""
        fit = self.find(lambda i: (weak or not is_weak(self.value(i))) and test(i))
        if not fit:
            return None
        return fit[-1] if self.rng.random() < 0.4 else self.rng.choice(fit)

    def pick_kinds(self, kinds, test=lambda i: True):
        """An array of some kinds of types, a new one when there is none."""
        kinds_of = kinds.replace("?", "b")
        found = self.pick(lambda i: self.dtype(i).kind in kinds_of and test(i))
        return found if found is not None else self.new(kinds=kinds)

    def partner_shape(self, shape):
        """A shape that can be broadcast with another; rarely one that cannot."""
        rng = self.rng
        if rng.random() < 0.03:
            return values.draw_shape(rng)
        shape = [
            rng.choice([1, n, n, n]) if n != 1 else rng.choice([1, 1, 1, 2, 3, 0]) for n in shape
        ]
        shape = shape[rng.randint(0, len(shape)) :] if rng.random() < 0.3 else shape
        return tuple(shape if np.prod(shape, dtype=float) <= 120 else [1] * len(shape))

    def partner(self, i, kinds="?iufc"):
        """An operand that goes with another: a number, an earlier step or a new array."""
        how = self.rng.random()
        if how < 0.25:
            return self.number()
        if how < 0.6:
            found = self.pick(lambda k: fits_with(self.shape(i), self.shape(k)))
            if found is not None:
                return found
        return self.new(self.partner_shape(self.shape(i)), kinds)

    # ---- Choosing arguments; now and then a wrong one ----

    def wrong(self):
        return self.rng.random() < 0.02

    def axis(self, rank):
        if self.wrong() or rank == 0:
            return self.rng.choice([rank, -rank - 1, rank + 3, 99, -1000])
        return self.rng.randrange(-rank, rank)

    def axes(self, rank, some=False):
        """Distinct axes, at times negative, at times one too many or one twice."""
        rng = self.rng
        count = rng.randint(1 if some and rank else 0, rank)
        axes = [
            axis - rank if rng.random() < 0.3 else axis for axis in rng.sample(range(rank), count)
        ]
        if self.wrong():
            axes.append(rng.choice([rank, -rank - 1] + axes))
        return axes


def fits_with(a, b):
    try:
        return np.prod(np.broadcast_shapes(a, b), dtype=float) <= MAX_CELLS
    except ValueError:
        return False


def draw_step(maker, kinds=None):
    """Adds a step; what NumPy refuses is mostly drawn again, so that not every program is wrong."""
    rng, kinds = maker.rng, kinds or KINDS
    for attempt in range(8):
        kind = rng.choices(kinds, [kind.weight for kind in kinds])[0]
        drawn = kind.draw(maker)
        if drawn is None:
            continue
        at = maker.add(kind, *drawn)
        step = maker.steps[at]
        if step.refusal is not None and rng.random() < 0.85:
            del maker.steps[at]  # what was drawn for it stays, and is used by others
            continue
        return at
    return None


def draw_program(rng, lib):
    maker = Maker(rng, lib, symbolic=rng.random() < 0.25)
    maker.size_leaves()
    if maker.sizes:
        shape = tuple(maker.sizes.values())
        maker.leaf(values.draw_array(rng, values.draw_dtype(rng), shape[:2]), "input")
    for _ in range(rng.randint(1, 3)):
        maker.new()
    for _ in range(rng.randint(3, 20)):
        draw_step(maker)
    return maker
