"""steps_lambda.py -- index lambdas: random scalar expressions, computed cell by cell.

An expression is a tuple: ("index", axis), ("var", name), ("number", value), ("size", length),
("cast", e, dtype), ("op", name, es), ("load", operand, es, rules),
("reduce", name, var, lo, hi, e).  Below the root only what NumPy fixes to the bit is used, so that
errors do not add up."""

import numpy as np

from . import meaning, padding, values
from .compare import Expected
from .program import Kind, register
from .steps_reduce import reduction_of
from .steps_stencil import RULES, draw_rule

EXACT_OPS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "negative",
    "abs",
    "sign",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_invert",
    "left_shift",
    "right_shift",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "where",
    "minimum",
    "maximum",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "copysign",
    "real",
    "imag",
    "conj",
    "fma",
]


# ---- Drawing ---------------------------------------------------------------------------------


class Writer:
    """Draws one expression over some of a program's arrays."""

    def __init__(self, maker, shape):
        self.maker, self.rng, self.shape = maker, maker.rng, shape
        self.operands, self.variables = [], []

    def operand(self, i):
        if i not in self.operands:
            self.operands.append(i)
        return self.operands.index(i)

    def integer(self, depth=1):
        """An expression of i64."""
        rng = self.rng
        leaves = [("index", axis) for axis in range(len(self.shape))] + [
            ("var", v) for v in self.variables
        ]
        leaf = (
            rng.choice(leaves)
            if leaves
            else ("cast", ("number", rng.randint(0, 3)), np.dtype("i8"))
        )
        if depth == 0 or rng.random() < 0.4:
            return leaf
        other = (
            ("number", rng.choice([-3, -1, 1, 2, 5]))
            if rng.random() < 0.7
            else self.integer(depth - 1)
        )
        return ("op", rng.choice(["add", "subtract", "multiply"]), [leaf, other])

    def inside(self, n):
        """An index that exists along an axis of n cells."""
        rng = self.rng
        short = [axis for axis, length in enumerate(self.shape) if length <= n]
        if short and rng.random() < 0.5:
            return ("index", rng.choice(short))
        if n == 0 or rng.random() < 0.1:
            return self.integer()
        if rng.random() < 0.2:
            return ("number", rng.randrange(n))
        return ("op", "remainder", [self.integer(), ("number", n)])

    def load(self):
        rng, maker = self.rng, self.maker
        x = maker.pick(lambda i: maker.rank(i) <= 3)
        if x is None:
            x = maker.new((3, 2))
        rules = [draw_rule(rng) if rng.random() < 0.6 else ("none", None) for _ in maker.shape(x)]
        indices = [
            self.inside(n) if rule == "none" else self.integer()
            for n, (rule, _) in zip(maker.shape(x), rules)
        ]
        return ("load", self.operand(x), indices, rules)

    def guarded_load(self):
        """Reads past the end in the branch that is not taken."""
        x = self.maker.pick(lambda i: self.maker.rank(i) == 1)
        if x is None:
            return self.load()
        at, n = self.integer(), ("number", self.maker.shape(x)[0])
        inside = (
            "op",
            "logical_and",
            [("op", "greater_equal", [at, ("number", 0)]), ("op", "less", [at, n])],
        )
        return (
            "op",
            "where",
            [inside, ("load", self.operand(x), [at], [("none", None)]), ("number", 0)],
        )

    def leaf(self):
        how = self.rng.random()
        if how < 0.65:
            return self.load()
        if how < 0.75:
            return self.guarded_load()
        if how < 0.85 and self.maker.sizes:
            name = self.rng.choice(sorted(self.maker.sizes))
            return ("size", values.Size(self.maker.sizes[name], {name: 1}))
        return self.integer()

    def operation(self, names, depth):
        op = self.rng.choice(names)
        args = [self.expression(depth - 1)]
        while len(args) < self.maker.lib.arity[op]:
            number = ("number", values.draw_number(self.rng))
            args.append(number if self.rng.random() < 0.3 else self.expression(depth - 1))
        self.rng.shuffle(args)
        return ("op", op, args)

    def bound(self):
        """The end of a range: a number, an index, or read from an array."""
        rng = self.rng
        how = rng.random()
        if how < 0.5:
            return ("number", rng.randint(0, 4))
        if how < 0.7 and self.shape:
            return ("index", rng.randrange(len(self.shape)))
        ends = self.maker.leaf(
            np.array([rng.randint(0, 4) for _ in range(3)], rng.choice(["i1", "i8", "u2"]))
        )
        return ("load", self.operand(ends), [self.inside(3)], [("none", None)])

    def reduction(self, depth, name=None):
        name = name or self.rng.choice(self.maker.lib.reductions)
        variable = f"k{len(self.variables)}"
        lo = (
            ("number", self.rng.choice([0, 0, 0, 1, -1]))
            if self.rng.random() < 0.8
            else self.bound()
        )
        hi = self.bound()
        self.variables.append(variable)
        body = self.expression(depth - 1)
        self.variables.pop()
        return ("reduce", name, variable, lo, hi, body)

    def expression(self, depth):
        how = self.rng.random()
        if depth <= 0 or how < 0.2:
            return self.leaf()
        if how < 0.75:
            return self.operation([op for op in EXACT_OPS if op in self.maker.lib.arity], depth)
        if how < 0.85:
            return ("cast", self.expression(depth - 1), values.draw_dtype(self.rng))
        return self.reduction(depth) if len(self.variables) < 2 else self.leaf()

    def root(self):
        how = self.rng.random()
        if how < 0.3:
            return self.operation(sorted(self.maker.lib.arity), 2)
        if how < 0.6:
            return self.reduction(2)
        return self.expression(3)


# ---- Meaning ---------------------------------------------------------------------------------


class Cells:
    """Computes an expression, one cell after the other."""

    def __init__(self, arrays):
        self.arrays, self.types = arrays, {}

    def sample(self, e):
        """An empty array of the type of an expression, or the number it is."""
        if id(e) not in self.types:
            self.types[id(e)] = self.find_sample(e)
        return self.types[id(e)]

    def find_sample(self, e):
        kind = e[0]
        if kind == "number":
            return e[1]
        if kind == "cast":
            self.sample(e[1])
            return np.empty(0, e[2])
        if kind == "op":
            return meaning.elementwise(e[1], [self.sample(arg) for arg in e[2]]).value[:0]
        if kind == "load":
            return np.empty(0, self.arrays[e[1]].dtype)
        if kind == "reduce":
            body = meaning.typed(self.sample(e[5]))
            return np.empty(0, reduction_of(e[1])(np.ones((1, 1), body.dtype)).value.dtype)
        return np.empty(0, "i8")

    def value(self, e, at, env):
        """Exactly; Inexact where the bits are not fixed."""
        kind = e[0]
        if kind == "number":
            return e[1]
        if kind == "index":
            return np.asarray(at[e[1]], "i8")
        if kind == "var":
            return np.asarray(env[e[1]], "i8")
        if kind == "size":
            return np.asarray(int(e[1]), "i8")
        if kind == "cast":
            return meaning.cast(self.value(e[1], at, env), e[2]).value
        if kind == "load":
            return self.load(e, at, env)
        return self.exact(self.expected(e, at, env), e)

    def exact(self, expected, e):
        signs_matter = not expected.zero_signs and np.any(expected.value == 0)
        if expected.slack is not None and np.any(expected.slack != 0):
            raise meaning.Inexact
        if signs_matter and expected.value.dtype.kind in "fc" or expected.free is not None:
            raise meaning.Inexact
        return expected.value

    def expected(self, e, at, env):
        """The root may be off by its own rounding."""
        if e[0] == "reduce":
            return self.reduce(e, at, env)
        if e[0] != "op":
            return Expected(self.value(e, at, env))
        if e[1] == "where":
            branch = 1 if np.asarray(self.value(e[2][0], at, env)).astype(bool) else 2
            return Expected(
                meaning.as_dtype(self.value(e[2][branch], at, env), self.sample(e).dtype)
            )
        xs = [self.value(arg, at, env) for arg in e[2]]
        if e[1] in ("signbit", "copysign") and any(np.isnan(x).any() for x in xs):
            raise meaning.Inexact  # the sign of a computed nan
        return meaning.elementwise(e[1], xs)

    def load(self, e, at, env):
        x, fill = self.arrays[e[1]], None
        place = []
        for axis, (index, (rule, outside)) in enumerate(zip(e[2], e[3])):
            i, n = int(self.value(index, at, env)), x.shape[axis]
            if not 0 <= i < n and rule == "constant":
                i, fill = 0, outside or 0
            elif not 0 <= i < n and (rule == "none" or n == 0):
                raise IndexError("a read outside an array")
            elif rule not in ("none", "constant"):
                i = int(padding.EDGE_MAPS[rule](np.asarray(i), n))
            place.append(i)
        # As an array: NumPy 1.24 takes a scalar of type complex128 for an untyped number.
        return np.asarray(x[tuple(place)]) if fill is None else meaning.cast(fill, x.dtype).value

    def reduce(self, e, at, env):
        _, name, variable, lo, hi, body = e
        lo, hi = int(self.value(lo, at, env)), int(self.value(hi, at, env))
        dtype = meaning.typed(self.sample(body)).dtype
        cells = [meaning.typed(self.value(body, at, {**env, variable: k})) for k in range(lo, hi)]
        expected = reduction_of(name)(np.array(cells, dtype).reshape(len(cells)))
        if name in ("argmin", "argmax"):  # here: the value of the variable
            expected.value = expected.value + lo
        return expected


def compute(e, shape, arrays):
    """All cells, with their slack."""
    cells = Cells(arrays)
    dtype = meaning.typed(cells.sample(e)).dtype
    value, slack = np.empty(shape, dtype), np.zeros(shape, np.longdouble)
    free, signs = np.zeros(shape, bool), True
    for at in np.ndindex(*shape):
        expected = cells.expected(e, at, {})
        value[at], signs = expected.value, signs and expected.zero_signs
        slack[at] = 0 if expected.slack is None else expected.slack
        free[at] = False if expected.free is None else expected.free
    return Expected(value, slack=slack, zero_signs=signs, free=free)


# ---- Recording -------------------------------------------------------------------------------


def record(graph, e, xs):
    kind, lib = e[0], graph.lib
    if kind == "index":
        return lib.expr_index(graph.pointer, e[1])
    if kind == "var":
        return lib.expr_var(graph.pointer, e[1].encode())
    if kind == "number":
        return graph.expr_number(e[1])
    if kind == "size":
        return lib.expr_size(graph.pointer, graph.dim(e[1]))
    if kind == "cast":
        return lib.expr_cast(record(graph, e[1], xs), meaning_code(e[2]))
    if kind == "op":
        return graph.expr_apply(e[1], [record(graph, arg, xs) for arg in e[2]])
    if kind == "load":
        rules = [(rule, None if fill is None else graph.expr_number(fill)) for rule, fill in e[3]]
        return graph.expr_load(xs[e[1]], [record(graph, index, xs) for index in e[2]], rules)
    parts = [record(graph, part, xs) for part in e[3:]]
    return graph.expr_reduce(e[1], e[2], *parts)


def meaning_code(dtype):
    from arras_ctypes import DTYPE_CODES

    return DTYPE_CODES[dtype]


def walk(e):
    """Every part of an expression."""
    yield e
    for part in e[1:]:
        for inner in part if isinstance(part, list) else [part]:
            if (
                isinstance(inner, tuple)
                and inner
                and isinstance(inner[0], str)
                and inner[0] not in RULES
            ):
                yield from walk(inner)


@register
class Lambda(Kind):
    weight = 5

    def draw(self, maker):
        rng = maker.rng
        shape = [
            rng.choice([0, 1, 2, 3, 4]) if rng.random() < 0.9 else 1
            for _ in range(rng.randint(0, 2))
        ]
        writer = Writer(maker, shape)
        try:
            cell = writer.root()
            compute(cell, tuple(shape), [meaning.typed(maker.value(i)) for i in writer.operands])
        except meaning.Inexact:
            return None
        except meaning.REFUSALS:
            pass
        return writer.operands, {"shape": [maker.length(n) for n in shape], "cell": cell}

    def record(self, graph, xs, args):
        return graph.array_lambda(args["shape"], record(graph, args["cell"], xs))

    def meaning(self, xs, args):
        return compute(
            args["cell"], tuple(int(n) for n in args["shape"]), [meaning.typed(x) for x in xs]
        )

    def labels(self, args):
        labels = ["Lambda"]
        for e in walk(args["cell"]):
            if e[0] == "reduce":
                labels.append("lambda reduction " + e[1])
            if e[0] == "load":
                labels += ["lambda edge " + rule for rule, _ in e[3]]
        return labels

    def all_labels(self, lib):
        return (
            ["Lambda"]
            + ["lambda reduction " + name for name in lib.reductions]
            + ["lambda edge " + rule for rule in RULES]
        )
