"""differential_command.py -- random programs of the language, run by `arras run` on .npy files and by
NumPy, must give the same.

  differential_command.py --command arras [--batches 24] [--seed 1]

A program is a batch of equations, each of which is drawn together with its value; all results of one
process go to files.  A failure is printed with its batch, program and equation.
"""

import sys

sys.dont_write_bytecode = True
import command_kit
import numpy as np
from tally import Tally

EQUATIONS = 14  # of a program
DEPTH = 3
MODES = [[], ["--threads", "1"], ["--reference"]]
# How far results may be off, against the largest of them: where f32 was on the way, and otherwise.
COARSE, FINE = 2e-5, 1e-12


class Drawing:
    """A program that grows: inputs, edges, and equations with the values they must have."""

    def __init__(self, rng):
        self.rng = rng
        self.inputs, self.lines, self.values = {}, [], {}
        self.slack = {}
        self.f32 = 0  # places in the program, so far
        self.rows, self.columns = (int(n) for n in rng.integers(3, 9, 2))

    def choose(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def new_input(self, shape, dtype=None):
        dtype = np.dtype(dtype or self.choose("f8", "f8", "f4", "i4", "i8"))
        cells = self.rng.uniform(-3, 3, shape)
        array = (cells * 3 if dtype.kind == "i" else cells).astype(dtype)
        if self.choose(True, False, False):
            array = np.asfortranarray(array)
        self.f32 += dtype == "f4"
        name = f"x{len(self.inputs)}"
        self.inputs[name] = array
        return name, array

    def matrix(self, dtype=None):
        return self.new_input((self.rows, self.columns), dtype)

    def equation(self, left, right, value):
        """left: what stands after the name, as [i,j]."""
        name = f"y{len(self.values)}"
        self.lines.append(f"{name}{left} = {right}")
        self.values[name] = np.asarray(value)
        self.slack[name] = COARSE if self.f32 or "f32" in right else FINE
        self.f32 = 0


# ---- Whole arrays: expressions with the value they have ------------------------------------------

BINARY = [
    ("({} + {})", np.add),
    ("({} - {})", np.subtract),
    ("({} * {})", np.multiply),
    ("({} / (1 + abs({})))", lambda x, y: x / (1 + abs(y))),
    ("minimum({}, {})", np.minimum),
    ("maximum({}, {})", np.maximum),
]
UNARY = [
    ("-{}", np.negative),
    ("abs({})", np.abs),
    ("sin({})", np.sin),
    ("sqrt(abs({}))", lambda x: np.sqrt(np.abs(x))),
    ("exp(-abs({}))", lambda x: np.exp(-np.abs(x))),
    ("tanh({})", np.tanh),
    ("{}**2", lambda x: x**2),
    ("f32({})", lambda x: x.astype("f4")),
    ("f64({})", lambda x: x.astype("f8")),
]
# Where the smallest difference shows, only inputs, which are exact, are compared and rounded.
EXACT = [
    ("floor(f64({}))", lambda x: np.floor(x.astype("f8"))),
    ("i64({})", lambda x: x.astype("i8")),
    ("({} // 3)", lambda x: x // 3),
    ("({} % 3)", lambda x: x % 3),
    ("({} > 1)", lambda x: x > 1),
    ("count_nonzero({}, axis=0)", lambda x: np.asarray(np.count_nonzero(x, axis=0))),
    ("argmax({}, axis=1)", lambda x: x.argmax(axis=1)),
]


def draw_leaf(d):
    shape = d.choose((d.rows, d.columns), (d.rows, d.columns), (d.columns,), (d.rows, 1), ())
    kind = d.integer(0, 5)
    if kind == 0:
        number = d.integer(-3, 3)
        return f"({number})", number
    if kind == 1:
        return "0.5", 0.5
    return d.new_input(shape)


def draw_whole(d, depth):
    """(text, value); numbers stay Python's own, as they have no type of their own here either."""
    if depth == 0 or d.integer(0, 9) == 0:
        return draw_leaf(d)
    if d.integer(0, 9) == 0:
        return draw_choice(d, depth)
    if d.integer(0, 2) == 0:
        text, function = d.choose(*UNARY)
        inner, value = draw_whole(d, depth - 1)
        if isinstance(value, (int, float)):
            return inner, value
        return text.format(f"({inner})"), function(value)
    text, function = d.choose(*BINARY)
    (left, x), (right, y) = draw_whole(d, depth - 1), draw_whole(d, depth - 1)
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return left, x
    return text.format(left, right), function(x, y)


def draw_choice(d, depth):
    name, array = d.matrix()
    (left, x), (right, y) = draw_whole(d, depth - 1), draw_whole(d, depth - 1)
    if isinstance(x, (int, float)) or isinstance(y, (int, float)):
        return name, array
    text = d.choose("where({} > 0, {}, {})", "({} > 0 ? {} : {})")
    return text.format(name, left, right), np.where(array > 0, x, y)


def whole(d):
    text, value = draw_whole(d, DEPTH)
    if isinstance(value, (int, float)):
        text, value = d.matrix()
    d.equation("", text, value)


def exact(d):
    name, array = d.matrix()
    text, function = d.choose(*EXACT)
    d.equation("", text.format(name), function(array))


def reduction(d):
    name, array = d.matrix(d.choose("f8", "f4", "i4", "i8"))
    function = d.choose("sum", "mean", "max", "min", "std", "var", "prod")
    axis, keep = d.choose(None, 0, 1, -1), d.choose(True, False)
    given = "" if axis is None else f", axis={axis}"
    value = getattr(np, function)(array, axis=axis, keepdims=keep)
    d.equation("", f"{function}({name}{given}{', keepdims=true' if keep else ''})", value)


def draw_slice(d, length):
    """The text of a slice, and the slice."""
    bounds = [d.choose(None, d.integer(-length - 1, length + 1)) for _ in range(2)]
    step = d.choose(None, 2, -1, -2, 3)
    text = ":".join("" if b is None else str(b) for b in bounds)
    return text + (f":{step}" if step else ""), slice(*bounds, step)


def sliced(d):
    name, array = d.matrix()
    texts, items = zip(*[draw_slice(d, n) for n in array.shape])
    kind = d.integer(0, 3)
    if kind == 0:
        texts, items = (texts[0], "-1"), (items[0], -1)
    elif kind == 1:
        texts, items = ("...", texts[1]), (..., items[1])
    elif kind == 2:
        texts, items = (texts[0], "newaxis", texts[1]), (items[0], None, items[1])
    d.equation("", f"{name}[{', '.join(texts)}]", array[items])


def moved(d):
    name, x = d.matrix()
    other, y = d.matrix(x.dtype)
    d.equation("", *d.choose(
        (f"roll({name}, 2, axis=0)", np.roll(x, 2, axis=0)),
        (f"reshape({name}, [{x.size}])", x.reshape(-1)),
        (f"permute({name})", x.T),
        (f"flip({name}, axis=1)", np.flip(x, 1)),
        (f"concatenate([{name}, {other}], axis=1)", np.concatenate([x, y], 1)),
        (f"stack([{name}, {other}], axis=1)", np.stack([x, y], 1)),
        (f'einsum("ij,kj->ik", {name}, {other})', np.einsum("ij,kj->ik", x, y)),
        (f"{name} @ permute({other})", x @ y.T),
    ))


# ---- Cells ---------------------------------------------------------------------------------------


def transposed(d):
    name, x = d.matrix("f8")
    other, y = d.new_input((d.columns,))
    d.equation("[i,j]", f"{name}[j,i]*2 + {other}[i]", x.T * 2 + y[:, None])


def product(d):
    left, a = d.matrix("f8")
    right, b = d.new_input((d.columns, d.integer(2, 5)), "f8")
    d.equation("[i,j]", f"sum[k] {left}[i,k]*{right}[k,j]", a @ b)


def pooled(d):
    name, x = d.matrix()
    word = d.choose("max", "min", "sum", "mean")
    n, m = x.shape[0] // 2, x.shape[1] // 2
    blocks = x[: 2 * n, : 2 * m].reshape(n, 2, m, 2)
    d.equation(
        "[i,j]", f"{word}[r:2, s:2] {name}[2*i+r, 2*j+s]", getattr(np, word)(blocks, axis=(1, 3))
    )


def gathered(d):
    name, x = d.new_input((d.rows,))
    index, places = d.new_input((d.integer(1, 9),), "i8")
    places[...] = abs(places) % d.rows
    d.equation("[p]", f"{name}[{index}[p]] - 1", x[places] - 1)


def counted(d):
    name, x = d.new_input((d.rows,), "f8")
    n = d.integer(1, d.rows)
    d.equation(f"[i:{n}]", f"{name}[i]*i", x[:n] * np.arange(n))


def rows_of_varying_length(d):
    name, v = d.new_input((d.integer(1, 12),), "f8")
    index, starts = d.new_input((5,), "i8")
    starts[...] = np.sort(np.abs(starts) % (len(v) + 1))
    sums = [v[a:b].sum() for a, b in zip(starts[:-1], starts[1:])]
    d.equation("[i:4]", f"sum[p : {index}[i] : {index}[i+1]] {name}[p]", sums)


def guarded(d):
    name, x = d.new_input((d.rows,), "f8")
    d.equation("[i]", f"i > 0 ? {name}[i-1] : {name}[i]", np.concatenate([x[:1], x[:-1]]))


PAD_MODES = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}


def padded(x, axis, rule, reach):
    widths = [(reach, reach) if d == axis else (0, 0) for d in range(x.ndim)]
    if rule in PAD_MODES:
        return np.pad(x, widths, mode=PAD_MODES[rule])
    return np.pad(x, widths, constant_values=float(rule))


def shifted(x, offsets, rules, reaches):
    """What stands at the offsets from each cell."""
    for axis, (offset, rule, reach) in enumerate(zip(offsets, rules, reaches)):
        length = x.shape[axis]
        if rule == "none":
            low, high = reach
            x = np.take(x, np.arange(offset - low, length - high + offset), axis)
        else:
            x = np.take(padded(x, axis, rule, 2), np.arange(offset + 2, offset + 2 + length), axis)
    return x


def stencil(d):
    name, x = d.matrix("f8")
    count = d.integer(2, 5)
    offsets = [(d.integer(-2, 2), d.integer(-2, 2)) for _ in range(count)] + [(0, 0)]
    rules = [d.choose(*PAD_MODES, "none", "0", "1.5") for _ in range(2)]
    reaches = [(min(o[a] for o in offsets), max(o[a] for o in offsets)) for a in range(2)]
    weights = [d.integer(-3, 3) for _ in offsets]

    def index(letter, offset):
        return letter + (f"{offset:+d}" if offset else "")

    terms = [f"({w})*{name}[{index('i', o[0])},{index('j', o[1])}]" for w, o in zip(weights, offsets)]
    value = sum(w * shifted(x, o, rules, reaches) for w, o in zip(weights, offsets))
    d.lines.append(f"edge {name} = [{rules[0]}, {rules[1]}]")
    d.equation("[i,j]", " + ".join(terms), value)


FORMS = [whole, whole, whole, whole, exact, reduction, reduction, sliced, moved, transposed, product,
         pooled, gathered, counted, rows_of_varying_length, guarded, stencil, stencil, stencil]


# ---- Running and comparing -----------------------------------------------------------------------


def difference(got, want, slack):
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)}, wanted {want.dtype}{list(want.shape)}"
    if got.dtype.kind in "biu":
        return None if np.array_equal(got, want) else f"{got}, wanted {want}"
    scale = max(1.0, float(np.max(np.abs(want), initial=0)))
    same = np.allclose(got, want, rtol=0, atol=slack * scale, equal_nan=True)
    return None if same else f"{got}, wanted {want}"


def check_batch(scratch, seed, batch):
    """Complaints for each equation of a program."""
    d = Drawing(np.random.default_rng([seed, batch]))
    while len(d.values) < EQUATIONS:
        d.choose(*FORMS)(d)
    for name, array in d.inputs.items():
        np.save(scratch / f"{name}.npy", array)
    (scratch / "program.arras").write_text("\n".join(d.lines) + "\n")
    said = scratch.run(
        "run", "--quiet", *MODES[batch % len(MODES)], "-f", "program.arras",
        *[f"{name}={name}.npy" for name in d.inputs],
        *[word for name in d.values for word in ("-o", f"{name}={name}.npy")],
    )
    if said.status or said.err:
        return {"all": [*d.lines, f"status {said.status}", *said.err.splitlines()]}
    equations = {line.split("[")[0].split(" =")[0]: line for line in d.lines if line[0] == "y"}
    found = {}
    for name, want in d.values.items():
        problem = difference(np.load(scratch / f"{name}.npy"), want, d.slack[name])
        found[name] = [equations[name], *problem.splitlines()] if problem else []
    return found


def main():
    chosen = command_kit.options(__doc__, ("batches", 24), ("first", 0), ("seed", 1))
    tally = Tally()
    with np.errstate(all="ignore"):
        for batch in range(chosen.first, chosen.first + chosen.batches):
            with command_kit.Scratch(chosen.command) as scratch:
                for name, complaints in check_batch(scratch, chosen.seed, batch).items():
                    tally.check(f"{name} of batch {batch}, seed {chosen.seed}", complaints)
    tally.finish()


main()
