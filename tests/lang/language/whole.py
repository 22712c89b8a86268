"""whole.py -- what expressions of whole arrays give, by NumPy."""

import ast

import numpy as np
from against_numpy import meaning

from . import oracle
from .ranges import Expander, NotMeant


def evaluate_all(world, body):
    """The right side of an equation without indices; of numbers alone it is a number."""
    return evaluate(world, Expander(world.program.functions).expand(body, {}))


def evaluate(world, node):
    kind, kids = node.kind, node.kids
    if kind == "number":
        return oracle.Value(np.asarray(node.value) if isinstance(node.value, bool) else node.value)
    if kind == "size":
        return oracle.Value(world.length(*node.value))
    if kind == "array":
        return world.array(node.value)
    if kind == "scalar":
        return world.scalar(node.value)
    values = [evaluate(world, kid) for kid in kids]
    if kind == "list":
        return listed(values)
    if kind == "cast":
        return oracle.cast(values[0], node.value)
    if kind == "choose":
        if all(meaning.is_weak(v.x) for v in values[1:]):
            raise NotMeant("a choice of numbers")
        return oracle.elementwise("where", values)
    if kind == "op" and node.value == "matmul":
        return einsum("ij,jk->ik", values)
    if kind == "op":
        return oracle.elementwise(node.value, values)
    if kind == "part":
        return part(node, values)
    if kind == "whole":
        return function(node, values)
    raise NotMeant(f"a whole array of {kind}")


def arrays_only(values):
    return [oracle.Value(meaning.typed(v.x), v.off) for v in values]


def listed(values):
    """Numbers in a list take the type they meet in."""
    if all(meaning.is_weak(v.x) for v in values):
        return oracle.Value(np.array([v.x for v in values]))
    dtype = meaning.promoted(*[v.x for v in values])
    values = [oracle.Value(meaning.as_dtype(v.x, dtype), v.off) for v in values]
    return moved(np.stack, values, True)


def moved(function, values, together=False):
    """Functions that only move cells treat how far they are off alike."""
    xs, offs = [v.x for v in values], [v.offs() for v in values]
    if together:
        return oracle.Value(function(xs), function(offs))
    return oracle.Value(function(xs[0]), function(offs[0]))


def part(node, values):
    if meaning.is_weak(values[0].x):
        raise NotMeant("a part of a number")
    items, indices = [], iter(values[1:])
    for text in node.value:
        if text is None:
            items.append(np.asarray(next(indices).x))
        elif ":" in text:
            items.append(slice(*[int(t) if t.strip() else None for t in text.split(":")]))
        else:
            items.append({"...": Ellipsis, "newaxis": None}.get(text, text))
            items[-1] = int(items[-1]) if isinstance(items[-1], str) else items[-1]
    try:
        return moved(lambda x: np.asarray(x[tuple(items)]), values)
    except IndexError as refusal:
        raise NotMeant(str(refusal)) from refusal


def literal(text):
    return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))


def axes_of(given, rank):
    axes = given.get("axis", list(range(rank)))
    axes = [axes] if isinstance(axes, int) else list(axes)
    if any(not -rank <= axis < rank for axis in axes):
        raise NotMeant("no such axis")
    return [axis % rank for axis in axes]


def reduced(word, value, axis=None, keepdims=False, ddof=0):
    x = value.x
    axes = axes_of({} if axis is None else {"axis": axis}, x.ndim)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    count = int(np.prod([x.shape[axis] for axis in axes], dtype="i8"))

    def rows(cells):
        return cells.transpose(kept + axes).reshape(-1)

    flat = oracle.Value(rows(x), None if value.off is None else rows(value.off))
    shape = [x.shape[axis] for axis in kept]
    groups = np.full(int(np.prod(shape, dtype="i8")), count)
    if word in ("var", "std") and (x.dtype.kind == "c" or count <= ddof):
        raise NotMeant("a variance of these")
    out = oracle.reduce_groups(word, flat, groups, ddof=ddof)
    if keepdims:
        shape = [1 if axis in axes else x.shape[axis] for axis in range(x.ndim)]
    return moved(lambda cells: cells.reshape(shape), [out])


def einsum(spec, values):
    values = arrays_only(values)
    xs = [v.x for v in values]
    dtype = meaning.promoted(*xs)
    if any(len(set(zip(spec, x.shape))) != len(set(spec[: x.ndim])) for x in xs[:1]):
        raise NotMeant("an index of two lengths")  # NumPy takes the 1 of 0 and 1
    if dtype.kind in "fc" and not all(np.isfinite(x).all() for x in xs):
        raise NotMeant("a product of what is not finite")
    try:
        if dtype.kind not in "fc":
            if any(v.off is not None for v in values):
                raise NotMeant("a product that is not known")
            return oracle.Value(np.asarray(np.einsum(spec, *[x.astype(dtype) for x in xs])))
        wide = np.einsum(spec, *[oracle.wide(x.astype(dtype)) for x in xs])
        size = np.einsum(spec, *[np.abs(x).astype("f8") + v.offs() for x, v in zip(xs, values)])
        known = np.einsum(spec, *[np.abs(x).astype("f8") for x in xs])
    except ValueError as refusal:
        raise NotMeant(str(refusal)) from refusal
    terms = sum(x.size for x in xs) + 8
    if (size > float(np.finfo(dtype).max) / 8).any():
        raise NotMeant("a product that large")
    off = (size - known) * 2 + size * oracle.eps_of(dtype) * terms * 2
    return oracle.Value(np.asarray(wide, dtype), np.asarray(off) + oracle.TINY)


PAD_MODES = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}

MOVES = {
    "roll": lambda x, shift, axis=None: np.roll(x, shift, axis),
    "flip": lambda x, axis=None: np.flip(x, axis),
    "permute": lambda x, axes=None: np.transpose(x, axes),
    "reshape": lambda x, shape, order="C": np.reshape(x, shape, order),
    "tile": np.tile,
    "repeat": np.repeat,
    "expand_dims": lambda x, axis: np.expand_dims(x, axis),
    "squeeze": lambda x, axis=None: np.squeeze(x, axis),
    "broadcast_to": np.broadcast_to,
    "pad": lambda x, widths, mode="constant": np.pad(x, widths, mode),
}
CREATED = {
    "zeros": lambda shape, dtype="f64": np.zeros(shape, oracle.DTYPES[dtype]),
    "ones": lambda shape, dtype="f64": np.ones(shape, oracle.DTYPES[dtype]),
    "eye": lambda rows, cols=None, diagonal=0, dtype="f64": np.eye(
        rows, cols, diagonal, oracle.DTYPES[dtype]),
    "arange": lambda *bounds: np.arange(*bounds),
    "index_array": lambda shape, axis: np.indices(shape)[axis],
}


def function(node, values):
    name, texts = node.value
    if name == "repeat" and not np.ndim(values[0].x):
        raise NotMeant("one cell repeated")
    if name == "einsum":
        return einsum(literal(texts[0][1]), values)
    given = [(key, text if key == "dtype" else literal(text)) for key, text in texts]
    positional = [value for key, value in given if not key]
    named = {key: value for key, value in given if key}
    values = arrays_only(values)
    try:
        if name in oracle.REDUCTIONS:
            return reduced(name, *values, *positional, **named)
        if name in CREATED:
            return oracle.Value(CREATED[name](*positional, **named))
        if name in ("stack", "concatenate"):
            dtype = meaning.promoted(*[v.x for v in values])
            values = [oracle.Value(meaning.as_dtype(v.x, dtype), v.off) for v in values]
            return moved(lambda xs: getattr(np, name)(xs, **named), values, True)
        if name == "outer":
            rows, columns = [v.x.reshape(-1) for v in values]
            offs = [v.offs().reshape(-1) for v in values]
            return oracle.elementwise("multiply", [
                oracle.Value(rows[:, None], offs[0][:, None]),
                oracle.Value(columns[None, :], offs[1][None, :])])
        return moved(lambda x: np.asarray(MOVES[name](x, *positional, **named)), values)
    except (ValueError, IndexError, TypeError) as refusal:
        raise NotMeant(str(refusal)) from refusal
