"""command_stream.py --command ARRAS [--kills N] [--budget MB] -- `arras run` from files to files, tile by tile: the bits of NumPy whatever
the format, chunks, memory and threads; within its memory; killed at any moment and resumed."""

import fcntl
import itertools
import os
import random
import re
import resource
import signal
import subprocess
import time

import command_kit

import h5py
import numpy as np
import zarr
from tally import Tally

SHAPE = (700, 900)
LAPLACE = "lap[i,j] = 4*h[i,j] - h[i-1,j] - h[i+1,j] - h[i,j-1] - h[i,j+1]\nedge h = {edge}"
PADS = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap", "0": "constant"}


def field(shape=SHAPE, seed=1):
    return np.random.default_rng(seed).random(shape, dtype="f4")


def laplace(h, edge):
    p = np.pad(h, 1, mode=PADS[edge])
    four = np.float32(4)
    return four * h - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]


def write_inputs(scratch, h):
    np.save(scratch / "in.npy", h)
    with h5py.File(scratch / "in.h5", "w") as file:
        file["raw"] = h
        file.create_dataset("packed", data=h, chunks=(64, 100), compression="gzip", shuffle=True)
    zarr.save_array(str(scratch / "in.zarr"), h, chunks=(130, 77))


def read(scratch, name):
    if name.endswith(".npy"):
        return np.load(scratch / name)
    if ".h5" in name:
        path, inside = name.split(":")
        with h5py.File(scratch / path) as file:
            return file[inside][...]
    said = scratch.run("run", "y = x", f"x={name}", "-o", "y=back.npy")
    assert said.status == 0, said.err
    return np.load(scratch / "back.npy")


def remove(scratch, name):
    subprocess.run(["rm", "-rf", str(scratch / name.split(":")[0])], check=True)


def complain(said, got, want):
    if said.status != 0:
        return [said.err.strip()]
    return [] if got().tobytes() == want.tobytes() else ["other bits"]


# ---- The same bits ----------------------------------------------------------------------------------------------

def check_formats(scratch, tally, h):
    sources = ["in.npy", "in.h5:/raw", "in.h5:/packed", "in.zarr"]
    sinks = [("out.npy", []), ("out.h5:/lap", []), ("out.h5:/lap", ["--chunk", "50,64", "--codec", "shuffle deflate 1"]),
             ("out.zarr", ["--chunk", "96,900", "--codec", "zstd 1"])]
    memory = itertools.cycle(["--memory=5M", "--memory=8M", "--memory=100M"])
    edges = itertools.cycle(PADS)
    for source, (sink, options) in itertools.product(sources, sinks):
        edge = next(edges)
        args = [next(memory), *options]
        said = scratch.run("run", LAPLACE.format(edge=edge), f"h={source}", "-o", f"lap={sink}", *args)
        tally.check(f"{source} to {sink} {args}, {edge}", complain(said, lambda: read(scratch, sink), laplace(h, edge)))
        remove(scratch, sink)


def check_programs(scratch, tally, h):
    """Reductions, transposes, several results, small arrays in memory."""
    program = "m = max(h)\nt[i,j] = h[j,i]\nz[i,j] = h[i,j] - w[j]\nrows[i] = max[j] h[i,j]"
    w = np.arange(SHAPE[1], dtype="f4")
    np.save(scratch / "w.npy", w)
    sinks = ["-o", "m=m.npy", "-o", "t=t.h5:/t", "-o", "z=z.npy", "-o", "rows=r.npy"]
    said = scratch.run("run", program, "h=in.h5:/packed", "w=w.npy", *sinks, "--memory=8M", "--chunk=100,100")
    tally.check("--chunk of another rank", [] if said.status == 1 and "--chunk has 2 lengths" in said.err else [said.err])
    said = scratch.run("run", program, "h=in.h5:/packed", "w=w.npy", *sinks, "--memory=8M")
    wants = {"m.npy": h.max(), "t.h5:/t": h.T.copy(), "z.npy": h - w, "r.npy": h.max(axis=1)}
    for name, want in wants.items():
        tally.check(f"{name} of several", complain(said, lambda: read(scratch, name), np.asarray(want)))
    said = scratch.run("run", "m = max(h)", "h=in.h5:/packed", "--memory=8M")
    tally.check("printed", [] if said.out.strip() == str(h.max()) else [said.out + said.err])


def check_places(scratch, tally, h):
    """Of many cells that are the best the first, and of nan the first, whatever the tiles."""
    x = np.round(h * 50) / 50
    holes = x.copy()
    holes[(3, 200, 699), (7, 5, 899)] = np.nan
    with h5py.File(scratch / "places.h5", "w") as file:
        file.create_dataset("x", data=x, chunks=(64, 100))
        file.create_dataset("holes", data=holes, chunks=(700, 9))
    program = "a = argmin(x)\nb = argmax(x*2 - 1)\nc = argmin(x, axis=0)\nd = argmax(x, axis=1)"
    for name, cells in (("x", x), ("holes", holes)):
        two = np.float32(2)
        wants = [cells.argmin(), (cells * two - np.float32(1)).argmax(), cells.argmin(axis=0), cells.argmax(axis=1)]
        for memory in ("2M", "4M", "64M"):
            args = [f"x=places.h5:/{name}", f"--memory={memory}", "--threads=1"]
            said = scratch.run("run", program, *args, *(word for n in "abcd" for word in ("-o", f"{n}={n}.npy")))
            for letter, want in zip("abcd", wants):
                tally.check(f"{letter} of {name} within {memory}",
                            complain(said, lambda: read(scratch, f"{letter}.npy"), np.asarray(want)))


def check_columns(scratch, tally):
    """Maxima, and their places, of columns that are longer than memory."""
    x = np.random.default_rng(5).random((300_000, 11))
    x[1000], x[200_000, 3] = 2, np.nan
    np.save(scratch / "tall.npy", x)
    program = "a = max(x, 0)\nb = argmax(x, 0)\nc = argmin(x, 0)"
    sinks = ["-o", "a=a.npy", "-o", "b=b.npy", "-o", "c=c.npy"]
    said = scratch.run("run", program, "x=tall.npy", *sinks, "--memory=16M")
    for name, want in {"a": x.max(axis=0), "b": x.argmax(axis=0), "c": x.argmin(axis=0)}.items():
        tally.check(f"{name} down columns", complain(said, lambda: read(scratch, f"{name}.npy"), want))


def check_replaced(scratch, tally, h):
    (scratch / "old.npy").write_bytes(b"old")
    said = scratch.run("run", LAPLACE.format(edge="0"), "h=in.h5:/raw", "-o", "old.npy", "--memory=2M")
    tally.check("a .npy that was there is replaced", complain(said, lambda: read(scratch, "old.npy"), laplace(h, "0")))


def check_ignored(scratch, tally):
    """Options that can't do anything are refused."""
    rows = [
        (["--resume"], "--resume is for results that are written"),
        (["--chunk=5"], "--chunk is for results that are written"),
        (["--codec=zstd 3"], "--codec is for results that are written"),
        (["--attributes-from=x", "x=3"], "--attributes-from is for results that are written"),
        (["--checkpoint=5"], "--checkpoint goes with --resume"),
        (["--checkpoint=5", "-o", "no.h5:/y"], "--checkpoint goes with --resume"),
        (["--resume", "-o", "-"], "standard output"),
        (["--chunk=5", "-o", "no.npy"], "-o no.npy is written as .npy, which has no chunks"),
        (["--codec=zstd 3", "-o", "-"], "-o - is written as .npy, which has no codecs"),
        (["--attributes-from=x", "x=3", "-o", "no.npy"], "has no attributes"),
        (["--codec=zsdt 3", "-o", "no.h5:/y"], "there is no codec 'zsdt'; did you mean 'zstd'?  There are float16, deflate,"),
        (["--codec=marble", "-o", "no.zarr"], "there is no codec 'marble'; there are float16, deflate,"),
    ]
    for args, part in rows:
        said = scratch.run("run", "y[i:10] = i*1.0", *args)
        refused = said.status == 1 and part in said.err and said.err.count("\n") == 1 and not said.raw
        tally.check(f"run {' '.join(args)}", [] if refused else [said.err])
    tally.check("nothing is written", [name for name in scratch.names() if "no." in name])


def check_outside(scratch, tally):
    """Rows stand far apart in a file without blocks: a cell that is not of the tile is nowhere in memory."""
    np.lib.format.open_memmap(scratch / "holes.npy", "w+", "f8", (4001, 8003))
    said = scratch.run("run", "y[q] = sin(x[q // 2, q])", "x=holes.npy", "--memory", "3M")
    refused = said.status == 1 and "index 4001 is outside axis 0 of length 4001" in said.err
    tally.check("an index outside, far into an array", [] if refused else [f"status {said.status}", said.err])


def start(scratch, *args):
    quiet = subprocess.DEVNULL
    return subprocess.Popen([scratch.command, *args], cwd=scratch.folder, stdout=quiet, stderr=quiet)


# ---- Memory -----------------------------------------------------------------------------------------------------

def check_memory(scratch, tally, budget):
    shape = (8192, 10 * budget * 2**20 // 4 // 8192)
    with h5py.File(scratch / "large.h5", "w") as file:
        data = file.create_dataset("h", shape, "f4")
        for row in range(0, shape[0], 512):
            data[row : row + 512] = np.float32(row)
    args = ["run", LAPLACE.format(edge="0"), "h=large.h5:/h", "-o", "lap=lap.h5:/lap", f"--memory={budget}M"]
    status, peak, err = scratch.measure(*args)
    limit = (budget + 64) * 2**20
    wrong = [] if peak <= limit else [f"{peak / 2**20:.0f} MB resident"]
    tally.check(f"{budget} MB for {10 * budget} MB", wrong + ([err] if status else []))
    remove(scratch, "large.h5")
    remove(scratch, "lap.h5")


def check_chunks_on_their_way(scratch, tally):
    """Many threads with large chunks that do not shrink: what all of them decode and encode is counted, and where that
    is too much, few do it at a time."""
    cells = np.random.default_rng(3).random((6144, 4096), "f4")
    with h5py.File(scratch / "heavy.h5", "w") as file:
        file.create_dataset("x", data=cells.astype(">f4"), chunks=(1024, 1024), shuffle=True, compression="lzf")
    how = ["--chunk", "1024,1024", "--codec", "shuffle deflate 1"]
    runs = {
        "rows of chunks": ["run", "y=x*2", "x=heavy.h5:/x", "-o", "y=out.h5:/y", *how, "-q"],
        "chunks that are kept": ["run", "y[j:4096,i:6144]=x[i,j]", "x=heavy.h5:/x", "-o", "y=out.h5:/y", *how, "-q"],
        "neighbours": ["run", "edge x=wrap\ny[i,j]=x[i-1,j]+x[i,j+1]", "x=heavy.h5:/x", "-o", "y=out.h5:/y", *how, "-q"],
        "one number": ["run", "sum(x)", "x=heavy.h5:/x", "-q"],
        "rechunk": ["rechunk", "heavy.h5:/x", "out.h5:/y", "--chunk", "512,2048", "--codec", "shuffle deflate 1"],
        "label": ["label", "heavy.h5:/x", "out.h5:/y", "--above", "0.6", "-q"],
    }
    for budget, (what, args) in itertools.product((224, 400), runs.items()):
        status, peak, err = scratch.measure(*args, "--threads", "16", f"--memory={budget}M")
        wrong = [] if peak <= (budget + 64) * 2**20 else [f"{peak / 2**20:.0f} MB resident"]
        tally.check(f"16 threads, {budget} MB, {what}", wrong + ([err] if status else []))
        if (scratch / "out.h5").exists():
            remove(scratch, "out.h5")
    remove(scratch, "heavy.h5")


# ---- Results larger than the memory: written while others compute ---

def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 2**20, 64 * 2**20))


def check_behind(scratch, tally):
    """Aligned rows and rows that are not; a file that may not become so large is refused at once."""
    shape = (5900, 5901)
    i, j = np.ogrid[:shape[0], :shape[1]]
    want = (i - 2.0 * j).astype("f4")
    program = f"y[i:{shape[0]}, j:{shape[1]}] = f32(i - 2*j)"
    for sink in ("y.npy", "y.h5:/y"):
        said = scratch.run("run", program, "-o", f"y={sink}", "--memory=128M", "--explain")
        told = [] if "past the cache: y, 139.3 MB" in said.err else [said.err]
        tally.check(f"{sink} goes past the cache", told + complain(said, lambda: read(scratch, sink), want))
        remove(scratch, sink)
        said = scratch.run("run", program, "-o", f"y={sink}", "--memory=128M", before=limit_files)
        refused = said.status == 1 and said.err.count("\n") == 1 and "File too large" in said.err
        tally.check(f"{sink} does not fit", [] if refused else [said.err])
    tally.check("nothing is left of what did not fit", [name for name in scratch.names() if "y." in name])


def check_in_place(scratch, tally):
    """Tiles of files that hold cells as memory does are computed where both files are: nothing is copied."""
    h = field((5903, 5901), 3)
    np.save(scratch / "large.npy", h)
    with h5py.File(scratch / "large.h5", "w") as file:
        file["h"] = h
    for edge, source, sink in (("0", "large.npy", "lap.h5:/lap"), ("wrap", "large.h5:/h", "lap.npy")):
        program = LAPLACE.format(edge=edge)
        said = scratch.run("run", program, f"h={source}", "-o", f"lap={sink}", "--memory=128M", "--explain")
        told = [] if "past the cache: lap" in said.err else [said.err]
        tally.check(f"{source} to {sink}, edge {edge}", told + complain(said, lambda: read(scratch, sink), laplace(h, edge)))
        remove(scratch, sink)
        os.remove(scratch / source.split(":")[0])


def check_bands(scratch, tally):
    """Rows of chunks are decoded to where kernels read them; a ring of them ends within tiles, too."""
    h = field((2903, 1501), 4)
    h[100:200, 400:600] = 0  # chunks that are not stored
    np.save(scratch / "h.npy", h)
    for codec in ("none", "shuffle deflate 1", "deflate 1"):
        options = ["--chunk=100,200", "--codec", codec, "-q"]
        said = scratch.run("run", "h = x", "x=h.npy", "-o", "h=chunks.h5:/h", *options)
        tally.check(f"chunks of {codec}", complain(said, lambda: read(scratch, "chunks.h5:/h"), h))
        for edge in ("0", "wrap", "nearest"):
            program = LAPLACE.format(edge=edge)
            said = scratch.run("run", program, "h=chunks.h5:/h", "-o", "lap=lap.npy", "--explain")
            together = ", 3 chunks at once" if "deflate" in codec else ""
            told = [] if f"decoded in place: h{together}\n" in said.err else [said.err]
            tally.check(f"{codec}, edge {edge}", told + complain(said, lambda: read(scratch, "lap.npy"), laplace(h, edge)))
            remove(scratch, "lap.npy")
        if "deflate" in codec:
            check_bands_of_little_memory(scratch, tally, codec, h)
        remove(scratch, "chunks.h5:/h")


def check_bands_of_little_memory(scratch, tally, codec, h):
    """Memory for chunks on their way counts: three at once only where it is there, tiles only where one is."""
    def run(memory):
        return scratch.run("run", LAPLACE.format(edge="wrap"), "h=chunks.h5:/h", "-o", "lap=lap.npy", "--explain", "--threads=4",
                           f"--memory={memory}")

    said = run("5M")
    told = [] if "decoded in place: h\n" in said.err else [said.err]
    tally.check(f"{codec}, one at once", told + complain(said, lambda: read(scratch, "lap.npy"), laplace(h, "wrap")))
    remove(scratch, "lap.npy")
    said = run("1k")
    needed = re.search(r"4 threads need ([0-9.]+) MB of memory", said.err)
    tally.check(f"{codec}, too little", [] if said.status == 1 and needed else [said.err])
    if needed:
        said = run(round(float(needed[1]) * 1e6))
        tally.check(f"{codec}, just enough", complain(said, lambda: read(scratch, "lap.npy"), laplace(h, "wrap")))
        remove(scratch, "lap.npy")


# ---- Killed and resumed -----------------------------------------------------------------------------------------

def check_kills(scratch, tally, h, kills, seed):
    print(f"kills: {kills}, seed {seed}")
    chance = random.Random(seed)
    ways = [("lap.h5:/lap", ["--chunk=20,60", "--codec=shuffle deflate 9"]), ("lap.zarr", ["--chunk=30,90", "--codec=zstd 19"]),
            ("lap.npy", [])]
    want = laplace(h, "wrap")
    for number in range(kills):
        sink, options = ways[number % len(ways)]
        args = ["run", LAPLACE.format(edge="wrap"), "h=in.h5:/packed", "-o", f"lap={sink}", "--memory=1M", "--resume",
                "--checkpoint=0.002", *options]
        rounds, killed = 0, False
        while True:
            process = start(scratch, *args)
            delay = chance.uniform(0.0, 0.25) if rounds < 2 else 600
            try:
                process.wait(timeout=delay)
                killed = False
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed = True
                rounds += 1
                if os.path.exists(scratch / sink.split(":")[0]):
                    break
        got = complain(command_kit.Said(0, "", "", b""), lambda: read(scratch, sink), want)
        tally.check(f"killed {rounds} times, {sink}", got)
        if killed:  # just as the file appeared: the same command again tidies up
            said = scratch.run(*args)
            refused = said.status == 1 and "already" in said.err
            tally.check(f"{sink} is there", [] if refused or sink.endswith(".npy") else [said.err])
        tally.check(f"nothing is left beside {sink}", [name for name in scratch.names() if name.startswith(".")])
        remove(scratch, sink)


def check_left_behind(scratch, tally, h):
    """What processes left behind that were killed: drafts that nobody has locked, and folders of finished arrays."""
    want = laplace(h, "0")
    for sink, folder in (("left.h5:/lap", ".left.h5.lap.partial"), ("left.zarr", ".left.zarr.partial"),
                         ("left.npy", ".left.npy.partial")):
        args = ["run", LAPLACE.format(edge="0"), "h=in.h5:/packed", "-o", f"lap={sink}", "--memory=16M"]
        name = sink.split(":")[0]
        (scratch / f".{name}.00abcd.draft").write_bytes(b"stale")
        (scratch / f".{name}.11abcd.draft").mkdir()
        (scratch / f".{name}.11abcd.draft" / "c").write_bytes(b"stale")
        (scratch / f".{name}.draft").write_bytes(b"not ours")
        with open(scratch / f".{name}.22abcd.draft", "wb") as other:  # of a process that lives
            fcntl.flock(other, fcntl.LOCK_EX)
            said = scratch.run(*args, "--resume")
        tally.check(f"{sink} beside drafts", complain(said, lambda: read(scratch, sink), want))
        left = [n for n in scratch.names() if n.startswith(".")]
        tally.check(f"drafts of {sink}", [] if left == [f".{name}.22abcd.draft", f".{name}.draft"] else left)
        for path in left:
            remove(scratch, path)
        for more in ([], ["--resume"]):
            (scratch / folder).mkdir()
            (scratch / folder / "identity").write_bytes(b"whatever")
            (scratch / folder / "finished").write_bytes(b"")
            os.utime(scratch / folder / "finished", (1, 1))
            said = scratch.run(*args, *more)
            done = said.status == 0 if sink.endswith(".npy") else "already" in said.err
            tally.check(f"{sink} is there, {more}", [] if done else [said.err])
            tally.check(f"its folder is gone, {more}", [n for n in scratch.names() if n.startswith(".")])
        remove(scratch, sink)
        (scratch / folder).mkdir()
        (scratch / folder / "identity").write_bytes(b"whatever")
        (scratch / folder / "finished").write_bytes(b"")
        said = scratch.run(*args)  # its array has not appeared: it may be gone on with
        tally.check(f"a folder without {name} stays", [] if said.status == 0 and (scratch / folder).exists() else [said.err])
        remove(scratch, folder)
        remove(scratch, sink)


def check_identity(scratch, tally):
    """A changed program, or input, is noticed; the partial array of the first stays."""
    args = ["h=in.h5:/packed", "-o", "lap=other.zarr", "--memory=1M", "--resume", "--checkpoint=0.001", "--chunk=20,90",
            "--codec=zstd 19"]
    folder = scratch / ".other.zarr.partial"
    for _ in range(100):  # on a busy machine it may have finished before anyone looked
        process = start(scratch, "run", LAPLACE.format(edge="wrap"), *args, "--threads=1")
        while process.poll() is None and not (
            (folder / "journal").exists() and (folder / "journal").stat().st_size > 200
        ):
            time.sleep(0.001)
        process.kill()
        process.wait()
        if folder.exists():
            break
        remove(scratch, "other.zarr")
    tally.check("it was killed in time", [] if folder.exists() else ["not once of 100 times"])
    said = scratch.run("run", LAPLACE.format(edge="0"), *args)
    noticed = said.status == 1 and "another program" in said.err and said.err.count("\n") == 1
    tally.check("another program is noticed", [] if noticed else [said.err])
    os.utime(scratch / "in.h5")
    said = scratch.run("run", LAPLACE.format(edge="wrap"), *args)
    tally.check("another input is noticed", [] if said.status == 1 and "other inputs" in said.err else [said.err])
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def main():
    options = command_kit.options(__doc__, ("kills", 6), ("budget", 0))
    tally = Tally()
    with command_kit.Scratch(options.command) as scratch:
        h = field()
        write_inputs(scratch, h)
        check_formats(scratch, tally, h)
        check_programs(scratch, tally, h)
        check_places(scratch, tally, h)
        check_columns(scratch, tally)
        check_replaced(scratch, tally, h)
        check_ignored(scratch, tally)
        check_behind(scratch, tally)
        check_in_place(scratch, tally)
        check_outside(scratch, tally)
        check_bands(scratch, tally)
        if "san.so" not in os.environ.get("LD_PRELOAD", ""):  # sanitizers have memory of their own
            check_chunks_on_their_way(scratch, tally)
        check_kills(scratch, tally, h, options.kills, 1)
        check_left_behind(scratch, tally, h)
        check_identity(scratch, tally)
        if options.budget:
            check_memory(scratch, tally, options.budget)
    tally.finish()


main()
