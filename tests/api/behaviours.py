#!/usr/bin/env python3
"""behaviours.py -- runs behaviours.json, the table of behaviours that every binding has to show.

  behaviours.py --library libarras.so [--only TEXT]

A row is a call and what it gives:
  name, why   what is shown, and the reason for it
  call        an operation, a reduction or another function of <arras/arras.h>, without "arras_"
  args        arrays {"dtype", "shape", "values"}; untyped numbers, plain or {"complex": [re, im]};
              null for what is not given; or calls again
  with        arguments that are not arrays, by name
  expect      an array, with a "tolerance" where values need not be equal to the bit; or
              {"error": part of the message}, be it from recording or from running the program
"nan", "inf", "-inf" and "-0.0" are numbers too; complex values are pairs.
Ends with a line "N passed, M failed"."""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import arras_ctypes  # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "behaviours.json")


# ---- Reading the table -----------------------------------------------------------------------


def number(value):
    """A number of the table: strings are special reals, pairs are complex."""
    if isinstance(value, list):
        return complex(number(value[0]), number(value[1]))
    return float(value) if isinstance(value, str) else value


def array(given):
    cells = [number(value) for value in given["values"]]
    return np.array(cells, arras_ctypes.DTYPES[given["dtype"]]).reshape(given["shape"])


class Recorder:
    """Records rows of the table in a graph."""

    def __init__(self, graph):
        self.graph, self.lib = graph, graph.lib

    def operand(self, given):
        if given is None:
            return None
        if isinstance(given, dict):
            if "call" in given:
                return self.call(given)
            if "complex" in given:
                return self.graph.number(number(given["complex"]))
            return self.graph.copy(array(given))
        return self.graph.number(number(given))

    def call(self, row):
        """Functions with arguments of their own have a method here; others take arrays only."""
        xs = [self.operand(given) for given in row["args"]]
        options, name = row.get("with", {}), row["call"]
        if name in self.lib.reductions:
            return self.reduction(name, *xs, **options)
        method = getattr(self, "do_" + name, None)
        return method(*xs, **options) if method else getattr(self.lib, name)(*xs)

    def reduction(self, name, x, axes=None, keepdims=False, initial=None):
        return self.graph.reduce(name, x, axes, keepdims, self.operand(initial))

    def do_mean(self, x, axes=None, keepdims=False):
        return self.graph.statistic("mean", x, axes, keepdims)

    def do_var(self, x, axes=None, keepdims=False, ddof=0):
        return self.graph.statistic("var", x, axes, keepdims, ddof)

    def do_std(self, x, axes=None, keepdims=False, ddof=0):
        return self.graph.statistic("std", x, axes, keepdims, ddof)

    def do_cast(self, x, dtype):
        return self.graph.cast(x, arras_ctypes.DTYPES[dtype])

    def do_reshape(self, x, shape, order="C"):
        return self.graph.reshape(x, shape, order)

    def do_index(self, x, items):
        return self.graph.index(x, [self.item(item) for item in items])

    def item(self, given):
        if isinstance(given, dict):
            return slice(*given["slice"]) if "slice" in given else (self.operand(given),)
        return {"...": Ellipsis, "newaxis": None}[given] if isinstance(given, str) else given

    def do_cumulative_sum(self, x, axis):
        return self.lib.cumulative_sum(x, axis)

    def do_roll(self, x, shifts, axes):
        return self.graph.roll(x, shifts, axes)

    def do_permute(self, x, axes=None):
        return self.graph.with_axes("permute", x, axes)

    def do_squeeze(self, x, axes=None):
        return self.graph.with_axes("squeeze", x, axes)

    def do_expand_dims(self, x, axes):
        return self.graph.with_axes("expand_dims", x, axes)

    def do_flip(self, x, axes=None):
        return self.graph.with_axes("flip", x, axes)

    def do_stack(self, *xs, axis):
        return self.graph.with_parts("stack", xs, axis)

    def do_concatenate(self, *xs, axis):
        return self.graph.with_parts("concatenate", xs, axis)

    def do_broadcast_to(self, x, shape):
        return self.graph.broadcast_to(x, shape)

    def do_tile(self, x, reps):
        return self.graph.tile(x, reps)

    def do_repeat(self, x, count, axis):
        return self.lib.repeat(x, count, axis)

    def do_pad(self, x, widths, mode, fill=None):
        return self.graph.pad(x, widths, mode, self.operand(fill))

    def do_einsum(self, *xs, spec):
        return self.graph.einsum(spec, xs)

    def do_arange(self, start, stop, step):
        return self.lib.arange(self.graph.pointer, start, stop, step)

    def do_linspace(self, start, stop, count, endpoint):
        return self.lib.linspace(self.graph.pointer, start, stop, count, endpoint)

    def do_eye(self, dtype, rows, columns, diagonal):
        return self.graph.eye(arras_ctypes.DTYPES[dtype], rows, columns, diagonal)

    def do_zeros(self, dtype, shape):
        return self.graph.filled("zeros", arras_ctypes.DTYPES[dtype], shape)

    def do_ones(self, dtype, shape):
        return self.graph.filled("ones", arras_ctypes.DTYPES[dtype], shape)

    def do_full(self, value, shape):
        return self.graph.full(value, shape)

    def do_index_array(self, shape, axis):
        return self.graph.index_array(shape, axis)

    def edges(self, given):
        return [
            (edge["rule"], self.expression(edge["fill"], []) if "fill" in edge else None)
            for edge in given
        ]

    def do_neighbours(self, x, offsets, edges, which=0):
        return self.graph.neighbours(x, offsets, self.edges(edges))[which]

    def do_stencil(self, x, offsets, weights, edges):
        return self.graph.stencil(x, offsets, weights, self.edges(edges))

    def do_lambda(self, *xs, shape, cell):
        return self.graph.array_lambda(shape, self.expression(cell, xs))

    def expression(self, given, xs):
        """["index", axis], ["var", name], ["load", number of an array, indices, edges],
        [reduction, variable, low, high, body], [operation, operands ...], or a number."""
        if not isinstance(given, list):
            return self.graph.expr_number(number(given))
        head, *rest = given
        if head == "index":
            return self.lib.expr_index(self.graph.pointer, rest[0])
        if head == "var":
            return self.lib.expr_var(self.graph.pointer, rest[0].encode())
        if head == "load":
            indices = [self.expression(index, xs) for index in rest[1]]
            return self.graph.expr_load(
                xs[rest[0]], indices, self.edges(rest[2]) if rest[2:] else None
            )
        if head in self.lib.reductions:
            return self.graph.expr_reduce(
                head, rest[0], *[self.expression(e, xs) for e in rest[1:]]
            )
        return self.graph.expr_apply(head, [self.expression(e, xs) for e in rest])


# ---- Comparing -------------------------------------------------------------------------------


def same_cells(got, want, tolerance):
    """Equal with the signs of zeros, nan equal to nan; or close, relative to what is expected."""
    if got.dtype.kind == "c":
        return same_cells(got.real, want.real, tolerance) and same_cells(
            got.imag, want.imag, tolerance
        )
    if tolerance:
        return bool(np.all(np.abs(got - want) <= tolerance * np.abs(want)))
    same = got == want
    if got.dtype.kind == "f":
        same = (same & (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))
    return bool(np.all(same))


def difference(got, expect):
    """None, or what is wrong; got is an array or the text of an error."""
    if "error" in expect:
        if isinstance(got, str) and expect["error"] in got:
            return None
        return f"expected an error with '{expect['error']}', got: {got}"
    if isinstance(got, str):
        return f"expected a value, got the error: {got}"
    want = array(expect)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"expected {want.dtype}{list(want.shape)}, got {got.dtype}{list(got.shape)}"
    return None if same_cells(got, want, expect.get("tolerance")) else f"expected {want}, got {got}"


def run(lib, row):
    """What a row gives: an array, or the text of its error."""
    with lib.graph() as graph:
        x = Recorder(graph).call(row)
        graph.output("result", x)
        try:
            return graph.evaluate({})["result"]
        except arras_ctypes.ArrasError as error:
            return error.text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="path of the shared library")
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    options = parser.parse_args()
    lib = arras_ctypes.Library(options.library)
    with open(TABLE, encoding="utf-8") as file:
        rows = [row for row in json.load(file) if options.only in row["name"]]
    failed = 0
    for row in rows:
        wrong = difference(run(lib, row), row["expect"])
        if wrong:
            failed += 1
            print(f"FAILED {row['name']} ({row['why']}): {wrong}")
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
