"""command_parts.py --command ARRAS -- what is read of arrays in files: what is shown, and no more.

Arrays here are far larger than any disk, or their other chunks are damaged: whoever reads more fails."""

import json
import random
import resource
import sys

sys.dont_write_bytecode = True
import command_kit
import h5py
import netCDF4
import numpy as np
from tally import Tally

HUGE = 1 << 40  # cells of a file of which nearly all is missing
SHAPE = (18, 20, 22)
CHUNK = (5, 4, 11)


def wrong(what, got, wanted):
    return [] if got == wanted else [f"{what}: {got!r}, wanted {wanted!r}"]


# ---- Slices -------------------------------------------------------------------------------------


def random_range(draw, length):
    step = draw.choice(["", "", "1", "2", "-1", "-3", "7", str(length + 5)])
    ends = [str(draw.randrange(-length - 3, length + 4)) if draw.random() < 0.5 else "" for _ in range(2)]
    return f"{ends[0]}:{ends[1]}" + (f":{step}" if step else "")


def parse(item):
    return slice(*[int(part) if part else None for part in item.split(":")]) if ":" in item else int(item)


def random_slice(draw, shape):
    """Text of --slice that leaves one axis or two, and what NumPy calls it."""
    while True:
        kept = draw.sample(range(len(shape)), draw.choice([1, 2]))
        items = [random_range(draw, n) if d in kept else str(draw.randrange(-n, n)) for d, n in enumerate(shape)]
        index = tuple(map(parse, items))
        if np.empty(shape)[index].size:
            return ",".join(items), index


def is_shown(shape, index):
    mask = np.zeros(shape, bool)
    mask[index] = True
    return mask


def damage(scratch, name, shape, chunk, index):
    """Writes garbage into all chunks of a Zarr array of which no cell is shown; how many."""
    mask, damaged = is_shown(shape, index), 0
    for place in np.ndindex(*[-(-n // c) for n, c in zip(shape, chunk)]):
        box = tuple(slice(k * c, (k + 1) * c) for k, c in zip(place, chunk))
        if not mask[box].any():
            (scratch / name / ".".join(map(str, place))).write_bytes(b"damaged")
            damaged += 1
    return damaged


def make_zarr(scratch, name, cells, chunk):
    (scratch / name).mkdir()
    meta = {
        "zarr_format": 2, "shape": cells.shape, "chunks": chunk, "dtype": cells.dtype.str, "compressor": None,
        "fill_value": 0, "order": "C", "filters": None,
    }
    (scratch / name / ".zarray").write_text(json.dumps(meta))
    for place in np.ndindex(*[-(-n // c) for n, c in zip(cells.shape, chunk)]):
        box = tuple(slice(k * c, (k + 1) * c) for k, c in zip(place, chunk))
        whole = np.zeros(chunk, cells.dtype)
        part = cells[box]
        whole[tuple(map(slice, part.shape))] = part
        (scratch / name / ".".join(map(str, place))).write_bytes(whole.tobytes())


def make_all(scratch, cells):
    """The array in every format; their sources."""
    np.save(scratch / "c.npy", cells)
    np.save(scratch / "f.npy", np.asfortranarray(cells))
    np.save(scratch / "s.npy", cells.astype(">f4"))
    np.save(scratch / "sf.npy", np.asfortranarray(cells.astype(">f4")))
    np.save(scratch / "b.npy", cells > 0)
    (scratch / "c.npy").rename(scratch / "odd")  # no ending, too
    np.save(scratch / "c.npy", cells)
    with h5py.File(scratch / "x.h5", "w") as file:
        file.create_dataset("plain", data=cells)
        file.create_dataset("chunked", data=cells, chunks=CHUNK, compression="gzip")
    for kind in ("NETCDF4", "NETCDF3_CLASSIC"):
        with netCDF4.Dataset(scratch / f"{kind}.nc", "w", format=kind) as file:
            for d, n in enumerate(cells.shape):
                file.createDimension("tyx"[d], None if d == 0 else n)
            file.createVariable("v", "f4", ("t", "y", "x"))[:] = cells
    names = ["c.npy", "f.npy", "s.npy", "sf.npy", "odd", "x.h5:/plain", "x.h5:/chunked", "NETCDF4.nc:v"]
    return names + ["NETCDF3_CLASSIC.nc:v"]


def show(scratch, source, part, *more):
    return scratch.run("show", source, "--slice", part, "--png", "-", "--bare", "--range", "-3,3", *more)


def check_slices(scratch, seed, count):
    """Each slice of each format is the picture of that part by itself."""
    draw = random.Random(seed)
    cells = np.random.default_rng(seed).standard_normal(SHAPE).astype("f4")
    sources = make_all(scratch, cells)
    faults = []
    for _ in range(count):
        part, index = random_slice(draw, SHAPE)
        np.save(scratch / "part.npy", np.ascontiguousarray(cells[index]))
        wanted = scratch.run("show", "part.npy", "--png", "-", "--bare", "--range", "-3,3").raw
        for source in sources:
            said = show(scratch, source, part)
            if said.raw != wanted:
                faults.append(f"{source} --slice {part}: another picture {said.err}")
    return faults


def check_chunks(scratch, seed, count):
    """Chunks of which no cell is shown may be damaged."""
    draw = random.Random(seed)
    cells = np.random.default_rng(seed).standard_normal(SHAPE).astype("f4")
    faults, damaged = [], 0
    for n in range(count):
        part, index = random_slice(draw, SHAPE)
        make_zarr(scratch, f"{n}.zarr", cells, CHUNK)
        damaged += damage(scratch, f"{n}.zarr", SHAPE, CHUNK, index)
        said = show(scratch, f"{n}.zarr", part)
        faults += wrong(f"--slice {part}", (said.status, said.err), (0, ""))
    return faults + wrong("some were damaged", damaged > count, True)


# ---- Arrays that nobody can read ----------------------------------------------------------------


def make_huge(scratch):
    """Terabytes of zeros, with numbers at both ends; by each format."""
    shape = (HUGE // (1 << 20), 1 << 10, 1 << 10)
    for name, order, dtype in [("c.npy", False, "<f8"), ("s.npy", False, ">f8"), ("b.npy", False, "|b1"),
                               ("e.npy", False, "<f2"), ("f.npy", True, "<f8")]:
        with open(scratch / name, "wb") as file:
            head = {"descr": dtype, "fortran_order": order, "shape": shape}
            np.lib.format.write_array_header_2_0(file, head)
            file.truncate(file.tell() + HUGE * np.dtype(dtype).itemsize)
    (scratch / "z.zarr").mkdir()
    meta = {
        "zarr_format": 2, "shape": shape, "chunks": [1, 256, 256], "dtype": "<f8", "compressor": None,
        "fill_value": 1, "order": "C", "filters": None,
    }
    (scratch / "z.zarr/.zarray").write_text(json.dumps(meta))
    with h5py.File(scratch / "h.h5", "w") as file:
        file.create_dataset("x", shape, "f8", chunks=(1, 256, 256))
    return ["z.zarr", "h.h5:/x", "c.npy", "s.npy", "b.npy", "e.npy", "f.npy"]


def little_memory():
    """Address space for the library's threads, and what is mapped; not for cells."""
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))


def check_huge(scratch):
    faults = []
    before = None if command_kit.is_sanitized(scratch.command) else little_memory
    try:
        sources = make_huge(scratch)
    except OSError:  # a file system that has no such files
        return []
    for source in sources:
        near = [":9000,5,:50"] if source == "f.npy" else ["5,:,:", "-1,::-2,::3", ":10,-3"]
        for part in [*near, "::131072,7,9", "7,8"]:
            said = scratch.run("show", source, "--slice", part, "--png", "a.png", before=before)
            faults += wrong(f"show {source} --slice {part}", (said.status, said.err), (0, ""))
        said = scratch.run("run", "y = x[5, 3:5, 7]*2", f"x={source}", before=before)
        faults += wrong(f"run with {source}", (said.status, said.err, said.out.count("\n")), (0, "", 1))
        lines = f":load x={source}\n:names\nx\ny = x[5, 3:5, 7] + 1\nx[5, :9, 3]\n:show x[3, 2:4, :7]\n:type x + 1\n:show x --slice 30:90,2:4,5\n"
        said = scratch.run("repl", stdin=lines.encode(), before=before)
        faults += wrong(f"repl with {source}", (said.status, said.err), (0, ""))
        faults += wrong(f"what {source} is", said.out.count("1048576, 1024, 1024]"), 5)
    return faults


# ---- Saving, computing ----------------------------------------------------------------------------


def check_saving(scratch):
    """What stays in its file is copied from there; what is mapped in another order is put in order."""
    cells = np.random.default_rng(3).standard_normal((300, 100, 90))  # more than 16 MB
    with h5py.File(scratch / "x.h5", "w") as file:
        file.create_dataset("x", data=cells, chunks=(20, 100, 90), compression="lzf")
    np.save(scratch / "f.npy", np.asfortranarray(cells))
    np.save(scratch / "s.npy", cells.astype(">f8"))
    faults = []
    for source in ["x.h5:/x", "f.npy", "s.npy"]:
        for sink in ["out.npy", "out.h5:/y", "out.zarr"]:
            said = scratch.run("repl", f"x={source}", stdin=f":save x={sink}\nsum(x)\n:save x=-\n".encode())
            faults += wrong(f"{source} to {sink}", (said.status, said.err), (0, ""))
            back = scratch.run("run", "y = x", f"x={sink}", "-o", "y=back.npy")
            faults += wrong("reading it", back.err, "")
            faults += wrong(f"{source} to {sink} and back", bool((np.load(scratch / "back.npy") == cells).all()), True)
            scratch.run("run", "1", "-o", "back.npy")
            for name in ["out.npy", "out.h5"]:
                (scratch / name).unlink(missing_ok=True)
        faults += wrong("the last sink", (scratch / "out.zarr").is_dir(), True)
        (scratch / "out.zarr").rename(scratch / f"{source[0]}.done")
    return faults


def check_results(scratch):
    """Lines of the REPL, and programs, with arrays in files give what those in memory give."""
    cells = np.random.default_rng(4).standard_normal((300, 100, 90))
    with h5py.File(scratch / "x.h5", "w") as file:
        file["x"] = cells
    np.save(scratch / "f.npy", np.asfortranarray(cells))
    np.save(scratch / "s.npy", cells.astype(">f8"))
    np.save(scratch / "m.npy", cells)
    lines = (
        "x[7, :5, 3]\nmean(x)\nm = max(x, 0)\nq[i, j] = x[i, j, 89] + m[j, 0]\nlet t = 2*x\nt[3, 4, 5]\nlet t = t + 1\n"
        "t[3, 4, 5]\nx = x[:2, :2, :3] + 1\nx\n"
    )
    sources = ["m.npy", "x.h5:/x", "f.npy", "s.npy"]
    program = "m = mean(x)\nq[i, j] = x[i, j, 89] + sum[k] x[i, k, 3]\ns = x[::-7, 5]"
    outs = [scratch.run("repl", f"x={s}", stdin=lines.encode()) for s in sources]
    runs = [scratch.run("run", program, f"x={s}") for s in sources]
    return [
        fault
        for all in [outs, runs]
        for said in all
        for fault in wrong("status", (said.status, said.err), (0, "")) + wrong("results", said.out, all[0].out)
    ]


def check_folder(scratch):
    """A folder of arrays that are not parts of one is listed, whatever is in it."""
    (scratch / "all").mkdir()
    np.save(scratch / "all/a.npy", np.zeros((3, 4)))
    np.save(scratch / "all/b.npy", np.arange(5))
    (scratch / "all/bad.npy").write_bytes(b"junk")
    (scratch / "all/note.txt").write_text("no array")
    said = scratch.run("info", "all")
    lines = said.out.split("\n")
    faults = wrong("status", (said.status, said.err), (0, ""))
    faults += wrong("what it holds", lines[:3], ["all holds", "    a.npy\tf64[3, 4]", "    b.npy\ti64[5]"])
    faults += wrong("what is damaged", ["bad.npy" in line for line in lines[3:]], [True, False])
    (scratch / "none").mkdir()
    said = scratch.run("info", "none")
    return faults + wrong("an empty folder", (said.status, said.err.count("\n")), (1, 1))


def main():
    chosen = command_kit.options(__doc__, ("seed", 1), ("slices", 8))
    tally = Tally()
    for name, check in [
        ("slices of every format", lambda s: check_slices(s, chosen.seed, chosen.slices)),
        ("only chunks that are shown", lambda s: check_chunks(s, chosen.seed, 2 * chosen.slices)),
        ("arrays of terabytes", check_huge),
        ("saving what stays in its file", check_saving),
        ("lines that use it", check_results),
        ("a folder of arrays", check_folder),
    ]:
        with command_kit.Scratch(chosen.command) as scratch:
            tally.check(name, check(scratch))
    tally.finish()


main()
