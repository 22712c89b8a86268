"""whole_drawing.py -- random expressions of whole arrays: functions, slices, operators."""

from .tree import Node, number, op

AXIS_WORDS = ["sum", "sum", "prod", "min", "max", "mean", "all", "any", "count", "argmin", "argmax",
              "var", "std"]


def draw_whole(d, depth):
    if depth <= 0:
        return leaf(d)
    how = d.rng.random()
    inner = draw_whole(d, depth - 1)
    if how < 0.25:
        return op(d.choice("add", "multiply", "subtract", "minimum", "divide"), inner, leaf(d))
    if how < 0.35:
        return op(d.choice("negative", "abs", "sin", "exp", "floor", "sqrt"), inner)
    if how < 0.42:
        return Node("cast", d.choice("f32", "f64", "i32", "u8", "i64", "c64", "bool"), inner)
    if how < 0.48:
        return Node("choose", d.choice("?", "where"), op("greater", inner, number(0)), inner, leaf(d))
    if how < 0.65:
        return reduced(d, inner)
    if how < 0.75:
        return parted(d, inner)
    return moved(d, inner)


def leaf(d):
    names = [name for name, (shape, _) in d.arrays().items() if 0 not in shape]
    if names and d.chance(0.7) or len(d.program.inputs) > 12 and names:
        return Node("array", d.rng.choice(names))
    if d.chance(0.2):
        return number(d.choice(2, 3, 0.5))
    if d.chance(0.1):
        return Node("list", None, *[number(d.choice(1, 2, 5)) for _ in range(d.choice(*range(1, 5)))])
    lengths = [n for n in d.lengths if n < 20] or [3]
    shape = tuple(d.rng.choice(lengths) for _ in range(d.choice(1, 2, 2, 3)))
    return Node("array", d.new_input(d.choice("b", "i", "i", "f", "f", "c"), shape))


def reduced(d, inner):
    named = []
    if d.chance(0.6):
        named.append(("axis", d.choice("0", "-1", "1", "[0, 1]", "[1]")))
    if d.chance(0.3):
        named.append(("keepdims", "true"))
    return Node("whole", (d.rng.choice(AXIS_WORDS), tuple(named)), inner)


def parted(d, inner):
    def piece():
        low, high = d.choice("", "", "1", "-2"), d.choice("", "", "3", "-1")
        return f"{low}:{high}" + d.choice("", "", ":2", ":-1")

    how = d.rng.random()
    if how < 0.4:
        return Node("part", (piece(),), inner)
    if how < 0.6:
        return Node("part", ("...", d.choice("0", "-1", piece())), inner)
    if how < 0.8:
        return Node("part", (piece(), "newaxis"), inner)
    index = Node("list", None, *[number(d.choice(0, 0, 1, -1)) for _ in range(3)])
    return Node("part", (None,), inner, index)


def moved(d, inner):
    forms = [
        ("roll", (("", d.choice("1", "-2", "7")), ("axis", "0"))),
        ("flip", (("axis", d.choice("0", "-1")),)),
        ("flip", ()),
        ("permute", ()),
        ("reshape", (("", "[-1]"),)),
        ("tile", (("", d.choice("[2]", "[2, 1]", "[1, 3]")),)),
        ("repeat", (("", "2"), ("axis", "0"))),
        ("expand_dims", (("", d.choice("0", "-1")),)),
        ("pad", (("", d.choice("[[1, 2]]", "[[1, 1], [0, 2]]")), ("mode", d.choice(
            '"constant"', '"edge"', '"wrap"', '"reflect"', '"symmetric"')))),
    ]
    how = d.rng.random()
    if how < 0.6:
        return Node("whole", d.rng.choice(forms), inner)
    if how < 0.7:
        return Node("whole", (d.choice("stack", "concatenate"), (("axis", "0"),)), inner, inner)
    if how < 0.78:
        return Node("whole", ("outer", ()), inner, leaf(d))
    if how < 0.88:
        spec, count = d.choice(("ij->ji", 1), ("ij,ij->", 2), ("ij,kj->ik", 2), ("i,i->i", 2), ("ii->i", 1))
        return Node("whole", ("einsum", (("", f'"{spec}"'),)), *[inner] * count)
    if how < 0.94:
        return op("matmul", inner, Node("whole", ("permute", ()), inner))
    return Node("whole", d.choice(
        ("arange", (("", "4"),)), ("eye", (("", "3"), ("", "4"), ("", "1"))),
        ("index_array", (("", "[2, 3]"), ("", "1"))), ("zeros", (("", "[3]"), ("dtype", "i16"))),
        ("ones", (("", "[2, 2]"),))))
