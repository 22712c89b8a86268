"""index_types.py --command ARRAS -- every type of index with every edge rule: cells that an array of indices picks, one
that an index without axes picks, indices that are computed, in rows and beside neighbours; as bounds of sums. Compiled, streamed
and in the reference evaluator they give what the rule says, however far outside."""

import command_kit

import h5py
import numpy as np
from tally import Tally

RULES = {"nearest": "n", "reflect": "r", "mirror": "m", "wrap": "w", "7": "c"}
TYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
LENGTH, COUNT = 5, 37


def place(rule, j, n):
    """The cell that index j of an axis of n cells reads; None: the fill."""
    if rule == "7":
        return j if 0 <= j < n else None
    if rule == "nearest":
        return min(max(j, 0), n - 1)
    period = {"wrap": n, "reflect": 2 * n, "mirror": max(2 * n - 2, 1)}[rule]
    j %= period
    return j if j < n else period - 1 - j if rule == "reflect" else period - j


def read(rule, x, j):
    at = place(rule, j, len(x))
    return 7.0 if at is None else x[at]


def draw(dtype, rng):
    """Inside, just outside, far outside, and the ends of the type."""
    if dtype == bool:
        return rng.integers(0, 2, COUNT).astype(bool)
    info = np.iinfo(dtype)
    near = rng.integers(max(-12, info.min), 17, COUNT - 6)
    ends = [info.max, info.max - 1, info.max // 2 + 1, info.max // 2 + 2, info.min, info.min // 2]
    return rng.permutation(np.array([int(j) for j in near] + ends, dtype))


def program(dtype):
    lines = [f"edge x{r} = {rule}; edge h{r} = {rule}; edge f{r} = {rule}" for rule, r in RULES.items()]
    for r in RULES.values():
        lines += [
            f"picked_{r}[p] = x{r}[i[p]]",
            f"one_{r}[p: {COUNT}] = x{r}[s] + p",
            f"computed_{r}[p: {COUNT}] = x{r}[{dtype}(p*p*p - 40) + {dtype}(i[p])]",
            f"rows_{r}[p] = h{r}[i[p], p]",
            f"columns_{r}[p] = h{r}[p, i[p]]",
            f"beside_{r}[p] = h{r}[i[p], p-2] + h{r}[i[p], p+1]",
            f"of_one_{r}[p] = f{r}[i[p]]",
        ]
    lines += ["total[p] = sum[k: b[p]] (k + 0.5)", "rest[p] = sum[k: b[p]:9] k"]
    return "\n".join(lines)


def expected(dtype, inputs):
    x, h, i, b = (inputs[name] for name in "xhib")
    # As in C, a bool is 0 or 1 when it becomes a number, and sums of bools are bools.
    add = (lambda a, c: bool(a) or bool(c)) if dtype == "bool" else None
    whole = np.dtype(i.dtype)
    want = {}
    for rule, r in RULES.items():
        js = [int(j) for j in i]
        want[f"picked_{r}"] = [read(rule, x, j) for j in js]
        want[f"one_{r}"] = [read(rule, x, int(inputs["s"])) + p for p in range(COUNT)]
        with np.errstate(all="ignore"):
            offset = (np.arange(COUNT) ** 3 - 40).astype(whole)
            sums = [add(a, c) for a, c in zip(offset, i)] if add else list(offset + i)
        want[f"computed_{r}"] = [read(rule, x, int(j)) for j in sums]
        want[f"rows_{r}"] = [read(rule, h[:, p], js[p]) for p in range(COUNT)]
        want[f"columns_{r}"] = [read(rule, h[p], js[p]) for p in range(COUNT)]
        want[f"beside_{r}"] = [beside(rule, h, js[p], p) for p in range(COUNT)]
        want[f"of_one_{r}"] = [read(rule, inputs["f"], j) for j in js]
    want["total"] = [sum(k + 0.5 for k in range(int(n))) for n in b]
    want["rest"] = [sum(range(int(n), 9)) for n in b]
    return want


def beside(rule, h, j, p):
    """Of two constant edges the last one that is left counts; the fill is the same."""
    cells = []
    for q in (p - 2, p + 1):
        row, column = place(rule, j, h.shape[0]), place(rule, q, h.shape[1])
        cells.append(7.0 if row is None or column is None else h[row, column])
    return cells[0] + cells[1]


WAYS = {
    "compiled": [],
    "on 3 threads": ["--threads", "3"],
    "streamed": None,
    "reference": ["--reference"],
}


def run(scratch, dtype, way, names):
    streamed = WAYS[way] is None
    args = ["run", program(dtype)]
    for name in ("x", "h", "f", "i", "s", "b"):
        for use in names[name]:
            args.append(f"{use}={'in.h5:/' if streamed else ''}{name}{'' if streamed else '.npy'}")
    results = list(expected_names())
    for name in results:
        args += ["-o", f"{name}=out.h5:/{name}" if streamed else f"{name}={name}.npy"]
    said = scratch.run(*args, *(WAYS[way] or ["--memory", "1M"] * streamed))
    if said.status or (said.err and way != "reference"):
        return said.err, {}
    if streamed:
        with h5py.File(scratch / "out.h5") as file:
            got = {name: file[name][...] for name in results}
        (scratch / "out.h5").unlink()
        return "", got
    return "", {name: np.load(scratch / f"{name}.npy") for name in results}


def expected_names():
    kinds = ("picked", "one", "computed", "rows", "columns", "beside", "of_one")
    yield from (f"{kind}_{r}" for kind in kinds for r in RULES.values())
    yield from ("total", "rest")


def check_type(scratch, tally, dtype, rng):
    whole = np.dtype({"bool": "?"}.get(dtype, dtype[0] + str(int(dtype[1:]) // 8) if dtype != "bool" else "?"))
    i = draw(whole, rng)
    inputs = {"x": rng.random(LENGTH), "h": rng.random((COUNT, COUNT)), "f": rng.random(1), "i": i}
    inputs["s"] = np.array(1 if dtype == "bool" else np.iinfo(whole).max - 3, whole)
    inputs["b"] = (np.arange(COUNT) % 9).astype(whole)
    with h5py.File(scratch / "in.h5", "w") as file:
        for name, cells in inputs.items():
            np.save(scratch / f"{name}.npy", cells)
            file[name] = cells
    names = {name: [name + r for r in RULES.values()] if name in "xhf" else [name] for name in inputs}
    want = expected(dtype, inputs)
    for way in WAYS:
        error, got = run(scratch, dtype, way, names)
        wrong = [error] if error else []
        for name, cells in got.items():
            if not np.array_equal(cells, np.array(want[name])):
                wrong.append(f"{name}: {cells.tolist()}, not {want[name]}")
        tally.check(f"{dtype}, {way}", wrong)


def check_far_bounds(scratch, tally):
    """A range of more values than a number can count is an error; bounds above i64 are its largest number."""
    ends = {"m": np.array([-(2**63), 2**63 - 1]), "u": np.array([2**63, 2**63 - 1, 2**64 - 1], "u8")}
    with h5py.File(scratch / "ends.h5", "w") as file:
        for name, cells in ends.items():
            np.save(scratch / f"{name}.npy", cells)
            file[name] = cells
    too_long = ["sum[k:m[0]:m[1]] 1.0", "max[k:m[0]+5:m[1]] k", "argmin[j:2, k:m[0]:m[1]+0*j] k",
                "mean[k:-4611686018427387905:4611686018427387904] k", "any[k:m[0]:9] 0"]
    counts = ["count[k:u[0]:u[1]] 1", "count[j:2, k:u[0]:u[2]] (j+1)", "count[j:2, k:u[1]-1:u[2]] (j+1)",
              "count[k:m[1]:m[0]] 1", "count[k:m[1]-3:m[1]] 1"]
    for way, said_how in WAYS.items():
        streamed = said_how is None
        source = "ends.h5:/{0}" if streamed else "{0}.npy"
        options = ["--memory", "1M"] if streamed else said_how
        for body in too_long + counts:
            used = [f"{name}={source.format(name)}" for name in ends if f"{name}[" in body]
            said = scratch.run("run", f"y = {body}", *used, *options)
            want = "" if body in counts else "a range has at most 9223372036854775807 values"
            wrong = [] if want in said.err and said.status == (body in too_long) else [said.err]
            if body in counts and said.out != f"{[0, 0, 2, 0, 3][counts.index(body)]}\n":
                wrong = [said.out + said.err]
            tally.check(f"{body}, {way}", wrong)


def main():
    options = command_kit.options(__doc__)
    tally, rng = Tally(), np.random.default_rng(5)
    with command_kit.Scratch(options.command) as scratch:
        for dtype in TYPES:
            check_type(scratch, tally, dtype, rng)
        check_far_bounds(scratch, tally)
    tally.finish()


main()
