"""chunking.py -- chunk shapes: what is predicted against what is read; rechunking against cp, h5repack, Dask, rechunker.

  chunking.py [--build build/release] [--folder /dev/shm] [--part read|copy] [--size 4G] [--memory 256M]
              [--queries 24] [--rounds 2] [--no-install] [--json FILE]

  read   six workloads: for each tool's default shape and the advised one a real HDF5 file and a Zarr array are
         written and queries at random places are read.  Chunks that were fetched are counted by the library:
         their number must be what the trace of the queries predicts, and near the mean over all places.
  copy   an HDF5 file of --size from images to cubes within --memory, uncompressed and with codecs, all in turn.

Files are in the cache of the system: what is measured is not the disk.  Needs a build of the library and the
command; h5repack is in the package hdf5-tools."""

import argparse
import importlib.util
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from ctypes import CDLL, byref, c_double, c_int, c_int64, c_void_p, create_string_buffer
from pathlib import Path

sys.dont_write_bytecode = True
import environment

TREE = Path(__file__).resolve().parent.parent
PEERS = Path(__file__).resolve().parent / "chunking_peers.py"
PACKAGES = ["numpy", "h5py", "dask[array]", "zarr<3", "numcodecs<0.16", "rechunker"]
TOOLS = ["h5py", "zarr", "dask", "netcdf"]
LARGE, FEW = 32 << 20, 6  # of chunks with more bytes, queries that are made
STORAGE = ["--latency", "20us", "--bandwidth", "4GB/s"]  # what the cache of a system is like
PATIENCE = 90  # seconds, for a contender of the second part
SIDE, CUBE = 512, (256, 32, 32)  # of images, and what they become

# Scaled down to about 256 MB each: name, shape, type, queries with their probabilities.
WORKLOADS = [
    ("climate, series and maps", (8766, 96, 80), "f4", {(8766, 1, 1): 0.5, (1, 96, 80): 0.5}),
    ("sky survey, 4-d", (64, 64, 128, 128), "f4", {(16, 16, 4, 4): 0.3, (4, 4, 64, 64): 0.3, (64, 2, 8, 32): 0.2,
                                                   (1, 32, 32, 16): 0.2}),
    ("image stack", (512, 512, 512), "u2", {(1, 512, 512): 0.6, (512, 8, 8): 0.3, (32, 128, 128): 0.1}),
    ("planes of a volume", (400, 400, 400), "f4", {(1, 400, 400): 0.4, (400, 1, 400): 0.3, (400, 400, 1): 0.3}),
    ("random boxes", (400, 400, 400), "f4", {(32, 32, 32): 0.4, (64, 16, 100): 0.3, (8, 120, 40): 0.3}),
    ("cells by genes", (20000, 3200), "f4", {(1, 3200): 0.5, (20000, 1): 0.3, (200, 50): 0.2}),
]


def commas(numbers):
    return ",".join(map(str, numbers))


def lengths(numbers):
    return (c_int64 * len(numbers))(*numbers)


# ---- The library -----------------------------------------------------------------------------------------------


class Library:
    def __init__(self, path):
        self.c = CDLL(str(path))
        self.error = create_string_buffer(1024)

    def call(self, name, *args):
        if getattr(self.c, name)(*args, self.error) != 0:
            raise SystemExit(f"{name}: {self.error.raw[4:].split(bytes(1))[0].decode()}")

    def trace(self, boxes, chunk):
        """Chunks that these queries read, all together: a prediction."""
        rank, workload, chunks, error = len(chunk), c_void_p(), c_int64(), c_double()
        flat = [lengths([n for box in boxes for n in box[side]]) for side in (0, 1)]
        self.call("arras_workload_from_boxes", byref(workload), c_int(rank), c_int64(len(boxes)), *flat)
        self.call("arras_chunk_trace", byref(chunks), byref(error), workload, lengths(chunk))
        self.c.arras_workload_free(workload)
        return chunks.value

    def read(self, path, inside, boxes, room):
        """Reads boxes; chunks and bytes that were fetched, and seconds."""
        source, chunks, stored = c_void_p(), c_int64(), c_int64()
        self.call("arras_source_open", byref(source), str(path).encode(), inside)
        began = time.perf_counter()
        for lo, hi in boxes:
            self.call("arras_source_read", source, lengths(lo), lengths(hi), room, None, c_int(0))
        took = time.perf_counter() - began
        self.c.arras_source_fetched(byref(chunks), byref(stored), source)
        self.c.arras_source_close(source)
        return chunks.value, stored.value, took


def run(command, *args):
    ran = subprocess.run([command, *map(str, args)], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, args))}: {ran.stderr}")
    return ran.stdout


# ---- Reading ---------------------------------------------------------------------------------------------------


def write_cells(path, shape, dtype):
    import numpy as np

    cells = np.lib.format.open_memmap(path, "w+", dtype, shape)
    plane = np.random.default_rng(1).integers(1, 200, shape[1:]).astype(dtype)
    for i in range(shape[0]):
        cells[i] = plane + dtype_step(dtype, i)


def dtype_step(dtype, i):
    return i % 1000 if dtype == "u2" else i


def draw(queries, shape, count, seed):
    """Boxes at random places, shapes as often as the workload says."""
    rng = random.Random(seed)
    shapes = rng.choices(list(queries), list(queries.values()), k=count)
    boxes = []
    for query in shapes:
        lo = [rng.randint(0, n - q) for n, q in zip(shape, query)]
        boxes.append((lo, [a + q for a, q in zip(lo, query)]))
    return boxes


def candidates(command, shape, dtype, queries):
    """What each tool chooses, the advised shape that is no larger, and the advised shape and size for time."""
    words = [word for query, p in queries.items() for word in ("--query", f"{commas(query)}:{p}")]
    ask = ["chunk", "--shape", commas(shape), "--dtype", dtype, *words, "--json"]
    advised = {"advised": json.loads(run(command, *ask, *STORAGE))["candidates"][0]}
    for c in json.loads(run(command, *ask))["candidates"]:
        if c["name"] in TOOLS:
            advised[c["name"]] = c
            advised["advised <= " + c["name"]] = json.loads(run(command, *ask, "--limit", c["bytes"]))["candidates"][0]
    return advised


def measure(library, command, folder, source, chunk, boxes, room):
    """Of an HDF5 file and of a Zarr array with such chunks: fetched chunks, bytes, seconds."""
    results = []
    for name, inside in (("x.h5", b"/x"), ("x.zarr", None)):
        sink = folder / name
        place = f"{sink}:/x" if inside else sink
        run(command, "rechunk", source, place, "--chunk", commas(chunk), "--codec", "none", "--quiet")
        library.read(sink, inside, boxes[:1], room)
        results.append(library.read(sink, inside, boxes, room))
        shutil.rmtree(sink) if sink.is_dir() else sink.unlink()
    return results


def read_part(library, command, folder, count):
    rows = []
    for number, (name, shape, dtype, queries) in enumerate(WORKLOADS):
        source = folder / "cells.npy"
        write_cells(source, shape, dtype)
        drawn = draw(queries, shape, count, number)
        room = create_string_buffer(max(math.prod(q) for q in queries) * int(dtype[1:]))
        print(f"\n{name}: {dtype}{list(shape)}, {count} queries\n"
              f"  {'shape of':18} {'chunk':>16} {'MB':>7} | chunks a query: {'mean':>9} {'trace':>9} {'HDF5':>9} {'Zarr':>9} |"
              f" {'MB read':>8} | {'ms HDF5':>8} {'ms Zarr':>8}")
        for tool, c in candidates(command, shape, dtype, queries).items():
            boxes = drawn[: FEW if c["bytes"] > LARGE else count]
            n = len(boxes)
            h5, z = measure(library, command, folder, source, c["chunk"], boxes, room)
            row = {"workload": name, "tool": tool, "chunk": c["chunk"], "bytes": c["bytes"], "mean": c["cost"]["value"],
                   "trace": library.trace(boxes, c["chunk"]), "hdf5": h5, "zarr": z, "queries": n}
            rows.append(row)
            print(f"  {tool:18} {commas(c['chunk']):>16} {c['bytes'] / 1e6:7.3f} | {'':15} {row['mean']:9.2f} "
                  f"{row['trace'] / n:9.2f} {h5[0] / n:9.2f} {z[0] / n:9.2f} | {h5[1] / n / 1e6:8.2f} | "
                  f"{h5[2] / n * 1e3:8.2f} {z[2] / n * 1e3:8.2f}", flush=True)
        source.unlink()
    return rows


def judge_reads(rows):
    wrong = [r for r in rows if r["hdf5"][0] != r["trace"] or r["zarr"][0] != r["trace"]]
    print(f"\nchunks that were fetched are those of the trace: {len(rows) - len(wrong)} of {len(rows)}")
    best = {}
    for r in rows:
        best.setdefault(r["workload"], {})[r["tool"]] = r
    print("times of tools' shapes against the advised one; and against the advised one that is no larger")
    for name, tools in best.items():
        each = {tool: sum(r[f][2] for f in ("hdf5", "zarr")) / r["queries"] for tool, r in tools.items()}
        against = [f"{tool} {each[tool] / each['advised']:.1f}, {each[tool] / each['advised <= ' + tool]:.1f}"
                   for tool in TOOLS if tool in each]
        print(f"  {name:25} {';  '.join(against)}")
    return not wrong


# ---- Rechunking ------------------------------------------------------------------------------------------------


def write_images(path, size):
    """Images in chunks of their own; nearly random, so that codecs have work."""
    import h5py
    import numpy as np

    rng = np.random.default_rng(1)
    images = max(64, size // (SIDE * SIDE * 4) // 64 * 64)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (images, SIDE, SIDE), "f4", chunks=(1, SIDE, SIDE))
        block = np.round(rng.standard_normal((64, SIDE, SIDE), "f4").cumsum(2), 2)
        for i in range(0, images, 64):
            data[i : i + 64] = block + np.float32(i)
    return images


def into_cubes(command, source, sink, options, *more):
    return [command, "rechunk", source, sink, "--chunk", commas(CUBE), "--memory", options.memory_bytes, "--quiet", *more]


def repack(source, sink, *filters):
    if not shutil.which("h5repack"):
        return {}
    return {"h5repack": (["h5repack", "-l", f"/x:CHUNK={'x'.join(map(str, CUBE))}", *filters, source, sink], sink)}


def peer(who, source, sink, options):
    return [sys.executable, PEERS, who, source, sink, commas(CUBE), options.memory_bytes], sink


def time_one(args, sink):
    path, began = Path(sink), time.perf_counter()
    try:
        ran = subprocess.run([*map(str, args)], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return math.inf, "too long"
    finally:
        took = time.perf_counter() - began
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        shutil.rmtree(f"{sink}.temporary", ignore_errors=True)
    return (took, "") if ran.returncode == 0 else (math.nan, ran.stderr.strip().split("\n")[-1])


def race(found, rounds):
    times, why = {name: [] for name in found}, {}
    for _ in range(rounds):
        for name, (args, sink) in found.items():
            if name in why:
                continue
            took, said = time_one(args, sink)
            if said:
                why[name] = said
            times[name].append(took)
    return times, why


def show_race(title, times, why, size):
    base = statistics.median(times["cp"]) if "cp" in times else None
    print(f"\n{title}", flush=True)
    rows = {}
    for name, each in times.items():
        took = statistics.median(each)
        rows[name] = took
        if name in why:
            print(f"  {name:16} {'> ' + str(PATIENCE) + ' s' if math.isinf(took) else why[name]}")
            continue
        ratio = f"  {base / took:5.2f} of cp" if base else ""
        print(f"  {name:16} {took:7.2f} s {size / took / 1e9:6.2f} GB/s{ratio}")
    return rows


def race_plain(options, command, folder, source, size):
    sink = f"{folder}/sink.h5"
    found = {"cp": (["cp", source, sink], sink),
             "arras": (into_cubes(command, f"{source}:/x", f"{sink}:/x", options), sink),
             **repack(source, sink), "dask": peer("dask", source, sink, options)}
    return show_race(f"{size / 1e9:.2f} GB of images into chunks of {commas(CUBE)}, within {options.memory}",
                     *race(found, options.rounds), size)


def race_packed(options, command, folder, source, size):
    packed, sink, codec = f"{folder}/packed.h5", f"{folder}/sink.h5", ["--codec", "shuffle deflate 1"]
    run(command, "rechunk", f"{source}:/x", f"{packed}:/x", *codec, "--quiet")
    args = into_cubes(command, f"{packed}:/x", f"{sink}:/x", options, *codec)
    found = {"arras": (args, sink), "arras, 1 thread": ([*args, "--threads", 1], sink),
             **repack(packed, sink, "-f", "SHUF", "-f", "GZIP=1")}
    rows = show_race(f"{size / 1e9:.2f} GB with shuffle and deflate", *race(found, 1), size)
    Path(packed).unlink()
    return rows


def race_zarr(options, command, folder, source, size):
    if not importlib.util.find_spec("zarr"):
        print("\nfrom Zarr to Zarr: this Python has no zarr; without --no-install it is installed")
        return {}
    images, sink = f"{folder}/images.zarr", f"{folder}/sink.zarr"
    run(sys.executable, PEERS, "zarr", source, images, f"1,{SIDE},{SIDE}", 0)
    found = {"cp": (["cp", "-r", images, sink], sink),
             "arras": (into_cubes(command, images, sink, options, "--codec", "none"), sink),
             "rechunker": peer("rechunker", images, sink, options)}
    rows = show_race(f"{size / 1e9:.2f} GB from Zarr to Zarr", *race(found, options.rounds), size)
    shutil.rmtree(images)
    return rows


def copy_part(options, command, folder):
    """The whole size where cp is the measure; a quarter of it for what takes long, or several copies."""
    source, rows = folder / "images.h5", {}
    for races, size in (([race_plain], options.size_bytes), ([race_packed, race_zarr], options.size_bytes // 4)):
        size = write_images(source, size) * SIDE * SIDE * 4
        for one in races:
            rows[one.__name__] = one(options, command, folder, source, size)
        source.unlink()
    return rows


# ---- All of it -------------------------------------------------------------------------------------------------


def bytes_of(text):
    units = {"K": 10, "M": 20, "G": 30}
    return int(float(text.rstrip("KMG")) * 2 ** units.get(text[-1], 0))


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TREE / "build/release")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--part", choices=["read", "copy"])
    parser.add_argument("--size", default="4G")
    parser.add_argument("--memory", default="256M")
    parser.add_argument("--queries", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-install", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.memory_bytes = bytes_of(options.memory)
    options.size_bytes = bytes_of(options.size)
    return options


def check_room(folder, size):
    """Two files of the size at once, and what others need."""
    free = shutil.disk_usage(folder).free
    if free < 3 * size:
        raise SystemExit(f"{folder} has {free / 1e9:.1f} GB left; {3 * size / 1e9:.1f} are needed: another --folder or --size")


def main():
    options = options_of()
    if not options.no_install and not environment.is_active():
        environment.enter(PACKAGES)
    command = options.build / "arras"
    check_room(options.folder, options.size_bytes if options.part != "read" else 1 << 29)
    library = Library(options.build / "libarras.so")
    result, good = {}, True
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="arras-chunking-") as name:
        folder = Path(name)
        if options.part != "copy":
            result["read"] = read_part(library, command, folder, options.queries)
            good = judge_reads(result["read"])
        if options.part != "read":
            result["copy"] = copy_part(options, command, folder)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))
    sys.exit(0 if good else 1)


main()
