"""steps_create.py -- arrays from nothing: filled, counted, spaced, their own indices."""

import numpy as np

from . import meaning, values
from .compare import Expected
from .program import Kind, register


def draw_dims(maker):
    return [maker.length(n) for n in values.draw_shape(maker.rng)]


@register
class Filled(Kind):
    """zeros and ones."""

    def draw(self, maker):
        rng = maker.rng
        args = {"builder": rng.choice(["zeros", "ones"]), "shape": draw_dims(maker)}
        return [], {**args, "dtype": values.draw_dtype(rng)}

    def record(self, graph, xs, args):
        return graph.filled(args["builder"], args["dtype"], args["shape"])

    def meaning(self, xs, args):
        return Expected(
            getattr(np, args["builder"])([int(n) for n in args["shape"]], args["dtype"])
        )

    def labels(self, args):
        return [args["builder"]]

    def all_labels(self, lib):
        return ["zeros", "ones"]


@register
class Full(Kind):
    def draw(self, maker):
        value = maker.number() if maker.rng.random() < 0.4 else maker.new(())
        return [value], {"shape": draw_dims(maker)}

    def record(self, graph, xs, args):
        return graph.full(xs[0], args["shape"])

    def meaning(self, xs, args):
        value = meaning.typed(xs[0])
        return Expected(np.full([int(n) for n in args["shape"]], value, value.dtype))


@register
class Eye(Kind):
    def draw(self, maker):
        rng = maker.rng
        rows, columns = [maker.length(rng.choice([0, 1, 2, 3, 4])) for _ in range(2)]
        return [], {
            "rows": rows,
            "columns": columns,
            "diagonal": rng.choice([0, 0, 1, -1, 2, -9, 2**40]),
            "dtype": values.draw_dtype(rng),
        }

    def record(self, graph, xs, args):
        return graph.eye(args["dtype"], args["rows"], args["columns"], args["diagonal"])

    def meaning(self, xs, args):
        return Expected(
            np.eye(int(args["rows"]), int(args["columns"]), args["diagonal"], args["dtype"])
        )


@register
class Arange(Kind):
    """Of integers or of reals."""

    def draw(self, maker):
        rng = maker.rng
        start, stop = rng.randint(-9, 9), rng.randint(-9, 9)
        step = 0 if maker.wrong() else rng.choice([1, 1, 2, 3, -1, -2, 7, 2**62])
        if rng.random() < 0.5:
            start, stop, step = start / 4, stop / 3, step * rng.choice([0.25, 0.3, 1.0, 1e-1])
        return [], {"start": start, "stop": stop, "step": step}

    def record(self, graph, xs, args):
        bounds = args["start"], args["stop"], args["step"]
        real = isinstance(args["start"], float)
        return (graph.lib.arange_real if real else graph.lib.arange)(graph.pointer, *bounds)

    def meaning(self, xs, args):
        if args["step"] == 0:
            raise ValueError("the step is 0")
        value = np.arange(args["start"], args["stop"], args["step"])
        if value.dtype != "f8":
            return Expected(value)
        largest = max(abs(args["start"]), abs(args["stop"]))
        return Expected(
            value, slack=meaning.ulps(4, "f8", np.full(value.shape, largest)), zero_signs=False
        )

    def labels(self, args):
        return ["arange_real" if isinstance(args["start"], float) else "arange"]

    def all_labels(self, lib):
        return ["arange", "arange_real"]


@register
class Linspace(Kind):
    def draw(self, maker):
        rng = maker.rng
        return [], {
            "start": values.draw_real(rng),
            "stop": values.draw_real(rng),
            "count": -1 if maker.wrong() else rng.choice([0, 1, 2, 3, 5, 10]),
            "endpoint": rng.random() < 0.5,
        }

    def record(self, graph, xs, args):
        return graph.lib.linspace(graph.pointer, *args.values())

    def meaning(self, xs, args):
        value = np.linspace(*args.values())
        largest = max(abs(args["start"]), abs(args["stop"]))
        return Expected(
            value, slack=meaning.ulps(4, "f8", np.full(value.shape, largest)), zero_signs=False
        )


@register
class IndexArray(Kind):
    def draw(self, maker):
        shape = draw_dims(maker)
        return [], {"shape": shape, "axis": maker.axis(len(shape))}

    def record(self, graph, xs, args):
        return graph.index_array(args["shape"], args["axis"])

    def meaning(self, xs, args):
        shape, axis = [int(n) for n in args["shape"]], args["axis"]
        if not -len(shape) <= axis < len(shape):
            raise ValueError("no such axis")
        return Expected(np.indices(shape, dtype="i8")[axis])


@register
class SizeValue(Kind):
    weight = 0.5

    def draw(self, maker):
        return [], {"size": maker.length(maker.rng.choice([0, 1, 2, 3, 4, 5]))}

    def record(self, graph, xs, args):
        return graph.lib.size_value(graph.pointer, graph.dim(args["size"]))

    def meaning(self, xs, args):
        return Expected(np.array(int(args["size"]), "i8"))


@register
class WrongName(Kind):
    """Inputs whose names cannot be: malformed, or used before."""

    weight = 0.3

    def draw(self, maker):
        taken = [step.args["name"] for step in maker.steps if step.args.get("how") == "input"]
        return [], {
            "name": maker.rng.choice(["", "1st", "a b", ".x", "a\n"] + taken + sorted(maker.sizes))
        }

    def record(self, graph, xs, args):
        return graph.placeholder(args["name"], "f8", [])

    def meaning(self, xs, args):
        raise ValueError("no name for an input")

    def all_labels(self, lib):
        return []  # never has a value
