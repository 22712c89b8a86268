"""chunk_vectors.py --tool CHUNK_TOOL -- the mathematics of chunk shapes against data/chunking_vectors.json: exact
answers, as fractions, and errors."""

import argparse
import json
import math
import subprocess
from fractions import Fraction
from pathlib import Path

from tally import Tally

EXACT, PAPER, SS = 0, 1, 2
VECTORS = Path(__file__).parent / "data" / "chunking_vectors.json"
# What a message must say, for each kind of error.
ERRORS = {
    "E_PROB_SUM": "add up to 0.75, not to 1",
    "E_PROB_RANGE": "probability 1 is 3/2",
    "E_RANGE": "a range",
    "E_DIM": "ragged",
    "E_CAPACITY": "a chunk may have 0 cells",
    "E_DIM_SIZE": "axis 0 of the array has length 0",
    "E_OVERFLOW": "more than 2^63",
    "E_HDF5_4GB": "too large for HDF5",
    "E_CHUNK_ZERO": "the edge of a chunk along axis 0 is 0",
}


class Refused(Exception):
    pass


class Tool:
    def __init__(self, program):
        self.program = str(Path(program).resolve())

    def __call__(self, verb, **keys):
        words = [f"{key}={value}" for key, value in keys.items() if value is not None]
        ran = subprocess.run([self.program, verb, *words], capture_output=True, text=True, timeout=600)
        if ran.returncode == 1 and ran.stderr.count("\n") == 1:
            raise Refused(ran.stderr.strip())
        if ran.returncode != 0:
            raise RuntimeError(f"{verb} {words}: status {ran.returncode}: {ran.stderr}")
        return ran.stdout.splitlines()


def commas(numbers):
    return None if numbers is None else ",".join(map(str, numbers))


def rows(lists):
    return ";".join(map(commas, lists))


def numbers(line):
    return [int(word) for word in line.split(",")]


def cost_of(line):
    exact, value = line.split()
    return Fraction(exact), float(value)


def near(a, b, tolerance=1e-12):
    return math.isclose(a, b, rel_tol=tolerance)


def same_cost(line, want):
    exact, value = cost_of(line)
    return exact == Fraction(want["q"]) and near(value, float(want["d"]))


def shapes(adjusted):
    return rows([[length + 1 for length in shape] for shape in adjusted])


def independent(means, tool):
    """Mean lengths less 1, such as 22.7, as ranges: 23 with 0.3 and 24 with 0.7."""
    ranges, shares = [], []
    for axis, text in enumerate(means):
        mean = Fraction(tool("ratio", text=text)[0])
        whole = math.floor(mean)
        for length, share in ((whole + 1, 1 - (mean - whole)), (whole + 2, mean - whole)):
            if share:
                ranges.append([axis, length])
                shares.append(str(share))
    return {"ranges": rows(ranges), "p": ";".join(shares)}


def check_optimum(tool, expect, workload, **problem):
    chunk, cost, proof = tool("optimum", **workload, **problem)
    yield "the least cost", same_cost(cost, expect["min_cost"])
    yield "its shape", numbers(chunk) == expect["canonical"]
    yield "it is proven", proof == "proven"
    for other in expect.get("all_optimal", []):
        yield f"{other} costs the same", same_cost(tool("cost", **workload, **problem, c=commas(other))[0],
                                                   expect["min_cost"])


def powers(logs):
    return None if logs is None else commas(2**log for log in logs)


# ---- Kinds of vectors: each yields (what, whether it holds) ----------------------------------------------------


def lemma(tool, given, expect):
    keys = {"shapes": rows([given["A"]]), "c": commas(given["c"])}
    yield "the paper's cost", same_cost(tool("cost", model=PAPER, **keys)[0], expect["cost"])
    yield "the estimate", cost_of(tool("cost", model=SS, **keys)[0])[0] == expect["ss_cost"]


def iar_int(tool, given, expect):
    yield from check_optimum(tool, expect, independent(given["Abar"], tool), C=given["C"], N=commas(given["N"]))


def iar_pow2(tool, given, expect):
    workload = independent(given["Abar"], tool)
    problem = {"C": 2 ** given["log2C"], "N": powers(given["log2N"])}
    yield from check_optimum(tool, expect, workload, pow2=1, **problem)
    rounded = tool("closed", real=";".join(given["Abar"]), **problem)[2]
    if "paper_rounding" in expect:
        yield "the rounding", numbers(rounded) == expect["paper_rounding"]
    if "paper_rounding_feasible" in expect:
        yield "the rounding is a shape", (rounded != "infeasible") == expect["paper_rounding_feasible"]
    if "symmetric" in expect:
        cube = commas([expect["symmetric"]["c"]] * len(given["Abar"]))
        yield "a cube", same_cost(tool("cost", **workload, c=cube, C=1)[0], expect["symmetric"]["cost"])


def iar_real(tool, given, expect):
    edges, cost, _ = tool("closed", real=";".join(given["Abar"]), C=given["C"], N=commas(given["N"]))
    for got, want in zip(edges.split(","), expect["c"], strict=True):
        yield f"edge {want}", near(float(got), float(want))
    for got, want in zip(edges.split(","), expect.get("log2c", [])):
        yield f"log {want}", near(math.log2(float(got)), float(want))
    yield "the cost", near(float(cost), float(expect["cost"]))


def qs_workload(given):
    return {"shapes": shapes(given["shapes_adjusted"]), "p": ";".join(given["p"])}


def qs_greedy(tool, given, expect):
    lines = tool("greedy", **qs_workload(given), C=2 ** given["log2C"])
    steps = list(zip(lines[::2], lines[1::2]))
    yield "as many steps", len(steps) == len(expect["iterations"])
    for (chunk, cost), want in zip(steps, expect["iterations"]):
        yield f"step {want['y']}", numbers(chunk) == [2**y for y in want["y"]] and same_cost(cost, want["obj"])


def qs_pow2(tool, given, expect):
    problem = {"C": 2 ** given["log2C"], "N": powers(given["log2N"])}
    yield from check_optimum(tool, expect, qs_workload(given), pow2=1, **problem)
    chunk, cost = tool("greedy", **qs_workload(given), **problem)[-2:]
    yield "greedy", numbers(chunk) == expect["greedy"]
    if "greedy_cost" in expect:
        yield "what greedy costs", same_cost(cost, expect["greedy_cost"])
        best = cost_of(cost)[0] == Fraction(expect["min_cost"]["q"])
        yield "whether greedy is the best", best == expect["greedy_is_optimal"]


def qs_int(tool, given, expect):
    yield from check_optimum(tool, expect, qs_workload(given), C=given["C"], N=commas(given["N"]))


def edge_kd(tool, given, expect):
    keys = {"shapes": rows([given["A"]]), "c": commas(given["c"]), "N": commas(given["N"])}
    yield "the exact mean", same_cost(tool("cost", model=EXACT, **keys)[0], expect["mean"])
    yield "the paper's cost", same_cost(tool("cost", model=PAPER, **keys)[0], expect["lemma"])


def edge1(tool, given, expect):
    yield from edge_kd(tool, {key: [value] for key, value in given.items()}, expect)


def edge_opt(tool, given, expect):
    workload = {"shapes": rows(given["shapes_raw"]), "p": ";".join(given["p"])}
    yield from check_optimum(tool, expect, workload, C=given["C"], N=commas(given["N"]), model=EXACT)


def boxes(queries):
    return rows([[end for pair in query for end in pair] for query in queries])


def trace(tool, given, expect):
    total, queries = map(int, tool("trace", boxes=boxes(given["queries"]), c=commas(given["c"])))
    yield "chunks", total == expect["total_chunks"]
    yield "their mean", Fraction(total, queries) == Fraction(expect["mean"]["q"])


def workload(tool, given, expect):
    lines = tool("workload", boxes=boxes(given["queries"]))
    joint = lines.index("joint")

    def listed(part):
        found = [line.split() for line in part if line.startswith("shape")]
        return [(numbers(shape), Fraction(p)) for _, p, shape in found]

    def wanted(list_):
        return [(entry["shape"], Fraction(entry["p"])) for entry in list_]

    yield "shapes", listed(lines[:joint]) == wanted(expect["shapes_qs"])
    yield "combinations", listed(lines[joint:]) == wanted(expect["iar_shapes"])
    for axis, entries in enumerate(expect["iar"]):
        found = [line.split()[2:] for line in lines if line.startswith(f"range {axis} ")]
        want = [(entry["range"], Fraction(entry["p"])) for entry in entries]
        yield f"ranges of axis {axis}", [(int(length), Fraction(p)) for length, p in found] == want
        mean = sum((int(length) - 1) * Fraction(p) for length, p in found)
        yield f"mean of axis {axis}", mean == Fraction(expect["Abar"][axis])


def size_model(tool, given, expect):
    per_cell = given["itemsize"] / given["bandwidth_Bps"]
    real = ";".join(map(str, given["Abar"]))
    cells = float(tool("size", real=real, latency=repr(given["latency_s"]), per_cell=repr(per_cell))[0])
    yield "cells", near(cells, float(expect["C_star"]), 1e-9)
    e = (math.prod(given["Abar"]) / cells) ** (1 / len(given["Abar"]))
    yield "e", near(e, float(expect["e"]), 1e-9)
    for length, want in zip(given["Abar"], expect["c"]):
        yield f"edge {want}", near(length / e, float(want), 1e-9)
    seconds = (1 + e) ** len(given["Abar"]) * (given["latency_s"] + per_cell * cells)
    yield "seconds", near(seconds, float(expect["T"]), 1e-9)


def peer(tool, given, expect):
    rules = {"h5py_guess_chunk": "h5py", "zarr_guess_chunks": "zarr", "netcdf_c_4MiB_fixed": "netcdf",
             "rew_chunk_shape_3D": "rew"}
    shape, size, *limit = given["args"]
    limit = limit[0] if limit else 4 << 20
    chunk = tool("guess", rule=rules[given["rule"]], N=commas(shape), bytes=size, limit=limit)[0]
    yield "the shape", numbers(chunk) == expect["chunk"]


def ask_wrong(tool, given):
    op = given["op"]
    if op == "qs":
        tool("optimum", shapes=rows(given["shapes_raw"]), p=";".join(given["p"]), C=given["C"],
             N=commas(given.get("N")))
    elif op == "iar":
        tool("optimum", **independent(given["Abar"], tool), C=given["C"])
    elif op == "trace":
        tool("trace", boxes=boxes(given["queries"]), c=commas(given["c"]))
    elif op == "edge1":
        tool("cost", model=EXACT, shapes=given["A"], N=given["N"], c=given["c"])
    else:
        tool("bytes", c=commas(given["c"]), bytes=given.get("itemsize"), hdf5=1 if op == "hdf5_chunk" else None)


def error(tool, given, expect):
    words = ERRORS[expect["error"]]
    try:
        ask_wrong(tool, given)
        yield "it is refused", False
    except Refused as refused:
        yield f"{words!r} in {refused}", words in str(refused)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    tool = Tool(parser.parse_args().tool)
    vectors = json.loads(VECTORS.read_text())
    tally = Tally()
    for case in vectors["cases"]:
        if case["kind"] == "sparse":  # block_addressing.py
            continue
        try:
            held = list(globals()[case["kind"]](tool, case["input"], case["expect"]))
            complaints = [what for what, holds in held if not holds] if held else ["nothing was checked"]
        except Refused as refused:
            complaints = [str(refused)]
        tally.check(case["id"], complaints)
    tally.check("all are there", [] if len(vectors["cases"]) == vectors["meta"]["total"] else ["some are missing"])
    tally.finish()


main()
