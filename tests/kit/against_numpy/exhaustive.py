"""exhaustive.py -- every operation on every type and pair of types, with special values; every
cast, promotion and reduction; untyped numbers on either side.  Nothing here is random."""

import itertools
from ctypes import c_bool, c_char, c_double, c_int, c_int64, c_void_p

import numpy as np

from arras_ctypes import DTYPE_CODES, DTYPE_OF_CODE, SIGNATURES, ArrasError, name_of

from . import compare, meaning, pairs
from .steps_reduce import reduce
from .values import DTYPES, special_values

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    63,
    64,
    127,
    128,
    255,
    256,
    -129,
    65536,
    2**31,
    2**40,
    -(2**63),
    2**63 - 1,
    0.0,
    -0.0,
    1.5,
    -2.5,
    float("nan"),
    float("inf"),
    1e300,
    1 + 2j,
    complex(-0.0, 1),
]
BOUNDARIES = [
    127.0,
    127.5,
    128.0,
    -128.5,
    -129.0,
    255.9,
    256.0,
    -0.9,
    -1.0,
    32767.5,
    65535.5,
    2.0**31,
    2.0**31 - 0.5,
    2.0**32,
    2.0**63,
    2.0**63 - 1024,
    2.0**64,
    -(2.0**63),
    -(2.0**64),
    1e300,
]


def some_values(dtype, most):
    """At most this many of the special values of a type, spread over all of them."""
    values = special_values(dtype)
    return (
        values if len(values) <= most else values[np.linspace(0, len(values) - 1, most).astype(int)]
    )


class Group:
    """Cases that are recorded in one graph and evaluated together; it passes or fails as one.

    ordered   what is not exact has one order all the same, so that compiled it has the bits of the
              reference evaluator"""

    def __init__(self, lib, title, ordered=False):
        self.lib, self.title, self.ordered = lib, title, ordered
        self.cases, self.problems = [], []

    def add(self, what, record, expected, *operands):
        """record(graph, *handles); expected(*operands) gives Expected or raises a refusal."""
        self.cases.append((what, record, expected, operands))

    def run(self):
        with self.lib.graph() as graph:
            handles = [
                record(graph, *[leaf(graph, x) for x in operands])
                for _, record, _, operands in self.cases
            ]
            for i, handle in enumerate(handles):
                if graph.error(handle) is None:
                    graph.output(f"c{i}", handle)
            try:
                results = graph.evaluate({})
                reference = graph.evaluate_reference({}) if self.lib.compiled else results
            except ArrasError as error:
                self.problems.append(f"evaluation fails: {error.text}")
                return self
            for i, handle in enumerate(handles):
                name = f"c{i}"
                self.judge(
                    self.cases[i], graph.error(handle), results.get(name), reference.get(name)
                )
        return self

    def judge(self, case, error, got, reference):
        what, _, expected, operands = case
        try:
            with np.errstate(all="ignore"):
                want = expected(*operands)
        except meaning.REFUSALS as refusal:
            if error is None:
                self.problems.append(
                    f"{what}: NumPy refuses it ({refusal}), Arras gives {got.dtype}"
                )
            return
        if error is not None:
            self.problems.append(
                f"{what}: Arras refuses it ({error}), NumPy gives {want.value.dtype}"
            )
            return
        difference = compare.difference(got, want)
        if difference:
            self.problems.append(f"{what}: {difference}" + self.where(got, want, operands))
        self.judge_compiled(what, want, got, reference)

    def judge_compiled(self, what, want, got, reference):
        """The same bits as the reference evaluator."""
        if got is reference or (want.slack is not None and not self.ordered):
            return
        difference = compare.unlike(got, reference)
        if difference:
            self.problems.append(f"{what}: {difference}")

    def where(self, got, want, operands):
        """The operands of the first cell that differs."""
        if got.dtype != want.value.dtype or got.shape != want.value.shape:
            return ""
        cell = tuple(np.argwhere(compare.wrong_cells(got, want))[0])
        try:
            cells = [np.broadcast_to(x, got.shape)[cell] for x in operands]
        except ValueError:  # a reduction
            return ""
        return " for " + ", ".join(repr(x) for x in cells)


class Search(Group):
    """What a generator finds wrong."""

    def __init__(self, lib, title, search):
        super().__init__(lib, title)
        self.search = search

    def run(self):
        self.problems = list(self.search(self.lib))
        return self


def leaf(graph, x):
    return graph.number(x) if meaning.is_weak(x) else graph.copy(x)


def describe(xs):
    return ", ".join(repr(x) if meaning.is_weak(x) else name_of(x.dtype) for x in xs)


def add_operation(group, op, xs):
    group.add(
        f"{op}({describe(xs)})",
        lambda g, *hs: g.op(op, *hs),
        lambda *operands: meaning.elementwise(op, operands),
        *xs,
    )


def operation_group(lib, op, title, operand_lists):
    group = Group(lib, f"{op}: {title}", ordered=True)
    for xs in operand_lists:
        add_operation(group, op, xs)
    return group


def shaped(arrays):
    """Arrays along axes of their own, so that every value meets every other."""
    rank = len(arrays)
    return [
        x.reshape([-1 if d == axis else 1 for d in range(rank)]) for axis, x in enumerate(arrays)
    ]


def typed_operands(arity):
    most = {1: 1000, 2: 36, 3: 7}[arity]
    for dtypes in itertools.product(DTYPES, repeat=arity):
        yield shaped([some_values(dtype, most) for dtype in dtypes])


def numbered_operands(arity):
    """An untyped number in every place, among arrays of one type."""
    for dtype, number, place in itertools.product(DTYPES, NUMBERS, range(arity)):
        operands = [some_values(dtype, 40 if arity == 2 else 12)] * arity
        operands[place] = number
        yield operands


def untyped_operands(arity):
    """Numbers only; powers of integers to negative integers are refused like those of arrays."""
    some = NUMBERS if arity < 3 else [0, 3, -1, 2.5, 1j]
    return itertools.product(some, repeat=arity)


def operation_groups(lib):
    for op, arity in lib.arity.items():
        yield operation_group(lib, op, "all types", typed_operands(arity))
        if arity > 1:
            yield operation_group(lib, op, "types and numbers", numbered_operands(arity))
        yield operation_group(lib, op, "numbers", untyped_operands(arity))


def pair_groups(lib):
    """All pairs of special values of one type, for every operation with two operands."""
    for dtype in ("f4", "f8", "c8", "c16"):
        group, operands = Group(lib, f"all pairs of {dtype}", ordered=True), pairs.values(dtype)
        for op in (op for op, arity in lib.arity.items() if arity == 2):
            add_operation(group, op, shaped([operands, operands]))
        yield group


def cast_group(lib):
    group = Group(lib, "casts")
    for source, target in itertools.product(DTYPES, DTYPES):
        cells = special_values(source)
        if source.kind in "fc":
            cells = np.concatenate([cells, np.array(BOUNDARIES + [-x for x in BOUNDARIES], source)])
        group.add(
            f"cast({name_of(source)} to {name_of(target)})",
            lambda g, x, t=target: g.cast(x, t),
            lambda x, t=target: meaning.cast(x, t),
            cells,
        )
    for number, target in itertools.product(NUMBERS, DTYPES):
        group.add(
            f"cast({number!r} to {name_of(target)})",
            lambda g, x, t=target: g.cast(x, t),
            lambda x, t=target: meaning.cast(x, t),
            number,
        )
    return group


def round_trip_group(lib):
    """To every type and back, in arrays of a length that leaves a rest in every vector."""
    group = Group(lib, "casts there and back")
    for source, target in itertools.product(DTYPES, DTYPES):
        group.add(
            f"cast({name_of(source)} to {name_of(target)} and back)",
            lambda g, x, s=source, t=target: g.cast(g.cast(x, t), s),
            lambda x, s=source, t=target: meaning.cast(meaning.cast(x, t).value, s),
            np.resize(special_values(source), 67),
        )
    return group


def promotion_problems(lib):
    for a, b in itertools.product(DTYPES, DTYPES):
        got = DTYPE_OF_CODE.get(lib.dtype_promote(DTYPE_CODES[a], DTYPE_CODES[b]))
        if got != np.promote_types(a, b):
            yield f"{a} and {b} give {got}, in NumPy {np.promote_types(a, b)}"


def reduction_groups(lib):
    for name in lib.reductions:
        group = Group(lib, f"{name}: all types")
        for dtype, axes, keepdims in itertools.product(
            DTYPES, (None, [0], [1], [], [-1, 0]), (False, True)
        ):
            cells = some_values(dtype, 12)
            for x in (
                cells.reshape(2, -1) if len(cells) % 2 == 0 else cells.reshape(1, -1),
                np.empty((0, 2), dtype),
                np.empty((2, 0), dtype),
                np.empty((0, 0), dtype),
            ):
                group.add(
                    f"{name}({dtype}{list(x.shape)}, axes={axes}, keepdims={keepdims})",
                    lambda g, h, a=axes, k=keepdims: g.reduce(name, h, a, k),
                    lambda y, a=axes, k=keepdims: reduce(name, y, a, k),
                    x,
                )
        yield group


NOTHING_TO_GIVE = {
    "op_get",
    "array_graph",
    "output_array",
    "find_input",
    "results_at",
    "results_find",
}


def builders(lib):
    """Names and arguments of all functions that record something."""
    yield from (
        (name, arguments)
        for name, (result, arguments) in SIGNATURES.items()
        if result is c_void_p and name not in NOTHING_TO_GIVE
    )
    yield from ((name, [c_void_p] * arity) for name, arity in lib.arity.items())
    yield from ((name, [c_void_p, c_int, c_void_p, c_bool]) for name in lib.reductions)


def null_problems(lib):
    """Every builder, given NULL and 0 for everything, gives poison with a message."""
    zeros = {c_char: b"\0", c_int: 0, c_int64: 0, c_double: 0.0, c_bool: False}
    for name, arguments in builders(lib):
        handle = getattr(lib, name)(*[zeros.get(a) for a in arguments])
        if handle is None:
            yield f"arras_{name} gives NULL"
        elif name != "function_new":
            error = (lib.expr_error if name.startswith("expr_") else lib.array_error)(handle)
            if not error:
                yield f"arras_{name} gives no message"


def groups(lib):
    yield Search(lib, "NULL and 0 for all arguments", null_problems)
    yield Search(lib, "promotion", promotion_problems)
    yield cast_group(lib)
    yield round_trip_group(lib)
    yield from operation_groups(lib)
    yield from pair_groups(lib)
    yield pairs.power_group(lib)
    yield Search(lib, "equal arguments in all places", pairs.place_problems)
    yield from reduction_groups(lib)


def groups_thinned(lib):
    """Some of the same, for programs that are compiled: every operation, type and reduction, but not
    every combination."""
    yield cast_group(lib)
    yield round_trip_group(lib)
    for op, arity in lib.arity.items():
        some = itertools.islice(typed_operands(arity), 0, None, (1, 1, 3, 29)[arity])
        yield operation_group(lib, op, "types", some)
    yield from pair_groups(lib)
    yield pairs.power_group(lib)
    yield Search(lib, "equal arguments in all places", pairs.place_problems)
    for group in reduction_groups(lib):
        group.cases = group.cases[::3]
        yield group
