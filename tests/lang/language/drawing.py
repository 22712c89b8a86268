"""drawing.py -- random programs of the language.

A tree is drawn for a kind of value: b (bool), i (integers), f (reals), c (complex).  What is drawn knows
between which numbers each index is, so that most reads stay inside; the oracle has the last word."""

import numpy as np
from against_numpy.values import special_values

from . import oracle
from .drawing_kit import Index, index_text_names, triangle
from .ranges import NotMeant
from .tree import Equation, Node, Program, load, number, op, reduction
from .whole_drawing import draw_whole

KINDS = {"b": ["?"], "i": ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"], "f": ["f4", "f8", "f8"],
         "c": ["c8", "c16"]}
RULES = ["nearest", "reflect", "mirror", "wrap", "constant"]
TYPE_NAMES = {"b": ["bool"], "i": ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"],
              "f": ["f32", "f64"], "c": ["c64", "c128"]}
BINARY = {
    "b": ["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"],
    "i": ["add", "add", "subtract", "subtract", "multiply", "multiply", "floor_divide", "remainder",
          "fmod", "bitwise_and", "bitwise_or", "bitwise_xor", "minimum", "maximum", "left_shift",
          "right_shift"],
    "f": ["add", "add", "subtract", "subtract", "multiply", "multiply", "divide", "divide",
          "floor_divide", "remainder", "fmod", "minimum", "maximum", "fmin", "fmax", "hypot", "atan2",
          "copysign", "pow"],
    "c": ["add", "subtract", "multiply", "divide"],
}
UNARY = {
    "b": ["logical_not"],
    "i": ["negative", "abs", "bitwise_invert", "sign"],
    "f": ["negative", "negative", "abs", "sqrt", "sin", "cos", "exp", "log", "tanh", "atan", "floor",
          "ceil", "trunc", "round", "sign", "cbrt", "expm1", "log1p", "erf", "exp2", "log2", "sinh"],
    "c": ["negative", "conj", "exp", "sin", "sqrt"],
}
COMPARE = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
WORDS = {
    "b": ["all", "any", "min", "max"],
    "i": ["sum", "sum", "prod", "min", "max", "count", "argmin", "argmax"],
    "f": ["sum", "sum", "mean", "var", "std", "prod", "min", "max"],
    "c": ["sum", "prod", "mean"],
}
CELLS = 600  # places that an equation may need


class Drawing:
    def __init__(self, rng):
        self.rng = rng
        self.program = Program()
        some = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        self.lengths = [rng.choice(some) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.1:
            self.lengths.append(rng.choice([0, 64, 65, 70, 130, 500]))
        self.made = {}  # name: shape and dtype of arrays that equations make
        self.steps = {}  # index arrays: name: between which numbers their cells are
        self.fails = False

    # ---- Inputs ------------------------------------------------------------------------------------

    def chance(self, p):
        return self.rng.random() < p

    def choice(self, *choices):
        return self.rng.choice(choices)

    def new_input(self, kind, shape, cells=None):
        name = f"{self.choice('x', 'a', 'h', 'ball.v')}{len(self.program.inputs)}"
        dtype = np.dtype(self.rng.choice(KINDS[kind]))
        self.program.inputs[name] = self.cells(dtype, shape) if cells is None else cells
        if shape and cells is None and self.chance(0.4):
            self.program.edges[name] = self.draw_rules(dtype, len(shape))
        return name

    def param_value(self, name):
        given, replaced = self.program.params[name]
        return given if replaced is None else replaced

    def draw_rules(self, dtype, rank):
        def rule():
            if self.chance(0.3):
                return "none"
            name = self.rng.choice(RULES)
            if name != "constant":
                return name
            number = self.rng.choice([0, 0, 1, 7, 1.5] if dtype.kind in "fc" else [0, 1, 1, 100])
            return number if dtype.kind != "b" else int(number > 0)

        rules = [rule()] * rank if self.chance(0.6) else [rule() for _ in range(rank)]
        return tuple(rules)

    def cells(self, dtype, shape):
        count, rng = int(np.prod(shape, dtype="i8")), self.rng
        if dtype.kind == "b":
            cells = [rng.random() < 0.5 for _ in range(count)]
        elif dtype.kind in "iu":
            low = 0 if dtype.kind == "u" else -6
            cells = [rng.randint(low, 9) for _ in range(count)]
        else:
            eighths = rng.random() < 0.6
            cells = [rng.randint(-24, 24) / 8 if eighths else rng.gauss(0, 2) for _ in range(count)]
            if dtype.kind == "c":
                cells = [complex(re, rng.choice(cells)) for re in cells]
        array = np.array(cells, dtype)
        if rng.random() < 0.25:
            special = special_values(dtype)
            if dtype.kind in "fc" and rng.random() < 0.7:
                special = special[np.isfinite(special) & (np.abs(special) < 1e12)]
            for cell in range(count):
                if rng.random() < 0.4:
                    array[cell] = special[rng.randrange(len(special))]
        return array.reshape(shape)

    def index_array(self, length, low, high, wild=False):
        """An input of one axis whose cells are low <= cell < high; of any type of integers."""
        fitting = [t for t in KINDS["i"] if np.iinfo(t).min <= low and np.iinfo(t).max >= high - 1]
        dtype = np.dtype(self.rng.choice(fitting))
        cells = [self.rng.randint(low, high - 1) for _ in range(length)]
        if wild and self.chance(0.5):
            limits = [np.iinfo(dtype).min, np.iinfo(dtype).max, np.iinfo(dtype).max - 1]
            cells = [int(self.rng.choice(limits)) if self.chance(0.3) else c for c in cells]
        name = self.new_input("i", (length,), np.array(cells, dtype))
        self.steps[name] = None if wild else (low, high)
        return name

    def arrays(self):
        """name: (shape, dtype) of all that may be read."""
        found = {name: (x.shape, x.dtype) for name, x in self.program.inputs.items()}
        return {**found, **self.made}

    # ---- Reads -------------------------------------------------------------------------------------

    def draw_load(self, kind, at):
        tree = self.read_plainly(kind, at)
        return self.read_of_nobody(tree) if tree.kind == "load" and self.chance(0.05) else tree

    def read_of_nobody(self, tree):
        """(x*2)[i]: a read of an array without a name, so without an edge."""
        array = Node("array", tree.value)
        made = self.choice(op("multiply", array, number(2)), op("add", array, array),
                           Node("whole", ("roll", (("", "1"), ("axis", "0"))), array))
        return Node("cells", None, made, *tree.kids)

    def read_plainly(self, kind, at):
        names = [name for name, (shape, dtype) in self.arrays().items()
                 if dtype.kind in ("iu" if kind == "i" else kind) and name not in self.steps and shape]
        self.rng.shuffle(names)
        for name in names[:3]:
            if self.chance(0.7):
                tree = self.read_of(name, at)
                if tree is not None:
                    return tree
        tree = self.read_of(self.fitting_input(kind, at), at)
        return tree or Node("scalar", self.new_input(kind, ()))

    def fitting_input(self, kind, at):
        rank = self.choice(1, 1, 2, 2, 3)
        shape, cells = [], 1
        for _ in range(rank):
            ends = [index.high for index in at.values() if 0 <= index.low and 0 < index.high < 700]
            length = self.rng.choice(ends) if ends and self.chance(0.8) else self.rng.choice(
                self.lengths)
            if cells * length > 3000:
                break
            cells *= max(length, 1)
            shape.append(length)
        return self.new_input(kind, tuple(shape))

    def read_of(self, name, at):
        shape, _ = self.arrays()[name]
        rules = self.program.edges.get(name, (None,) * len(shape))
        indices = [self.draw_index(length, rule, at) for length, rule in zip(shape, rules)]
        return None if None in indices else load(name, *indices)

    def draw_index(self, length, rule, at):
        """A tree for an index of an axis; None if there is none."""
        if rule not in (None, "none"):
            if length and self.chance(0.6):
                return self.beyond(length, at)
        names = list(at)
        self.rng.shuffle(names)
        for name in names:
            index = at[name]
            if rule != "none" and index.forms and self.chance(0.5):
                tree = self.joint(index, length)
                if tree is not None:
                    return tree
            if rule == "none" and len(names) > 1 and not index.constant and self.chance(0.7):
                return self.slanted(name, names)
            if rule == "none" and self.chance(0.6) and index.constant:
                return self.near(Node("var", name), self.choice(-1, 1, 1, 2))
            if index.low < 0 or index.high > length or self.chance(0.15):
                tree = self.bent(name, index, length) if rule != "none" else None
                if tree is not None:
                    return tree
                continue
            return Node("var", name)
        if length == 0:
            return None
        if rule != "none" and names and self.chance(0.5):
            return self.computed(length, at)
        return number(self.rng.randrange(length)) if rule != "none" else None

    def joint(self, index, length):
        """A form of several indices that stays inside, as near to the end of the axis as can be."""
        tree, low, high = self.rng.choice(index.forms)
        shift = self.choice(-low, length - 1 - high)
        if high < low or low + shift < 0 or high + shift >= length:
            return None
        return self.near(tree, shift) if shift else tree

    def slanted(self, name, names):
        """A form with another index, on which the range of this one may depend."""
        other = self.rng.choice([n for n in names if n != name])
        pair = [Node("var", name), Node("var", other)]
        if self.chance(0.3):
            pair[0] = op("multiply", number(2), pair[0])
        tree = op(self.choice("add", "add", "subtract"), *self.rng.sample(pair, 2))
        shift = self.choice(-2, -1, -1, 0, 1, 3)
        return self.near(tree, shift) if shift else tree

    def near(self, tree, shift):
        return op("add", tree, number(shift)) if shift > 0 else op("subtract", tree, number(-shift))

    def bent(self, name, index, length):
        """Another integer expression of an index that stays inside."""
        var, width = Node("var", name), index.high - 1 - index.low
        forms = []
        if index.low + 1 >= 0 and index.high + 1 <= length:
            forms.append(self.near(var, 1))
        if index.low - 1 >= 0 and index.high - 1 <= length:
            forms.append(self.near(var, -1))
        if index.low >= 0 and 2 * (index.high - 1) < length:
            forms.append(op("multiply", number(2), var))
            if 2 * (index.high - 1) + 1 < length:
                forms.append(op("add", op("multiply", number(2), var), number(1)))
        if index.low >= 0 and index.high <= length:
            last = number(length - 1)
            names = [(n, a) for n, (shape, _) in self.arrays().items() for a, m in enumerate(shape)
                     if m == length]
            if names and self.chance(0.5):
                last = op("subtract", Node("size", self.rng.choice(names)), number(1))
            forms.append(op("subtract", last, var))
        if index.low >= 0 and (index.high - 1) // 2 < length and length:
            forms.append(op("floor_divide", var, number(2)))
            forms.append(op("floor", op("multiply", var, number(0.5))))
        if length:
            forms.append(op("remainder", var, number(length)))
        if 0 <= width < length and index.low < 0:
            forms.append(self.near(var, -index.low))
        return self.rng.choice(forms) if forms else None

    def computed(self, length, at):
        """Read from an index array."""
        names = [n for n, ends in self.steps.items() if ends and ends[0] >= 0 and ends[1] <= length]
        name = self.rng.choice(names) if names and self.chance(0.6) else self.index_array(
            self.rng.choice([i.high for i in at.values() if i.high > 0 and i.low >= 0] or [3]),
            0, length)
        inner = self.draw_simple(self.program.inputs[name].shape[0], at)
        return load(name, inner) if inner is not None else None

    def draw_simple(self, length, at):
        fitting = [name for name, index in at.items() if index.low >= 0 and index.high <= length]
        if fitting:
            return Node("var", self.rng.choice(fitting))
        return number(self.rng.randrange(length)) if length else None

    def beyond(self, length, at):
        """An index where there is an edge: anything."""
        reach = length + 3
        how = self.rng.random()
        if how < 0.4 and at:
            tree = self.near(Node("var", self.rng.choice(list(at))), self.choice(-2, -1, 1, 1, 2, reach))
            return tree
        if how < 0.55 and at:
            tree = op("add", Node("var", self.rng.choice(list(at))), Node("var", self.rng.choice(list(at))))
            return self.near(tree, self.choice(-1, 1))
        if how < 0.9:
            names = [name for name, ends in self.steps.items() if ends is None]
            if not names or self.chance(0.4):
                unsigned = self.chance(0.5)
                size = self.rng.choice([i.high for i in at.values() if i.high > 0] or [4])
                names = [self.index_array(size, 0 if unsigned else -reach, 2 * reach, True)]
            name = self.rng.choice(names)
            inner = self.draw_simple(self.program.inputs[name].shape[0], at)
            if inner is None:
                return None
            tree = load(name, inner)
            if at and self.chance(0.2):
                tree = op(self.choice("add", "subtract"), tree, Node("var", self.rng.choice(list(at))))
            return tree
        if at and how < 0.95:
            return op("round", op("multiply", Node("var", self.rng.choice(list(at))), number(1.75)))
        return number(self.choice(-1, -length, length, 2 * length + 1, 2**40, -(2**40)))

    # ---- Cells -------------------------------------------------------------------------------------

    def draw(self, kind, depth, at):
        if depth <= 0:
            return self.leaf(kind, at)
        how = self.rng.random()
        if how < 0.12:
            return self.leaf(kind, at)
        if how < 0.34 and depth > 1:
            tree = self.draw_reduction(kind, depth, at)
            if tree is not None:
                return tree
        if how < 0.4:
            condition = self.draw("b", depth - 1, at)
            return Node("choose", self.choice("?", "where"), condition, self.draw(kind, depth - 1, at),
                        self.draw(kind, depth - 1, at))
        if how < 0.5:
            return self.converted(kind, depth, at)
        if how < 0.57 and kind in "if":
            tree = self.call(kind, depth, at)
            if tree is not None:
                return tree
        if kind in "if" and how < 0.6:
            return self.of_three(kind, depth, at)
        if kind == "b" and how < 0.85:
            inner = self.choice("i", "i", "f")
            return op(self.rng.choice(COMPARE), self.draw(inner, depth - 1, at),
                      self.draw(inner, depth - 1, at))
        if how < 0.7:
            return op(self.rng.choice(UNARY[kind]), self.draw(kind, depth - 1, at))
        if how < 0.76 and kind != "b":
            return self.power(kind, depth, at)
        return self.binary(kind, depth, at)

    def binary(self, kind, depth, at):
        name = self.rng.choice(BINARY[kind])
        left = self.draw(kind, depth - 1, at)
        if name in ("left_shift", "right_shift") and self.chance(0.6):
            return op(name, left, number(self.choice(0, 1, 2, 5, 8, 31, 63, 64)))
        other = self.choice("i", "f") if kind == "f" else kind
        right = self.draw(other, depth - 1, at)
        if kind in "ifc" and self.chance(0.25):
            right = self.constant(kind)
        return op(name, left, right) if self.chance(0.8) or name not in ("add", "multiply") else op(
            name, right, left)

    def of_three(self, kind, depth, at):
        x = self.draw(kind, depth - 1, at)
        if self.chance(0.5):
            return op("clip", x, self.constant(kind), number(self.choice(3, 5, 100)))
        return op("fma", x, self.draw(kind, depth - 2, at), self.draw(kind, depth - 2, at))

    def power(self, kind, depth, at):
        exponents = {"i": [0, 1, 2, 2, 3, 5], "f": [2, 2, 3, 4, 0.5, -0.5, -1, -2, 1.5], "c": [2]}
        return op("pow", self.draw(kind, depth - 1, at), number(self.rng.choice(exponents[kind])))

    def constant(self, kind):
        if kind == "i":
            return number(self.choice(0, 1, 2, 3, 5, 7, 100, 127))
        if kind == "f":
            return number(self.choice(0.5, 1.5, 2, 3, 0.1, 10.0, 1e-3))
        return number(self.choice(2, 0.5, 1j, 0.5j))

    def leaf(self, kind, at):
        how = self.rng.random()
        if how < 0.2 and kind == "i" and at:
            return Node("var", self.rng.choice(list(at)))
        if how < 0.3 and self.program.params and kind in "if":
            return op("add", self.draw_load(kind, at), Node("scalar", self.rng.choice(
                list(self.program.params))))
        if how < 0.36:
            scalars = [n for n, (shape, dtype) in self.arrays().items() if not shape
                       and dtype.kind in ("iu" if kind == "i" else kind)]
            name = self.rng.choice(scalars) if scalars else self.new_input(kind, ())
            return Node("scalar", name)
        if how < 0.42 and kind in "if":
            names = [n for n, (shape, dtype) in self.arrays().items() if shape and 0 not in shape
                     and dtype.kind in ("iu" if kind == "i" else kind)]
            if names:
                word = self.choice("sum", "max", "min", "argmax" if kind == "i" else "mean")
                return Node("whole", (word, ()), Node("array", self.rng.choice(names)))
        return self.draw_load(kind, at)

    def converted(self, kind, depth, at):
        if kind == "f" and self.chance(0.3):
            inner = self.draw("c", depth - 1, at)
            return op(self.choice("real", "imag", "abs"), inner)
        inner = self.draw({"b": "i", "i": self.choice("i", "b", "f"), "f": self.choice("i", "f"),
                           "c": self.choice("f", "c")}[kind], depth - 1, at)
        return Node("cast", self.rng.choice(TYPE_NAMES[kind]), inner)

    # ---- Functions ---------------------------------------------------------------------------------

    def call(self, kind, depth, at):
        named = [n for n, (parameters, _) in self.program.functions.items() if n.startswith(kind)]
        if not named or self.chance(0.3):
            if len(self.program.functions) >= 2:
                return None
            named = [self.new_function(kind)]
        name = self.rng.choice(named)
        parameters, _ = self.program.functions[name]
        if parameters[0] == "g":
            return self.call_with_array(name, kind, at)
        return Node("call", name, *[self.draw(kind, depth - 2, at) for _ in parameters])

    def new_function(self, kind):
        name = f"{kind}{self.choice('mix', 'f_', 'Of')}{len(self.program.functions)}"
        if self.chance(0.4):
            u = Node("var", "u")
            body = op("add", load("g", u), load("g", op("remainder", op("add", u, number(1)), number(1))))
            if self.chance(0.5):
                cell = op("multiply", load("g", Node("var", "k")), u)
                body = op("add", load("g", u), reduction("sum", [("k", None, None)], cell))
            self.program.functions[name] = (("g", "u"), body)
            return name
        u, v = Node("var", "u"), Node("var", "v")
        body = op(self.rng.choice(BINARY[kind][:6]), op(self.rng.choice(UNARY[kind][:2]), u),
                  op("multiply", v, self.constant(kind)))
        if self.chance(0.3):
            body = Node("choose", "?", op("less", u, v), body, u)
        self.program.functions[name] = (("u", "v"), body)
        return name

    def call_with_array(self, name, kind, at):
        fitting = []
        for array, (shape, dtype) in self.arrays().items():
            if len(shape) == 1 and shape[0] and dtype.kind in ("iu" if kind == "i" else kind):
                if array not in self.steps and array not in self.program.edges:
                    fitting += [(array, v) for v, index in at.items()
                                if index.low >= 0 and index.high <= shape[0]]
        if not fitting:
            return None
        array, var = self.rng.choice(fitting)
        return Node("call", name, Node("array", array), Node("var", var))

    # ---- Reductions --------------------------------------------------------------------------------

    def draw_reduction(self, kind, depth, at):
        words = WORDS[kind]
        word, inner, ranges = self.rng.choice(words), dict(at), []
        places = int(np.prod([max(1, i.width()) for i in at.values()], dtype="i8"))
        for _ in range(self.choice(1, 1, 1, 2, 2, 3, 4)):
            name = next(n for n in index_text_names(self.rng) if n not in inner)
            made = self.draw_range(name, inner, CELLS * 8 // max(places, 1))
            if made is None:
                break
            (low, high), index = made
            places *= max(1, index.width())
            ranges.append((name, low, high))
            inner[name] = index
        if not ranges:
            return None
        body_kind = kind
        if word in ("count", "all", "any"):
            body_kind = self.choice("b", "b", "i")
        elif word in ("argmin", "argmax"):
            body_kind = self.choice("i", "f")
        elif word in ("mean", "var", "std") and kind == "f" and self.chance(0.3):
            body_kind = "i"
        body = self.draw(body_kind, depth - 2, inner)
        if self.chance(0.5):  # so that it depends on the last index
            extra = self.draw_load(body_kind, {ranges[-1][0]: inner[ranges[-1][0]]})
            if extra is not None:
                joined = {"b": "logical_or", "i": "add"}.get(body_kind, "multiply")
                body = op(joined, body, extra)
        return reduction(word, ranges, body)

    def draw_range(self, name, at, room):
        """((low, high) or (None, None), what is known of it)."""
        how = self.rng.random()
        lengths = [n for n in self.lengths if n <= room]
        if not lengths and room < 1:
            return None
        length = self.rng.choice(lengths or [1])
        outer = [n for n, index in at.items() if -20 <= index.low and index.high <= 20]
        if how < 0.35:
            return (None, None), Index(0, length, True)
        if how < 0.55 or not outer:
            low = self.choice(0, 0, 0, 1, -1)
            high = max(low, low + self.rng.randint(0, min(length, 5)) + (self.chance(0.9)))
            if self.program.params and self.chance(0.3):
                value = self.param_value("limit")
                return (number(low), Node("scalar", "limit")), Index(low, max(low, value), True)
            return (number(low), number(high)), Index(low, high, True)
        outer_name = self.rng.choice(outer)
        var, index = Node("var", outer_name), at[outer_name]
        if how < 0.7:
            return self.rng.choice(triangle(name, outer_name, index, length))
        if how < 0.8:
            more = self.choice(0, 1, 1, 2)
            if self.chance(0.6):
                high = self.near(var, more) if more else var
                return (number(0), high), Index(0, max(0, index.high - 1 + more), False)
            top = max(index.high, length)
            return (var, number(top)), Index(index.low, top, False)
        size = index.high
        if index.low < 0 or size < 1:
            return None
        if self.chance(0.5):
            counts = self.index_array(size, 0, min(length, 4) + 1)
            return (number(0), load(counts, var)), Index(0, min(length, 4), False)
        cells = np.sort([self.rng.randint(0, min(length, 12)) for _ in range(size + 1)])
        dtype = np.dtype(self.rng.choice(KINDS["i"]))
        starts = self.new_input("i", (size + 1,), cells.astype(dtype))
        self.steps[starts] = (0, min(length, 12) + 1)
        return (load(starts, var), load(starts, self.near(var, 1))), Index(0, min(length, 12), False)

    # ---- Equations ---------------------------------------------------------------------------------

    def cell_equation(self, name):
        at, places = {}, 1
        for letter in list(index_text_names(self.rng))[: self.choice(0, 1, 1, 1, 2, 2, 3)]:
            lengths = [n for n in self.lengths if places * n <= CELLS]
            if not lengths:
                break
            length = self.rng.choice(lengths)
            low = self.choice(0, 0, 0, 0, 0, 1, -1)
            at[letter] = Index(low, max(low, length + min(low, 0)), True)
            places *= max(1, at[letter].width())
        kind = self.choice("b", "i", "i", "i", "f", "f", "f", "c")
        body = self.draw(kind, self.choice(2, 3, 3, 4), at)
        if not at:  # one cell: there must be no cell expression outside of a reduction
            body = self.draw_reduction(kind, 3, {}) or body
        given = [(letter, number(i.low), number(i.high)) for letter, i in at.items()]
        bare = [(letter, None, None) if i.low == 0 else one for (letter, i), one in zip(
            at.items(), given)]
        some = [one if self.chance(0.5) else other for one, other in zip(given, bare)]
        tries = [given] if self.chance(0.3) else [bare, some, given]
        return [Equation(name, indices, body) for indices in tries]

    def equation(self, name):
        if self.chance(0.25):
            return [Equation(name, None, draw_whole(self, self.choice(1, 2, 3)))]
        return self.cell_equation(name)


def draw_program(rng):
    """(program, results as the oracle has them; None: it has to fail)."""
    d = Drawing(rng)
    if d.chance(0.3):
        d.program.params["limit"] = (rng.choice([2, 3, 5]), rng.choice([None, 4, 7]))
    wanted, values = d.choice(1, 2, 2, 3, 3, 4, 5), {}
    for _ in range(wanted * 12):
        if len(d.program.equations) >= wanted or d.fails:
            break
        add_equation(d, values)
    d.program.order = rng.sample(range(100), 40)
    lets = [e.name for e in d.program.equations if e.let]
    results = [e.name for e in d.program.equations if not e.let]
    if len(results) > 1 and not d.fails and d.chance(0.2):
        d.program.outputs = results[: rng.randint(1, len(results))] + lets[:1]
    if not results or not d.program.equations:
        return draw_program(rng)
    used = d.program.used()
    d.program.edges = {name: rules for name, rules in d.program.edges.items() if name in used}
    names = d.program.results()
    return d.program, None if d.fails else {name: oracle.result(values[name]) for name in names}


def add_equation(d, values):
    name = f"y{len(d.program.equations)}"
    if d.chance(0.05):
        return renew(d, values)
    before, steps = d.program.copy(), dict(d.steps)
    for equation in d.equation(name):
        d.program.equations.append(equation)
        world = oracle.World(d.program)
        world.arrays = dict(values)
        try:
            with np.errstate(all="ignore"):
                value = world.array(name)
        except (NotMeant, oracle.Fails) as why:
            d.program.equations.pop()
            if isinstance(why, oracle.Fails) and d.chance(0.1):
                d.program.equations.append(equation)
                d.fails = True
                return
            continue
        values[name] = value
        equation.let = len(d.program.equations) > 1 and d.chance(0.15)
        if value.off is None or np.all(np.isfinite(value.off)):
            typed = oracle.result(value).x
            d.made[name] = (typed.shape, typed.dtype)
            if typed.dtype.kind == "f" and value.off is not None and d.chance(0.7):
                del d.made[name]
        return
    d.program, d.steps = before, steps


def renew(d, values):
    """x = x + 1: in its own equation a name is the input's."""
    x = d.new_input(d.choice("i", "f"), (d.rng.choice(d.lengths), d.choice(2, 3)))
    d.program.edges.pop(x, None)
    i, j = Node("var", "i"), Node("var", "j")
    forms = [Equation(x, None, op("add", Node("array", x), number(1))),
             Equation(x, [("i", None, None), ("j", None, None)],
                      op("subtract", load(x, i, j), op("multiply", load(x, i, number(0)), j)))]
    d.program.equations.append(d.rng.choice(forms))
    with np.errstate(all="ignore"):
        values[x] = oracle.World(d.program).array(x)
    d.made[x] = (values[x].x.shape, values[x].x.dtype)
