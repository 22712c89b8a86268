"""steps_call.py -- functions: a body drawn once, recorded as a function and also in place.

Every call must give the bits of the same steps recorded without a function; those steps are
compared with NumPy like any others."""

import numpy as np

from . import meaning, values
from .compare import Expected
from .program import KINDS, Kind, Maker, draw_step, register

# What keeps symbolic lengths provable.
SYMBOLIC_KINDS = (
    "Elementwise",
    "Cast",
    "Clip",
    "Reduce",
    "Flip",
    "Permute",
    "Roll",
    "Statistic",
    "Squeeze",
)


class Param(Kind):
    """Stands for an argument while a body is drawn."""

    def record(self, graph, xs, args):
        return graph.param(args["name"], args["value"].dtype, args["shape"])

    def meaning(self, xs, args):
        return Expected(args["value"])


class BodyMaker(Maker):
    """In a symbolic body operands are parameters and numbers: an array of given shape fits no
    symbol."""

    def partner(self, i, kinds="?iufc"):
        if not self.sizes:
            return super().partner(i, kinds)
        found = self.pick(lambda k: self.shape(k) == self.shape(i) or self.shape(k) == ())
        return found if found is not None and self.rng.random() < 0.6 else self.number()


def draw_body(maker, arguments):
    """A maker with the body's steps, parameters first."""
    rng = maker.rng
    body = BodyMaker(rng, maker.lib, bare=True)
    if rng.random() < 0.4:
        lengths = sorted({n for i in arguments for n in maker.shape(i)})[:3]
        body.sizes = dict(zip("abc", lengths))
    body.symbolic = maker.symbolic or bool(body.sizes)
    for place, i in enumerate(arguments):
        shape = tuple(body.length(n) for n in maker.shape(i))
        value = meaning.typed(maker.value(i))
        body.add(Param(), [], {"name": f"p{place}", "value": value, "shape": shape})
    kinds = [kind for kind in KINDS if not isinstance(kind, Call)]
    if body.sizes:
        kinds = [kind for kind in kinds if kind.name in SYMBOLIC_KINDS]
    for _ in range(rng.randint(1, 4)):
        draw_step(body, kinds)
    return body


def inline(maker, body, arguments):
    """Adds the body's steps to the program itself; gives where each of them went, None if
    refused."""
    places = list(arguments)
    for step in body.steps[len(arguments) :]:
        operands = [places[i] for i in step.operands]
        if step.refusal is not None or None in operands:
            places.append(None)
            continue
        at = maker.add(step.kind, operands, step.args)
        places.append(at if maker.steps[at].refusal is None else None)
    return places


@register
class Call(Kind):
    weight = 2

    def draw(self, maker):
        rng = maker.rng
        if maker.bare:
            return None
        arguments = [maker.pick(lambda i: maker.rank(i) <= 5) for _ in range(rng.randint(1, 3))]
        if None in arguments:
            return None
        body = draw_body(maker, arguments)
        fine = [
            i
            for i, step in enumerate(body.steps)
            if step.refusal is None and not meaning.is_weak(step.value)
        ]
        results = rng.sample(fine, rng.randint(1, min(3, len(fine))))
        maker.functions += 1
        args = {
            "name": f"f{maker.functions}",
            "body": body,
            "results": results,
            "which": rng.randrange(len(results)),
        }
        again = self.other_arguments(maker, arguments) if rng.random() < 0.4 else None
        if again:
            self.add_call(maker, again, args)
        return self.operands(maker, arguments, args)

    def other_arguments(self, maker, arguments):
        """New arrays of the same types and shapes: the function is called once more."""
        rng = maker.rng
        return [
            maker.leaf(values.draw_array(rng, maker.dtype(i), maker.shape(i))) for i in arguments
        ]

    def operands(self, maker, arguments, args):
        """The arguments, and last the step whose bits are expected."""
        places = inline(maker, args["body"], arguments)
        reference = places[args["results"][args["which"]]]
        return None if reference is None else (list(arguments) + [reference], args)

    def add_call(self, maker, arguments, args):
        drawn = self.operands(maker, arguments, args)
        if drawn is not None:
            maker.add(self, *drawn)

    def record(self, graph, xs, args):
        if args["name"] not in graph.functions:
            graph.functions[args["name"]] = self.define(graph, args)
        return graph.call(graph.functions[args["name"]], f"r{args['which']}", xs[:-1])

    def define(self, graph, args):
        handles = []
        for step in args["body"].steps:
            refused = step.refusal is not None or any(handles[i] is None for i in step.operands)
            handles.append(
                None
                if refused
                else step.kind.record(graph, [handles[i] for i in step.operands], step.args)
            )
        params = [
            handle
            for handle, step in zip(handles, args["body"].steps)
            if isinstance(step.kind, Param)
        ]
        results = {f"r{k}": handles[i] for k, i in enumerate(args["results"])}
        return graph.function(args["name"], params, results)

    def meaning(self, xs, args):
        return Expected(np.asarray(xs[-1]))
