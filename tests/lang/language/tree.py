"""tree.py -- programs of the language as trees, and their text.

A node has a kind, a value and kids:

    number   a Python number, or True and False       var      an index: its name
    scalar   an array without axes, or a param: name  load     array[...]: its name; the indices
    op       an operation of ops.def: its name        cast     the name of a type
    choose   condition, and two branches; the value is how it is written: "?" or "where"
    reduce   (word, ((variable, has a range), ...)); two kids for each range, then the body
    call     a function of the program: its name; an argument may be an `array`, passed as such
    array    a whole array: its name                  list     [a, b]: numbers of a whole array
    whole    a function of whole arrays: (name, ((argument, text), ...)); the positional arguments
    part     x[...] of a whole array: texts of the items, None for those that are kids
    cells    (...)[i, j]: a whole array that has no name; the array, the indices
    size     size(x, axis): (name, axis)
"""

# operator, how much it binds, and how much its left and right operand have to bind
INFIX = {
    "logical_or": ("or", 2, 2, 3),
    "logical_and": ("and", 3, 3, 4),
    "equal": ("==", 5, 6, 6),
    "not_equal": ("!=", 5, 6, 6),
    "less": ("<", 5, 6, 6),
    "less_equal": ("<=", 5, 6, 6),
    "greater": (">", 5, 6, 6),
    "greater_equal": (">=", 5, 6, 6),
    "bitwise_or": ("|", 6, 6, 7),
    "bitwise_xor": ("^", 7, 7, 8),
    "bitwise_and": ("&", 8, 8, 9),
    "left_shift": ("<<", 9, 9, 10),
    "right_shift": (">>", 9, 9, 10),
    "add": ("+", 10, 10, 11),
    "subtract": ("-", 10, 10, 11),
    "multiply": ("*", 11, 11, 12),
    "divide": ("/", 11, 11, 12),
    "floor_divide": ("//", 11, 11, 12),
    "remainder": ("%", 11, 11, 12),
    "matmul": ("@", 11, 11, 12),
    "pow": ("**", 13, 14, 12),
}
PREFIX = {"logical_not": ("not ", 4, 4), "negative": ("-", 12, 12), "bitwise_invert": ("~", 12, 12)}
OTHERS = {"or": "||", "and": "&&", "not ": "!"}  # the second spelling
LOOSE, BEHIND_COMPARISONS, WITHIN_SUM, PRODUCT, POSTFIX = 1, 5.5, 10.5, 11, 14


class Node:
    __slots__ = ("kind", "value", "kids")

    def __init__(self, kind, value=None, *kids):
        self.kind, self.value, self.kids = kind, value, kids

    def with_kids(self, kids):
        return Node(self.kind, self.value, *kids)

    def walk(self):
        yield self
        for kid in self.kids:
            yield from kid.walk()

    def __repr__(self):
        return text_of(self)


def number(value):
    return Node("number", value)


def op(name, *kids):
    return Node("op", name, *kids)


def load(name, *indices):
    return Node("load", name, *indices)


def ranges_of(node):
    """Of a reduction: (variable, lower bound or None, upper bound or None), in order."""
    kids = iter(node.kids)
    return [
        (name, next(kids), next(kids)) if given else (name, None, None)
        for name, given in node.value[1]
    ]


def reduction(word, ranges, body):
    kids = [bound for _, low, high in ranges if high is not None for bound in (low, high)]
    names = tuple((name, high is not None) for name, _, high in ranges)
    return Node("reduce", (word, names), *kids, body)


# ---- Text ------------------------------------------------------------------------------------------


def number_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"{value.imag!r}j"
    if value != value:
        return "nan"
    if isinstance(value, float) and abs(value) == float("inf"):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def bound_text(node):
    text, binds = written(node)
    return f"({text})" if binds <= LOOSE else text


def range_text(name, low, high):
    if high is None:
        return name
    if low.kind == "number" and low.value == 0 and low.value is not False:
        return f"{name}:{bound_text(high)}"
    return f"{name}:{bound_text(low)}:{bound_text(high)}"


def call_text(name, *parts):
    return f"{name}({', '.join(parts)})", POSTFIX


def reduction_text(node):
    ranges = ", ".join(range_text(*one) for one in ranges_of(node))
    # A comparison right behind these is taken for a mistake.
    binds = BEHIND_COMPARISONS if node.value[0] in ("all", "any", "count") else WITHIN_SUM
    return f"{node.value[0]}[{ranges}] {operand(node.kids[-1], PRODUCT)}", binds


def op_text(node):
    name, kids = node.value, node.kids
    if name in INFIX and len(kids) == 2:
        sign, binds, left, right = INFIX[name]
        if hash_of(node) % 11 == 0:
            sign = OTHERS.get(sign, sign)
        space = "" if sign in ("*", "**") else " "
        return f"{operand(kids[0], left)}{space}{sign}{space}{operand(kids[1], right)}", binds
    if name in PREFIX:
        sign, binds, inner = PREFIX[name]
        if hash_of(node) % 3 == 0:
            sign = OTHERS.get(sign, sign)
        return sign + operand(kids[0], inner), binds
    return call_text(name, *[operand(kid, LOOSE) for kid in kids])


def hash_of(node):
    return sum(len(repr(n.value)) + 7 * len(n.kids) for n in node.walk())


def part_text(node):
    kids = iter(node.kids[1:])
    items = [operand(next(kids), LOOSE) if item is None else item for item in node.value]
    return f"{operand(node.kids[0], POSTFIX)}[{', '.join(items)}]", POSTFIX


def whole_text(node):
    name, named = node.value
    texts = [operand(kid, LOOSE) for kid in node.kids]
    if name in ("stack", "concatenate"):
        texts = [f"[{', '.join(texts)}]"]
    if name == "einsum":
        return call_text(name, named[0][1], *texts)
    return call_text(name, *texts, *[f"{key}={text}" if key else text for key, text in named])


def written(node):
    """The text of a node and how much it binds."""
    kind, value, kids = node.kind, node.value, node.kids
    if kind == "number":
        text = number_text(value)
        return text, 12 if text[0] == "-" else POSTFIX
    if kind in ("var", "scalar", "array"):
        return value, POSTFIX
    if kind == "load":
        return f"{value}[{', '.join(operand(kid, LOOSE) for kid in kids)}]", POSTFIX
    if kind in ("cast", "call"):
        return call_text(value, *[operand(kid, LOOSE) for kid in kids])
    if kind == "choose":
        if value == "where":
            return call_text("where", *[operand(kid, LOOSE) for kid in kids])
        condition, left, right = operand(kids[0], 2), operand(kids[1], LOOSE), operand(kids[2], LOOSE)
        return f"{condition} ? {left} : {right}", LOOSE
    if kind == "reduce":
        return reduction_text(node)
    if kind == "size":
        return call_text("size", value[0], str(value[1]))
    if kind == "cells":
        return f"{operand(kids[0], POSTFIX)}[{', '.join(operand(k, LOOSE) for k in kids[1:])}]", POSTFIX
    if kind == "list":
        return f"[{', '.join(operand(kid, LOOSE) for kid in kids)}]", POSTFIX
    if kind == "whole":
        return whole_text(node)
    if kind == "part":
        return part_text(node)
    return op_text(node)


def operand(node, least):
    text, binds = written(node)
    return f"({text})" if binds < least else text


def text_of(node):
    return written(node)[0]


# ---- Programs --------------------------------------------------------------------------------------


class Equation:
    """indices: None for a whole array, else (variable, lower and upper bound or None) each."""

    def __init__(self, name, indices, body, let=False):
        self.name, self.indices, self.body, self.let = name, indices, body, let

    def text(self):
        left = self.name
        if self.indices is not None and self.indices != []:
            left += f"[{', '.join(range_text(*one) for one in self.indices)}]"
        return f"{'let ' if self.let else ''}{left} = {text_of(self.body)}"

    def trees(self):
        """The body and the bounds."""
        yield self.body
        for _, low, high in self.indices or []:
            if high is not None:
                yield low
                yield high


class Program:
    """inputs: arrays by name; edges: rules of the axes by name ("wrap", "none", or a number);
    params: (value in the text, value that replaces it or None); functions: (parameters, body)."""

    def __init__(self):
        self.inputs, self.edges, self.params, self.functions = {}, {}, {}, {}
        self.equations, self.order = [], []  # order: a number for each statement, to mix them
        self.outputs = None

    def copy(self):
        new = Program()
        for name in ("inputs", "edges", "params", "functions"):
            setattr(new, name, dict(getattr(self, name)))
        new.equations, new.order, new.outputs = list(self.equations), list(self.order), self.outputs
        return new

    def results(self):
        return self.outputs or [e.name for e in self.equations if not e.let]

    def lines(self):
        lines = [f"param {name} = {number_text(value)}" for name, (value, _) in self.params.items()]
        for name, (parameters, body) in self.functions.items():
            lines.append(f"def {name}({', '.join(parameters)}) = {text_of(body)}")
        for name, rules in self.edges.items():
            texts = [rule if isinstance(rule, str) else number_text(rule) for rule in rules]
            same = all(text == texts[0] for text in texts)
            lines.append(f"edge {name} = {texts[0] if same else '[' + ', '.join(texts) + ']'}")
        lines += [equation.text() for equation in self.equations]
        if self.outputs:
            lines.append(f"output {', '.join(self.outputs)}")
        places = self.order[: len(lines)] + list(range(len(self.order), len(lines)))
        return [line for _, line in sorted(zip(places, lines), key=lambda pair: pair[0])]

    def text(self):
        """Statements on lines of their own or behind `;`, and comments here and there."""
        ends = {0: "; ", 1: " # of nothing\n"}
        return "".join(line + ends.get(len(line) % 7, "\n") for line in self.lines())

    def used(self):
        """Names of the arrays, params and functions that something reads."""
        trees = [tree for equation in self.equations for tree in equation.trees()]
        trees += [body for _, body in self.functions.values()]
        kinds = ("scalar", "load", "array", "call")
        found = {node.value for tree in trees for node in tree.walk() if node.kind in kinds}
        found |= {node.value[0] for tree in trees for node in tree.walk() if node.kind == "size"}
        for tree in trees:
            for node in tree.walk():
                if node.kind == "whole":
                    found.update(name for name in self.inputs for _, text in node.value[1]
                                 if name in text)
        return found
