"""pairs.py -- functions of two special values, powers however the exponent is said, and functions of
equal arguments in all places of a program."""

import itertools

import numpy as np

from . import compare, exhaustive, meaning

WHOLE = [0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 99.0, 100.0]


def values(dtype):
    """Zeros, ones, halves, whole numbers, ends of the type, infinities and nan, with both signs; of
    complex numbers some of them in each part, and whole ones."""
    dtype = np.dtype(dtype)
    info = np.finfo(dtype)
    ends = [float(x) for x in (info.tiny, info.smallest_subnormal, info.max)]
    if dtype.kind == "f":
        some = WHOLE + [0.5, 1.5, 2.5, 1e10, float(info.eps), float(1 / info.eps), *ends, np.inf]
        return np.array([x for size in some for x in (size, -size)] + [np.nan], dtype)
    some = [x for size in [0.0, 1.0, 0.5, 2.0, *ends, np.inf] for x in (size, -size)] + [np.nan]
    pairs = itertools.chain(
        itertools.product(some, some), [(x, 0.0) for x in WHOLE[3:]], [(-x, 0.0) for x in WHOLE[3:]]
    )
    return np.array([complex(*pair) for pair in pairs], dtype)


# ---- Powers ----------------------------------------------------------------------------------

EXPONENTS = [0, 1, 2, 3, 4, 0.0, -0.0, 1.0, 2.0, 3.0, 4.0, 0.5, 1.5, -0.5, -1.0, -2.0]
OTHERS = [5, 2.5, -1.5, -3.0, float("inf"), float("nan"), 2j, 1 + 0j]


def exponents(graph, number, dtype, shape):
    """The number as itself, as a constant of the type and folded, as data, as an array of equal
    numbers."""
    typed = np.array(number, dtype)
    yield graph.number(number)
    yield graph.scalar(typed)
    yield graph.copy(typed)
    yield graph.full(graph.scalar(typed), shape)
    yield graph.copy(np.full(shape, typed))
    yield graph.op("subtract", graph.scalar(typed), graph.scalar(np.zeros((), dtype)))


def power_group(lib):
    group = exhaustive.Group(lib, "powers to constants", ordered=True)
    for dtype, number in itertools.product(["f4", "f8", "c8", "c16"], EXPONENTS + OTHERS):
        if isinstance(number, complex) and dtype[0] == "f":
            continue
        cells = values(dtype)
        for way in range(6):
            group.add(
                f"pow({dtype}, {number!r}), written in way {way}",
                lambda g, x, n=number, t=dtype, s=cells.shape, w=way: g.op(
                    "pow", x, next(itertools.islice(exponents(g, n, t, s), w, None))
                ),
                lambda x, n=number: meaning.power(x, np.array(n, x.dtype)),
                cells,
            )
    for dtype, number in itertools.product("i1 i4 i8 u1 u8".split(), [0, 1, 2, 3, 4, 5]):
        cells = exhaustive.special_values(dtype)
        for way in range(6):
            group.add(
                f"pow({dtype}, {number!r}), written in way {way}",
                lambda g, x, n=number, t=dtype, s=cells.shape, w=way: g.op(
                    "pow", x, next(itertools.islice(exponents(g, n, t, s), w, None))
                ),
                lambda x, n=number: meaning.power(x, np.array(n, x.dtype)),
                cells,
            )
    return group


# ---- Equal arguments -------------------------------------------------------------------------

COUNT = 19  # whole vectors and a rest


def arguments(dtype):
    """Of ordinary size, large ones that need much reduction, and what is special, side by side."""
    rng = np.random.default_rng(3)
    cells = np.concatenate([rng.random(5), rng.random(5) * 40, rng.random(3) * 1e6])
    special = [COUNT, 137.3, np.nan, np.inf, 5e-324, -0.0]
    cells = np.concatenate([special, cells]).astype(dtype)
    return cells, np.roll(cells, 7)


def one_of_each(graph, op, xs, dtype, k):
    """The operation of the k-th arguments, said in several ways."""
    cells = [x[k] for x in xs]
    yield graph.op(op, *[graph.scalar(c) for c in cells])
    yield graph.op(op, *[graph.full(graph.scalar(c), (9,)) for c in cells])
    yield graph.op(op, *[graph.copy(np.array([[c]])) for c in cells])
    if dtype == "f8":
        yield graph.op(op, *[graph.number(float(c)) for c in cells])


def rows(graph, op, xs, leaves):
    """The operation of all arguments, and where it puts which of them."""
    order = np.random.default_rng(4).permutation(COUNT)
    every = np.arange(COUNT)
    picked = graph.copy(order)

    def of(items):
        return graph.op(op, *[graph.index(x, items) for x in leaves])

    yield graph.op(op, *leaves), every
    yield of([(picked,)]), order
    yield of([slice(3, None, None)]), every[3:]
    yield of([slice(None, None, 2)]), every[::2]
    yield of([slice(5, 6, None)]), every[5:6]
    one = [graph.lib.expr_int(graph.pointer, n) for n in (0, 1)]
    along = graph.lib.expr_apply, graph.lib.expr_index(graph.pointer, 0)
    at = graph.expr_apply("add", [along[1], graph.lib.expr_var(graph.pointer, b"k")])
    body = graph.expr_apply(op, [graph.expr_load(x, [at]) for x in leaves])
    yield graph.array_lambda((COUNT,), graph.expr_reduce("max", "k", *one, body)), every


def record_places(graph, op, dtype, leaves, which):
    """Outputs; which[name] is the row that has all cells, and those of them that the output has."""
    xs, leaves = [all_of[: graph.lib.arity[op]] for all_of in (arguments(dtype), leaves)]
    prefix = f"{op}_{dtype}_"
    for number, (handle, cells) in enumerate(rows(graph, op, xs, leaves)):
        graph.output(f"{prefix}row{number}", handle)
        which[f"{prefix}row{number}"] = (f"{prefix}row0", cells)
    for k, way in itertools.product((0, 1, 9), range(4)):
        handle = next(itertools.islice(one_of_each(graph, op, xs, dtype, k), way, None), None)
        if handle is not None and (k == 1 or way == 0):
            graph.output(f"{prefix}one{k}_{way}", handle)
            which[f"{prefix}one{k}_{way}"] = (f"{prefix}row0", np.array([k]))


def place_problems_of(lib, ops, **options):
    which = {}
    with lib.graph() as graph:
        inputs = {}
        for dtype in ("f4", "f8"):
            names = [f"{name}_{dtype}" for name in "xy"]
            leaves = [graph.placeholder(name, dtype, (COUNT,)) for name in names]
            graph.output(f"both_{dtype}", graph.op("add", *leaves))
            inputs.update(zip(names, arguments(dtype)))
            for op in ops:
                record_places(graph, op, dtype, leaves, which)
        reference = graph.evaluate_reference(inputs)
        got = graph.launch(inputs, **options) if lib.compiled else reference
    for name, (row, cells) in which.items():
        want = reference[row][cells]
        if not compare.same_or_nan(*np.broadcast_arrays(got[name], want)).all():
            yield f"{name}, {options}: {got[name]!r}, elsewhere {want!r}"


ONES = (np.ones((), "f4"), np.ones((), "i4"))


def is_function(lib, op):
    """Of reals, but not of integers: what is computed by a library, and the like."""
    with lib.graph() as graph:
        results = [graph.op(op, *[graph.scalar(one)] * lib.arity[op]) for one in ONES]
        return all(graph.error(x) is None and graph.dtype(x).kind == "f" for x in results)


def place_problems(lib):
    functions = [op for op, arity in lib.arity.items() if arity < 3 and is_function(lib, op)]
    functions += ["pow", "remainder", "floor_divide", "fmod"]
    for first in range(0, len(functions), 4):
        options = {"no_fusion": True} if first % 12 == 0 else {"threads": 2}
        yield from place_problems_of(lib, functions[first : first + 4], **options)
