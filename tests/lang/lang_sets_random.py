"""lang_sets_random.py --command ARRAS [--programs N] [--compiled N] [--seed N] -- reductions of the language, at random,
against loops.

Every reduction over 1 to 4 indices: ranges given, depending on indices before, on data, empty ones; reductions within
reductions, in branches of choices, over results with and without an index.  What a set holds is counted by Python.
Programs run in the reference evaluator, some compiled.  Over an empty set some reductions are an error."""

import argparse
import json
import math
import random
import subprocess
import sys

sys.dont_write_bytecode = True
from tally import Tally

SIZE, EQUATIONS, LARGEST_SET, LARGEST_NUMBER = 7, 8, 3000, 1e15
REDUCTIONS = "sum prod min max mean var std all any count argmin argmax".split()
WHOLE, REAL, TRUTH = 0, 1, 2  # kinds of values


class Empty(Exception):
    """A reduction that has no value over nothing."""


class Unsure(Exception):
    """Python does not know better: rounding decides, a read leaves its array, or it takes too long."""


def reduce(name, cells, kind):
    if name in ("min", "max", "argmin", "argmax") and not cells:
        raise Empty(name)
    if name in ("min", "max", "argmin", "argmax"):
        nans = [k for k, cell in enumerate(cells) if cell != cell]
        best = min(cells) if name.endswith("min") else max(cells)
        place = nans[0] if nans else cells.index(best)
        if kind == REAL and not nans and any(0 < abs(cell - best) < 1e-6 for cell in cells):
            raise Unsure
        return place if name.startswith("arg") else cells[place]
    if name in ("all", "any", "count"):
        true = sum(cell != 0 for cell in cells)
        return {"all": true == len(cells), "any": true > 0, "count": true}[name]
    if name in ("sum", "prod"):
        total = sum(cells) if name == "sum" else math.prod(cells)
        if abs(total) > LARGEST_NUMBER:
            raise Unsure
        return total
    if not cells or any(cell != cell for cell in cells):
        return math.nan
    mean = math.fsum(cells) / len(cells)
    var = math.fsum((cell - mean) ** 2 for cell in cells) / len(cells)
    return {"mean": mean, "var": var, "std": math.sqrt(var)}[name]


class Maker:
    """Expressions as a text, a function of the indices that gives the value, and the kind of the value."""

    def __init__(self, random):
        self.random = random
        self.names = 0
        self.arrays = {
            "x": self.table(lambda: random.randint(-4, 9)),
            "f": self.table(lambda: random.choice([random.randint(-8, 8) / 4, random.random() * 4 - 2])),
            "s": [random.randint(0, 3) for _ in range(SIZE)],
            "e": [random.randint(0, 5) for _ in range(SIZE)],
        }

    def table(self, cell):
        return [[cell() for _ in range(SIZE)] for _ in range(SIZE)]

    def read(self, name, *places):
        cell = self.arrays[name]
        for place in places:
            if not 0 <= place < SIZE:
                raise Unsure
            cell = cell[place]
        return cell

    def place(self, names):
        """An index, mostly as it stands."""
        r, name = self.random, self.random.choice(names) if names else None
        way = r.random()
        if name is None or way < 0.1:
            number = r.randrange(SIZE)
            return str(number), lambda at: number
        if way < 0.85:
            return name, lambda at: at[name]
        if way < 0.95:
            return f"{SIZE - 1}-{name}", lambda at: SIZE - 1 - at[name]
        return f"s[{name}]", lambda at: self.read("s", at[name])

    def bounds(self, names):
        r, way = self.random, self.random.random()
        if way < 0.35 or not names and way < 0.6:
            low, high = r.choice([0, 0, 0, 1, 2]), r.choice([0, 1, 2, 3, 3, 4, 5])
            return f"{low}:{high}" if low else str(high), lambda at: (low, high)
        if way < 0.6:
            name, step = r.choice(names), r.choice([0, 0, 1, -1, 2])
            form = r.randrange(3)
            if form == 0:
                return f"{name}:4", lambda at: (at[name], 4)
            if form == 1:
                return f"{name}:{name}+{abs(step)}", lambda at: (at[name], at[name] + abs(step))
            return f"{name}{step:+d}", lambda at: (0, at[name] + step)
        place, value = self.place(names)
        if way < 0.75:
            return f"s[{place}]", lambda at: (0, self.read("s", value(at)))
        if way < 0.9:
            return f"s[{place}]:e[{place}]", lambda at: (self.read("s", value(at)), self.read("e", value(at)))
        other, second = self.place(names)
        return f"x[{place},{other}]%4", lambda at: (0, self.read("x", value(at), second(at)) % 4)

    def cell(self, names, depth):
        r, way = self.random, self.random.random()
        if depth > 0 and way < 0.25:
            return self.reduction(names, depth - 1)
        if way < 0.35:
            number = r.randint(0, 3)
            return str(number), lambda at: number, WHOLE
        (one, first), (two, second), array = self.place(names), self.place(names), r.choice("xxf")
        kind, load = REAL if array == "f" else WHOLE, f"{array}[{one},{two}]"
        value = lambda at: self.read(array, first(at), second(at))
        if way < 0.65:
            return load, value, kind
        if way < 0.75:
            return f"({load} > 3)", lambda at: value(at) > 3, TRUTH
        text, factor, other = self.cell(names, depth if way > 0.9 else 0)
        if other == TRUTH:
            return text, factor, TRUTH
        if way < 0.9 or not names:
            return f"{load}*{text}", lambda at: value(at) * factor(at), max(kind, other)
        name, limit = r.choice(names), r.randint(0, 4)
        return (f"({name} < {limit} ? {text} : {load})",
                lambda at: factor(at) if at[name] < limit else value(at), max(kind, other))

    def reduction(self, outer, depth):
        name, ranges = self.random.choice(REDUCTIONS), []
        names = list(outer)
        for _ in range(self.random.choice([1, 2, 2, 3, 3, 4])):
            self.names += 1
            text, bounds = self.bounds(names)
            names.append(f"v{self.names}")
            ranges.append((names[-1], text, bounds))
        text, cell, kind = self.cell(names, depth)

        def value(at):
            tuples = [dict(at)]
            for index, _, bounds in ranges:
                tuples = [{**t, index: k} for t in tuples for k in range(*bounds(t))]
                if len(tuples) > LARGEST_SET:
                    raise Unsure
            result = reduce(name, [cell(t) for t in tuples], kind)
            return tuples[result][ranges[0][0]] if name.startswith("arg") and len(ranges) == 1 else result

        of = {"min": kind, "max": kind, "mean": REAL, "var": REAL, "std": REAL, "all": TRUTH, "any": TRUTH}
        kind = of.get(name, REAL if kind == REAL and name in ("sum", "prod") else WHOLE)
        whole = f"({name}[{', '.join(f'{index}:{bounds}' for index, bounds, _ in ranges)}] {text})"
        return (f"i64({whole})", lambda at: int(value(at)), WHOLE) if kind == TRUTH else (whole, value, kind)

    def equation(self, name):
        """An equation, and the values of its cells, or the reduction that has none."""
        rows, outer = (4, ["r"]) if self.random.random() < 0.4 else (1, [])
        text, value, _ = self.reduction(outer, self.random.choice([0, 0, 1]))
        lazy = outer and self.random.random() < 0.3
        text = f"{name}[r:4] = " + (f"(r > 1 ? {text} : -7)" if lazy else text) if outer else f"{name} = {text}"
        try:
            cells = [-7 if lazy and k < 2 else value({"r": k} if outer else {}) for k in range(rows)]
        except Empty as empty:
            return text, str(empty)
        return text, cells


def program(seed):
    """Equations with values, and one without if one was met."""
    maker, equations, empty = Maker(random.Random(seed)), [], None
    while len(equations) < EQUATIONS:
        try:
            text, cells = maker.equation(f"y{len(equations)}")
        except Unsure:
            continue
        if isinstance(cells, str):
            empty = (text, cells)
        else:
            equations.append((text, cells))
    return maker.arrays, equations, empty


def run(command, arrays, text, options):
    given = [f"{name}={'f64' if name == 'f' else 'i64'}({json.dumps(cells)})"
             for name, cells in arrays.items() if f"{name}[" in text]
    return subprocess.run([command, "run", text, *given, *options], capture_output=True, text=True, check=False)


def results(text):
    """What `arras run` printed, by name."""
    found, cells = {}, []
    for line in text.splitlines():
        if " : " in line:
            found[line.split(" : ")[0]] = cells = []
        else:
            cells += [float(word) for word in line.replace("[", " ").replace("]", " ").split()]
    return found


def near(a, b):
    return a != a and b != b or abs(a - b) <= 3e-7 * max(1, abs(a), abs(b))


def complaints(command, seed, options):
    arrays, equations, empty = program(seed)
    done, wrong = run(command, arrays, "; ".join(text for text, _ in equations), options), []
    got = results(done.stdout)
    if done.returncode:
        wrong = [done.stderr, *(text for text, _ in equations)]
    for text, cells in equations if not wrong else []:
        name = text.split(" ")[0].split("[")[0]
        if len(got[name]) != len(cells) or not all(map(near, got[name], cells)):
            wrong.append(f"{text} is {got[name]}, not {cells}")
    if empty:
        done = run(command, arrays, empty[0], options)
        if done.returncode == 0 or f"{empty[1]} over an empty range" not in done.stderr:
            wrong.append(f"{empty[0]} should say that {empty[1]} is over nothing: {done.stdout}{done.stderr}")
    return wrong + [json.dumps(arrays)] if wrong else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", required=True)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--compiled", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options, tally = parser.parse_args(), Tally()
    for k in range(options.programs):
        tally.check(f"program {options.seed + k}, evaluated",
                    complaints(options.command, options.seed + k, ["--reference"]))
    for k in range(options.compiled):
        tally.check(f"program {options.seed + k}, compiled",
                    complaints(options.command, options.seed + k, ["--threads", str(1 + k % 3)]))
    tally.finish()


main()
