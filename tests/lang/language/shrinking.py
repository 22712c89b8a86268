"""shrinking.py -- a smaller program that fails too: equations, branches, ranges and cells are left out
one by one as long as it does."""

import re
import time

import numpy as np

from . import oracle
from .ranges import NotMeant
from .tree import Equation, Node, number

SECONDS = 20


def wanted(program):
    """The oracle's results; None: an error.  NotMeant if the program means nothing."""
    try:
        return oracle.evaluate_program(program)
    except oracle.Fails:
        return None
    except (IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError,
            RecursionError) as trouble:
        raise NotMeant(str(trouble)) from trouble


def without_equations(program):
    for i in range(len(program.equations)):
        smaller = program.copy()
        del smaller.equations[i]
        if smaller.outputs:
            smaller.outputs = None
        if smaller.results():
            yield smaller


def without_statements(program):
    for table in ("params", "functions", "edges"):
        for name in getattr(program, table):
            smaller = program.copy()
            del getattr(smaller, table)[name]
            yield smaller
    if program.outputs:
        smaller = program.copy()
        smaller.outputs = None
        yield smaller
    if program.order:
        smaller = program.copy()
        smaller.order = []
        yield smaller


def smaller_trees(tree):
    """What may stand in the place of a tree, smallest first."""
    if tree.kind in ("number", "var", "scalar", "array"):
        return
    yield number(1)
    yield number(1.5)
    first = 0 if tree.kind not in ("load", "part") else len(tree.kids)
    yield from tree.kids[first:]
    for i, kid in enumerate(tree.kids):
        for other in smaller_trees(kid):
            yield tree.with_kids(tree.kids[:i] + (other,) + tree.kids[i + 1 :])
    if tree.kind == "reduce" and len(tree.value[1]) > 1:
        yield from with_fewer_ranges(tree)


def with_fewer_ranges(tree):
    word, ranges = tree.value
    at = 0
    for i, (_, given) in enumerate(ranges):
        width = 2 if given else 0
        kids = tree.kids[:at] + tree.kids[at + width :]
        yield Node("reduce", (word, ranges[:i] + ranges[i + 1 :]), *kids)
        at += width


def with_smaller_trees(program):
    for i, equation in enumerate(program.equations):
        for body in smaller_trees(equation.body):
            smaller = program.copy()
            smaller.equations[i] = Equation(equation.name, equation.indices, body, equation.let)
            yield smaller
        for at in range(len(equation.indices or [])):
            smaller = program.copy()
            indices = equation.indices[:at] + equation.indices[at + 1 :]
            smaller.equations[i] = Equation(equation.name, indices, equation.body, equation.let)
            yield smaller


def with_plainer_inputs(program):
    used = program.used()
    for name, x in program.inputs.items():
        if name not in used:
            continue
        for axis, length in enumerate(x.shape):
            for shorter in {length // 2, length - 1}:
                if 0 < shorter < length:
                    smaller = program.copy()
                    smaller.inputs[name] = np.ascontiguousarray(
                        np.take(x, np.arange(shorter), axis))
                    yield smaller
        for plain in (np.zeros_like(x), np.ones_like(x)):
            if x.size and x.tobytes() != plain.tobytes() and (x.any() or plain.any()):
                if not (x == 0).all():
                    smaller = program.copy()
                    smaller.inputs[name] = plain
                    yield smaller


def kind_of(complaints):
    """So that a smaller program fails for the same reason."""
    text = complaints[0]
    if text == "refused:":
        return re.sub(r"`[^`]*`|[\w.]*\d[\w.]*|\(.*?\)", "", complaints[1])
    return text if text.startswith(("signal", "refused")) else text.split(":")[0].split(" ")[0]


def shrunk(program, want, found, complaints):
    """(a smaller program, its complaints)."""
    until, again = time.monotonic() + SECONDS, True
    while again:
        again = False
        for make in (without_equations, without_statements, with_smaller_trees, with_plainer_inputs):
            for smaller in make(program):
                if time.monotonic() > until:
                    return program, found
                try:
                    want = wanted(smaller)
                except NotMeant:
                    continue
                new = complaints(smaller, want)
                if new and kind_of(new) == kind_of(found):
                    program, found, again = smaller, new, True
                    break
            if again:
                break
    return program, found
