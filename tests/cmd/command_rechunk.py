"""command_rechunk.py --command ARRAS [--kills N] -- `arras rechunk`: the bits of NumPy whatever the shape, chunks, formats,
memory and threads; chunks from advice and from logged queries; killed at any moment and resumed; errors."""

import random
import shutil
import signal
import subprocess
import time

import command_kit

import h5py
import numpy as np
import zarr
from tally import Tally

SHAPES = [(), (1,), (1000,), (37, 53), (5, 1, 41), (23, 19, 17), (3, 5, 7, 11), (0, 4)]
TYPES = ["f4", "f8", "i2", "u1", "?", "c16", ">f4"]
FORMATS = ["npy", "h5", "zarr"]
CODECS = {".h5": "shuffle deflate 6", ".zarr": "zstd 19"}  # that others read too


def commas(numbers):
    return ",".join(map(str, numbers))


def holds(tally, what, good, said=""):
    tally.check(what, [] if good else [f"it does not: {said}"])


def array(rng, shape, dtype):
    cells = rng.integers(0, 2 if dtype == "?" else 200, shape)
    return cells.astype(dtype)


def edges(rng, shape):
    return [int(rng.integers(1, max(n, 1) + 1)) for n in shape]


# ---- Files of others, read and written by others ---------------------------------------------------------------


def write(path, cells, chunk, packed):
    if path.suffix == ".npy":
        np.save(path, np.asfortranarray(cells) if packed and cells.ndim else cells)
    elif path.suffix == ".h5":
        options = {"compression": "gzip", "shuffle": True} if packed else {}
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=cells, **({"chunks": tuple(chunk), **options} if chunk else {}))
    else:
        zarr.save_array(str(path), cells, chunks=tuple(chunk) or True, compressor="default" if packed else None)


def read(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            return file["x"][()]
    return None


def place(path):
    return f"{path.name}:/x" if path.suffix == ".h5" else path.name


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def complain(got, want):
    if got.dtype != want.dtype.newbyteorder("="):
        return [f"{got.dtype} of {want.dtype}"]
    if got.shape != want.shape:
        return [f"{got.shape} of {want.shape}"]
    return [] if got.tobytes() == want.astype(got.dtype).tobytes() else ["other cells"]


def compare(scratch, sink, want):
    """Zarr v3, which Debian's zarr does not read, goes on into a .npy file."""
    got = read(sink)
    if got is None:
        said = scratch.run("rechunk", sink.name, "back.npy", "--quiet")
        if said.status != 0:
            return [said.err]
        got = read(scratch / "back.npy")
        remove(scratch / "back.npy")
    return complain(got, want)


# ---- Bits ------------------------------------------------------------------------------------------------------


def check_one(scratch, tally, rng, number):
    shape = SHAPES[rng.integers(len(SHAPES))]
    want = array(rng, shape, TYPES[rng.integers(len(TYPES))])
    source = scratch / f"a.{FORMATS[rng.integers(3)]}"
    sink = scratch / f"b.{FORMATS[rng.integers(3)]}"
    empty = want.size == 0 or not shape
    write(source, want, [] if empty else edges(rng, shape), bool(rng.integers(2)))
    chunk = edges(rng, shape)
    memory = int(4 * want.nbytes + rng.integers(6 * want.nbytes + 1)) + 4096
    args = ["rechunk", place(source), place(sink), f"--memory={memory}", f"--threads={rng.integers(1, 4)}"]
    if sink.suffix != ".npy" and shape:
        args.append(f"--chunk={commas(chunk)}")
    if sink.suffix != ".npy" and rng.integers(2):
        args.append(f"--codec={['none', CODECS[sink.suffix]][rng.integers(2)]}")
    before = source.read_bytes() if source.is_file() else b""
    said = scratch.run(*args)
    what = f"{number}: {want.dtype}{list(shape)} {' '.join(args)}"
    tally.check(what, [said.err] if said.status else compare(scratch, sink, want))
    if before and source.read_bytes() != before:
        tally.check(f"{what} leaves its source alone", ["it does not"])
    remove(source)
    remove(sink)


def check_chunks(scratch, tally):
    """Chunks, codecs, attributes, fill value and unlimited axes, as h5py sees them."""
    cells = np.zeros((40, 30, 20), "i2")
    cells[:7] = 5
    with h5py.File(scratch / "s.h5", "w") as file:
        d = file.create_dataset("x", data=cells, chunks=(1, 30, 20), compression="gzip", shuffle=True, fillvalue=0,
                                maxshape=(None, 30, 20))
        d.attrs["units"] = "m"
        d.attrs["scale_factor"] = 0.5
    said = scratch.run("rechunk", "s.h5:/x", "t.h5:/x", "--chunk", "40,3,4")
    with h5py.File(scratch / "t.h5") as file:
        d = file["x"]
        holds(tally, "chunks are those asked for", d.chunks == (40, 3, 4), d.chunks)
        holds(tally, "codecs stay within a format", d.compression == "gzip" and d.shuffle, d.compression)
        holds(tally, "attributes are copied", dict(d.attrs) == {"units": "m", "scale_factor": 0.5}, dict(d.attrs))
        holds(tally, "unlimited axes stay", d.maxshape == (None, 30, 20), d.maxshape)
        holds(tally, "packed numbers stay packed", d.dtype == np.int16 and (d[()] == cells).all(), d.dtype)
    holds(tally, "it says that chunks are read once", "each of the 40 chunks of the source is read once" in said.out, said.out)
    said = scratch.run("rechunk", "s.h5:/x", "u.h5:/x", "--chunk", "40,1,1", "--codec", "none", "--memory", "40K",
                       "--threads", "1")
    holds(tally, "it says how often otherwise", "is read 2 times; with more memory" in said.out, said.out + said.err)
    holds(tally, "and what was read", "80 chunks were read" in said.out, said.out)
    for name in ("s.h5", "t.h5", "u.h5"):
        remove(scratch / name)


# ---- Advice ----------------------------------------------------------------------------------------------------


def check_advice(scratch, tally):
    cells = np.arange(60 * 50 * 40, dtype="f4").reshape(60, 50, 40)
    np.save(scratch / "a.npy", cells)
    queries = ["--query", "*,1,1:0.5", "--query", "1,*,*:0.5", "--limit", "4096"]
    advised = scratch.run("chunk", "--shape", "60,50,40", *queries, "--json").out
    said = scratch.run("rechunk", "a.npy", "b.h5:/x", *queries)
    with h5py.File(scratch / "b.h5") as file:
        holds(tally, "the advised chunk is used", f'"chunk": {list(file["x"].chunks)}' in advised, file["x"].chunks)
        tally.check("advised chunks hold the cells", complain(file["x"][()], cells))
    holds(tally, "it succeeds", said.status == 0, said.err)
    for row in (3, 10, 10):
        scratch.run("run", f"y[j,k] = 2*b[{row},j,k]", "b=b.h5:/x", "-o", "y=y.npy", "--log-queries", "q.csv")
        remove(scratch / "y.npy")
    lines = (scratch / "q.csv").read_text().splitlines()
    holds(tally, "what programs read is logged", lines == ["start0,stop0,start1,stop1,start2,stop2", "3,4,0,50,0,40",
                                                           "10,11,0,50,0,40", "10,11,0,50,0,40"], lines)
    said = scratch.run("rechunk", "b.h5:/x", "c.h5:/x", "--log", "q.csv", "--limit", "8000")
    with h5py.File(scratch / "c.h5") as file:
        holds(tally, "the log is heard", file["x"].chunks == (1, 50, 40), (file["x"].chunks, said.err))
    scratch.run("info", "b.h5:/x", "--log-queries", "i.csv")
    holds(tally, "info logs", (scratch / "i.csv").read_text().endswith("\n0,60,0,50,0,40\n"))
    said = scratch.run("run", "y = sum(b)", "b=b.h5:/x", "--log-queries", "no/q.csv")
    holds(tally, "a log that can't be", said.status == 1 and "no/q.csv" in said.err and said.err.count("\n") == 1, said.err)
    for name in ("a.npy", "b.h5", "c.h5", "q.csv", "i.csv"):
        remove(scratch / name)


# ---- Memory, kills, errors -------------------------------------------------------------------------------------


def start(scratch, *args):
    return subprocess.Popen([scratch.command, *args], cwd=scratch.folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def check_memory(scratch, tally):
    """64 MB from rows to columns within 16 MB, beside the program itself."""
    cells = np.arange(16 << 20, dtype="f4").reshape(4096, 4096)
    write(scratch / "a.h5", cells, (16, 4096), False)
    status, peak, err = scratch.measure("rechunk", "a.h5:/x", "b.h5:/x", "--chunk=4096,16", "--memory=16M")
    holds(tally, "64 MB are rechunked", status == 0, err)
    if not command_kit.is_sanitized(scratch.command):
        holds(tally, "within 16 MB", peak < (16 + 24) << 20, f"{peak} bytes")
    tally.check("and are the same", complain(read(scratch / "b.h5"), cells))
    for name in ("a.h5", "b.h5"):
        remove(scratch / name)


def check_kills(scratch, tally, kills):
    chance = random.Random(1)
    cells = np.random.default_rng(1).integers(0, 50, (600, 800)).astype("i4")
    write(scratch / "a.h5", cells, (10, 800), True)
    for number in range(kills):
        sink = scratch / ["k.h5", "k.zarr", "k.npy"][number % 3]
        codec = [] if sink.suffix == ".npy" else ["--chunk=600,20", f"--codec={CODECS[sink.suffix]}"]
        args = ["rechunk", "a.h5:/x", place(sink), "--memory=1M", "--resume", "--checkpoint=0.002", *codec]
        rounds, killed = 0, False
        while not sink.exists():
            killed = False
            process = start(scratch, *args)
            try:
                process.communicate(timeout=chance.uniform(0, 0.2) if rounds < 3 else 600)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL if rounds % 2 == 0 else signal.SIGTERM)
                process.communicate()
                killed = True
            rounds += 1
            if rounds > 5:
                break
        tally.check(f"{sink.name}, ended {rounds - 1} times", compare(scratch, sink, cells) if sink.exists() else ["none"])
        if killed:  # as the file appeared: the same command again tidies up, though the array is there
            holds(tally, f"{sink.name} is there", "already" in scratch.run(*args).err)
        left = [name for name in scratch.names() if name.startswith(".")]
        holds(tally, f"nothing is left beside {sink.name}", not left, left)
        remove(sink)
    remove(scratch / "a.h5")


def check_errors(scratch, tally):
    np.save(scratch / "a.npy", np.zeros((8, 8), "f4"))
    np.save(scratch / "there.npy", np.zeros(3))
    rows = [
        (["a.npy"], "rechunk what, and where to?"),
        (["a.npy", "b.h5", "c.h5"], "what is c.h5?"),
        (["a.npy", "a.npy"], "are the same file"),
        (["none.npy", "b.h5"], "none.npy"),
        (["3.5", "b.h5"], "is an array in a file"),
        (["-", "b.h5"], "is an array in a file"),
        (["a.npy", "there.npy"], "there.npy"),
        (["a.npy", "b.h5", "--chunk", "4"], "has 1 length; the array has 2 axes"),
        (["a.npy", "b.h5", "--chunk", "4,0"], "expected lengths of 1 or more"),
        (["a.npy", "b.h5", "--chunk", "4,99999999999999999999"], "expected lengths of 1 or more"),
        (["a.npy", "b.h5", "--chunk", "4,4", "--query", "1,8"], "leave out --query=1,8"),
        (["a.npy", "b.h5", "--limit", "64"], "how is the array read?"),
        (["a.npy", "b.h5", "--query", "1,9"], "9"),
        (["a.npy", "b.h5", "--codec", "squash 3", "--chunk", "4,4"], "squash"),
        (["a.npy", "b.npy", "--chunk", "4,4"], "neither chunks nor codecs"),
        (["a.npy", "b.h5", "--chunk", "8,8", "--memory", "100"], "allow more, or choose smaller chunks"),
        (["a.npy", "b.h5", "--threads", "0"], "--threads 0"),
        (["a.npy", "b.h5", "--checkpoint", "x"], "--checkpoint x"),
        (["a.npy", "b.h5", "--checkpoint", "5"], "--checkpoint goes with --resume"),
        (["a.npy", "b.h5", "--memroy", "1M"], "did you mean --memory?"),
        (["a.npy", "no/b.h5", "--chunk", "4,4"], "no/b.h5"),
    ]
    for args, part in rows:
        said = scratch.run("rechunk", *args)
        good = said.status == 1 and part in said.err and said.err.count("\n") == 1
        holds(tally, f"rechunk {' '.join(args)}", good, said.err)
    holds(tally, "nothing is left behind", scratch.names() == ["a.npy", "there.npy"], scratch.names())


def main():
    options = command_kit.options(__doc__, ("kills", 6), ("arrays", 150))
    tally = Tally()
    rng = np.random.default_rng(7)
    with command_kit.Scratch(options.command) as scratch:
        check_errors(scratch, tally)
        check_chunks(scratch, tally)
        check_advice(scratch, tally)
        for number in range(options.arrays):
            check_one(scratch, tally, rng, number)
        check_memory(scratch, tally)
        check_kills(scratch, tally, options.kills)
    tally.finish()


main()
