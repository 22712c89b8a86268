"""command_chunk.py --command ARRAS -- `arras chunk`: its advice against all shapes, its guesses against h5py, zarr and
netCDF themselves, its JSON, pictures and errors."""

import itertools
import json
import math
import random
import xml.dom.minidom
from fractions import Fraction

import command_kit

import h5py
import netCDF4
import numpy as np
import zarr
from h5py._hl.filters import guess_chunk
from tally import Tally
from zarr.util import guess_chunks

try:
    from dask.array.core import normalize_chunks
except ImportError:
    normalize_chunks = None

CLIMATE = ["--shape", "98128,277,349", "--dtype", "f4", "--query", "98128,1,1:0.5", "--query", "1,277,349:0.5"]
KEYS = {"chunk", "bytes", "cost", "optimal", "gap", "least", "model", "integers", "workload", "logged_queries", "array",
        "queries", "candidates"}


def commas(numbers):
    return ",".join(map(str, numbers))


def ask(scratch, *args):
    said = scratch.run("chunk", *args, "--json")
    if said.status != 0:
        raise RuntimeError(f"{args}: {said.err}")
    return json.loads(said.out)


def holds(tally, what, good):
    tally.check(what, [] if good else ["it does not"])


# ---- The exact model, counted ----------------------------------------------------------------------------------


def mean_chunks(extent, length, edge):
    places = range(extent - length + 1)
    return Fraction(sum((s + length - 1) // edge - s // edge + 1 for s in places), len(places))


def cost_of(shape, queries, chunk):
    return sum(p * math.prod(map(mean_chunks, shape, query, chunk)) for query, p in queries)


def least_cost(shape, queries, cells):
    chunks = itertools.product(*(range(1, n + 1) for n in shape))
    return min(cost_of(shape, queries, c) for c in chunks if math.prod(c) <= cells)


def advises_the_best(scratch, seed):
    rng = random.Random(seed)
    shape = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
    shapes = list({tuple(rng.randint(1, n) for n in shape) for _ in range(rng.randint(1, 3))})
    queries = [(query, Fraction(1, len(shapes))) for query in shapes]
    cells = rng.randint(1, 60)
    words = [word for query, p in queries for word in ("--query", f"{commas(query)}:{p}")]
    args = ["--shape", commas(shape), "--dtype", "f8", "--limit", str(8 * cells), *words]
    least = least_cost(shape, queries, cells)
    got, strict = ask(scratch, *args), ask(scratch, *args, "--within", "0")
    complaints = []
    for name, answer in (("advised", got), ("strict", strict)):
        exact = Fraction(answer["cost"]["exact"])
        if exact != cost_of(shape, queries, answer["chunk"]) or not math.isclose(exact, answer["cost"]["value"]):
            complaints.append(f"{name}: {answer['chunk']} does not cost {exact}")
        if exact > least * Fraction(1 if name == "strict" else 1.01) * Fraction(1 + 1e-12):
            complaints.append(f"{name}: {answer['chunk']} costs {exact}, the least is {least}")
        if not answer["optimal"] or exact > least * Fraction(1 + answer["gap"] + 1e-12):
            complaints.append(f"{name}: gap {answer['gap']}")
        if Fraction(answer["least"]["cost"]["exact"]) != least:
            complaints.append(f"{name}: least {answer['least']}, not {least}")
    return [f"{commas(args)}: {text}" for text in complaints]


# ---- What others choose ----------------------------------------------------------------------------------------


def netcdf_chunk(scratch, shape):
    with netCDF4.Dataset(scratch / "guess.nc", "w") as file:
        names = [f"d{i}" for i in range(len(shape))]
        for name, n in zip(names, shape):
            file.createDimension(name, n)
        return file.createVariable("v", "f4", names, zlib=True).chunking()


def guesses_like_the_others(scratch, shape):
    answer = ask(scratch, "--shape", commas(shape), "--query", commas([1] * len(shape)))
    got = {c["name"]: c["chunk"] for c in answer["candidates"]}
    want = {"h5py": list(guess_chunk(tuple(shape), None, 4)), "zarr": list(guess_chunks(tuple(shape), 4)),
            "netcdf": netcdf_chunk(scratch, shape)}
    if normalize_chunks:
        want["dask"] = [edges[0] for edges in normalize_chunks("auto", tuple(shape), dtype="f4")]
    return [f"{shape}: {name} {got[name]}, not {chunk}" for name, chunk in want.items() if got[name] != list(chunk)]


# ---- Files and logs --------------------------------------------------------------------------------------------


def write_inputs(scratch):
    field = np.zeros((60, 40), "f4")
    with h5py.File(scratch / "in.h5", "w") as file:
        file.create_dataset("x", data=field, chunks=(6, 5))
        file["plain"] = field
    zarr.save_array(str(scratch / "in.zarr"), field, chunks=(7, 40))
    rng = random.Random(1)
    boxes = []
    for _ in range(40):
        lo = [rng.randrange(50), rng.randrange(30)]
        boxes.append([[lo[0], lo[0] + rng.randint(1, 10)], [lo[1], lo[1] + rng.randint(1, 10)]])
    lines = ["y0,y1,x0,x1"] + [commas([end for pair in box for end in pair]) for box in boxes]
    (scratch / "log.csv").write_text("\n".join(lines) + "\n")
    (scratch / "log.json").write_text(json.dumps(boxes))
    return boxes


def touched(box, chunk):
    return math.prod((hi - 1) // c - lo // c + 1 for (lo, hi), c in zip(box, chunk))


def check_files(scratch, tally):
    boxes = write_inputs(scratch)
    answer = ask(scratch, "in.h5:/x", "--log", "log.csv", "--limit", "800")
    holds(tally, "the file's own array", answer["array"] == {"shape": [60, 40], "dtype": "f32", "cell_bytes": 4,
                                                            "chunk": [6, 5]})
    holds(tally, "what it has now", [c["chunk"] for c in answer["candidates"] if c["name"] == "now"] == [[6, 5]])
    holds(tally, "all queries of the log", answer["logged_queries"] == 40)
    for c in answer["candidates"]:
        holds(tally, f"chunks of the log, {c['name']}", c["logged_chunks"] == sum(touched(b, c["chunk"]) for b in boxes))
    holds(tally, "JSON says the same", ask(scratch, "in.h5:/x", "--log", "log.json", "--limit", "800") == answer)
    holds(tally, "not chunked", ask(scratch, "in.h5:/plain", "--log", "log.csv")["array"]["chunk"] is None)
    holds(tally, "Zarr", ask(scratch, "in.zarr", "--log", "log.csv")["array"]["chunk"] == [7, 40])
    holds(tally, "independent", ask(scratch, "in.zarr", "--log", "log.csv", "--iar")["workload"] == "iar")
    text = scratch.run("chunk", "in.h5:/x", "--log", "log.csv").out
    holds(tally, "says how sure it is", "40 logged queries" in text and "proven" in text)


# ---- Options ---------------------------------------------------------------------------------------------------


def check_options(scratch, tally):
    answer = ask(scratch, *CLIMATE)
    holds(tally, "all keys", KEYS <= set(answer))
    holds(tally, "the same answer twice", ask(scratch, *CLIMATE) == answer)
    costs = {c["name"]: c["cost"]["value"] for c in answer["candidates"]}
    holds(tally, "the climate archive", answer["least"]["cost"]["exact"] == "383/2" and answer["gap"] <= 0.01)
    holds(tally, "h5py's is worse", costs["h5py"] > 4 * costs["advised"])
    compared = ask(scratch, *CLIMATE, "--compare")["candidates"]
    times = {c["name"]: c["cost"]["value"] / c["least_of_size"] for c in compared}
    holds(tally, "none is better than the best of its size", all(x > 1 - 1e-12 for x in times.values()))
    holds(tally, "dask's is much worse", times["dask"] > 3)
    holds(tally, "the queries add up", math.isclose(sum(q["cost"]["value"] * q["probability"]["value"]
                                                        for q in answer["queries"]), answer["cost"]["value"]))
    star = [word.replace("98128,1,1", "*,1,1").replace("1,277,349:", "1,*,*:") for word in CLIMATE]
    holds(tally, "* is all of an axis", ask(scratch, *star) == answer)
    greedy = ["--shape", "2,100,100", "--dtype", "f8", "--query", "2,100,1", "--query", "2,1,100", "--limit", "32",
              "--model", "paper", "--integers", "pow2"]
    answer = ask(scratch, *greedy, "--compare")
    costs = {c["name"]: c["cost"]["exact"] for c in answer["candidates"]}
    holds(tally, "better than greedy", answer["chunk"] == [1, 2, 2] and costs["greedy"] == "903/8")
    holds(tally, "and exact", answer["cost"] == {"exact": "101/1", "value": 101} and answer["optimal"])
    holds(tally, "a fixed edge", ask(scratch, *CLIMATE, "--fix", "0=1")["chunk"][0] == 1)
    holds(tally, "a multiple", ask(scratch, *CLIMATE, "--multiple", "2=16")["chunk"][2] % 16 == 0)
    powers = ask(scratch, *CLIMATE, "--integers", "pow2")["chunk"]
    holds(tally, "powers of two", all(edge & (edge - 1) == 0 for edge in powers))
    ranges = ["--range", "0=3:1/4", "--range", "0=5:3/4", "--range", "1=7"]
    refused = scratch.run("chunk", "--shape", "50,60", *ranges)
    holds(tally, "a range without its probability", refused.status == 1 and "2 of 3 --range" in refused.err)
    answer = ask(scratch, "--shape", "50,60", *ranges[:-1], "1=7:1")
    holds(tally, "ranges", answer["workload"] == "iar" and answer["queries"] == [])
    slow = ask(scratch, *CLIMATE, "--latency", "10ms", "--bandwidth", "100MB/s")
    fast = ask(scratch, *CLIMATE, "--latency", "1us", "--bandwidth", "100MB/s")
    holds(tally, "larger chunks for a slow start", slow["bytes"] > 20 * fast["bytes"] and slow["gap"] < 0.2)
    least = min(c["seconds"] for c in slow["candidates"] if c["name"] not in ("advised", "least"))
    holds(tally, "and less time than others", slow["seconds"] < least)
    text = scratch.run("chunk", *CLIMATE, "--compare").out
    holds(tally, "for people", all(word in text for word in ("advised", "h5py", "zarr", "dask", "netcdf", "rew", "paper")))
    said = scratch.run("chunk", *CLIMATE, "--svg", "cost.svg")
    document = xml.dom.minidom.parse(str(scratch / "cost.svg"))
    holds(tally, "a picture", said.status == 0 and len(document.getElementsByTagName("circle")) >= 5)


ARRAY = ["--shape", "100,200"]
ERRORS = [
    ([], "chunks of what?"),
    (ARRAY, "how is the array read?"),
    (["--shape", "100,x", "--query", "1,1"], "--shape 100,x"),
    (["--shape", "0,5", "--query", "1,1"], "axis 0 of the array has length 0"),
    (["--shape", "-3,5", "--query", "1,1"], "axis 0 of the array has length -3"),
    (ARRAY + ["--dtype", "f5", "--query", "1,1"], "--dtype f5"),
    (ARRAY + ["--query", "1,1,1"], "has 3 lengths; the array has 2 axes"),
    (ARRAY + ["--query", "1,y"], "--query 1,y"),
    (ARRAY + ["--query", "0,5"], "query 1 is 0 cells long along axis 0"),
    (ARRAY + ["--query", "-2,5"], "query 1 is -2 cells long along axis 0"),
    (ARRAY + ["--query", "101,5"], "101 cells long along axis 0; the array has 100"),
    (ARRAY + ["--query", "101,5", "--model", "ss"], "101 cells long along axis 0; the array has 100"),
    (ARRAY + ["--query", "1,1:0.5", "--query", "2,2:0.4"], "add up to 0.9, not to 1"),
    (ARRAY + ["--query", "1,1:1.5", "--query", "2,2:-0.5"], "probability 1 is 1.5"),
    (ARRAY + ["--query", "1,1:p"], "'p'"),
    (ARRAY + ["--query", "1,1:0.5", "--query", "2,2"], "1 of 2 --query have a probability"),
    (ARRAY + ["--query", "1,1", "--range", "0=1"], "give one kind"),
    (ARRAY + ["--query", "1,1", "--limit", "3"], "a chunk may have 0 cells"),
    (ARRAY + ["--query", "1,1", "--limit", "x"], "--limit x"),
    (ARRAY + ["--query", "1,1", "--fix", "2=1"], "the array has axes 0 to 1"),
    (ARRAY + ["--query", "1,1", "--fix", "0=101"], "axis 0 is fixed to 101; the array has 100"),
    (ARRAY + ["--query", "1,1", "--fix", "0=0"], "at least 1 cell"),
    (ARRAY + ["--query", "1,1", "--fix", "0=5", "--fix", "0=6"], "given twice"),
    (ARRAY + ["--query", "1,1", "--fix", "0=100", "--fix", "1=200", "--limit", "4000"], "raise the limit"),
    (ARRAY + ["--query", "1,1", "--fix", "0=5", "--multiple", "0=2"], "cannot be a multiple of 2"),
    (ARRAY + ["--query", "1,1", "--multiple", "0=3", "--integers", "pow2"], "a power of two and a multiple of 3"),
    (ARRAY + ["--query", "1,1", "--model", "exakt"], "did you mean exact?"),
    (ARRAY + ["--query", "1,1", "--latency", "1ms"], "without a bandwidth"),
    (ARRAY + ["--query", "1,1", "--bandwidth", "fast"], "--bandwidth fast"),
    (ARRAY + ["--query", "1,1", "--log", "none.csv"], "give one kind"),
    (ARRAY + ["--log", "none.csv"], "none.csv"),
    (ARRAY + ["--log", "bad.csv"], "bad.csv:2"),
    (ARRAY + ["--log", "far.csv"], "stops at 201 along axis 1"),
    (["--shape", "9000000000000000000,5", "--query", "1,1"], "above 2^61"),
    (["none.h5:/x", "--query", "1,1"], "none.h5"),
    (["in.h5:/x", "--shape", "5,5", "--query", "1,1"], "leave out --shape"),
    (["in.h5:/x", "--query", "1,1", "--limit", "4GiB"], "stay below 4294967296 bytes"),
    (["a.npy", "b.npy", "--query", "1,1"], "chunk takes one"),
]


def check_errors(scratch, tally):
    (scratch / "bad.csv").write_text("0,1,0,1\n0,1,0\n")
    (scratch / "far.csv").write_text("0,1,0,1\n0,1,190,201\n")
    for args, words in ERRORS:
        said = scratch.run("chunk", *args)
        good = said.status == 1 and words in said.err and said.err.count("\n") == 1 and not said.out
        tally.check(f"refused: {commas(args)}", [] if good else [f"status {said.status}: {said.err or said.out}"])


def main():
    options = command_kit.options("`arras chunk`", ("cases", 60))
    tally = Tally()
    with command_kit.Scratch(options.command) as scratch:
        for seed in range(options.cases):
            tally.check(f"the best of all, seed {seed}", advises_the_best(scratch, seed))
        shapes = [[98128, 277, 349], [100, 200, 300], [5000, 7000], [10], [3000000], [7, 9, 1000, 1000], [1, 1, 5],
                  [40, 721, 1440], [33000, 27000], [2000000000], [3, 3, 3, 3, 3, 3]]
        for shape in shapes:
            tally.check(f"others' guesses for {shape}", guesses_like_the_others(scratch, shape))
        check_files(scratch, tally)
        check_options(scratch, tally)
        check_errors(scratch, tally)
    tally.finish()


main()
