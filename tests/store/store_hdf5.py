"""store_hdf5.py -- HDF5 and netCDF-4 as Arras sees and writes them, against h5py and netCDF4.

Files of one library are read by the other; damaged files end in one line.
"""

import argparse
import ctypes
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import h5py
import numpy as np
from store_kit import Tool, cut, differences, random_box
from tally import Tally

try:
    import netCDF4
except ImportError:
    netCDF4 = None

DTYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()
FILTERS = [
    {},
    dict(compression="gzip"),
    dict(compression="gzip", shuffle=True, fletcher32=True),
    dict(compression="lzf", shuffle=True),
    dict(fletcher32=True),
    dict(compression="szip"),
    dict(shuffle=True),
]
# Filters of plug-ins; those that are not installed are left out.
PLUGINS = {
    "blosc": (32001, (0, 0, 0, 0, 5, 1, 1)),
    "lz4": (32004, ()),
    "bitshuffle": (32008, ()),
    "bitshuffle lz4": (32008, (0, 2)),
}


def sample(dtype, shape, seed=1):
    """Cells of every kind of bits that compress a little."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.3
    whole = rng.integers(-100, 100, shape)
    if dtype[0] == "c":
        return (whole / 7 + 1j * whole).astype(dtype)
    return (whole / 7 if dtype[0] == "f" else whole).astype(dtype)


def same(got, want, what):
    """Nothing, or how cells differ; those of types that Arras has not are read as wider ones."""
    want = np.asarray(want)
    if not isinstance(got, str):
        want = want.astype(got.dtype)
    return [f"{what}: {complaint}" for complaint in differences(got, want)]


# ---- Reading -------------------------------------------------------------------------------------


def compare(tool, file, name, rng, boxes=2):
    """All of a dataset, and some boxes of it, against h5py."""
    with h5py.File(tool.folder / file) as f:
        want = f[name][()]
    wrong = same(tool.read(f"{file}:{name}", threads=int(rng.integers(1, 4))), want, name)
    for _ in range(boxes if np.ndim(want) else 0):
        box = random_box(rng, want.shape)
        wrong += same(tool.read(f"{file}:{name}", box), want[cut(box)], f"{name} {box}")
    return wrong


def check_types(tool, tally):
    """Every type in every byte order and layout."""
    rng = np.random.default_rng(1)
    with h5py.File(tool.folder / "types.h5", "w") as f:
        for dtype in DTYPES:
            for order in "<>":
                a = sample(dtype, (13, 9, 4)).astype(np.dtype(dtype).newbyteorder(order))
                name = f"{dtype}{'be' if order == '>' else 'le'}"
                f.create_dataset(name + "_plain", data=a)
                f.create_dataset(name + "_chunks", data=a, chunks=(5, 4, 3))
                f.create_dataset(name + "_gzip", data=a, chunks=(5, 4, 3), compression=1, shuffle=True)
        names = list(f)
    for name in names:
        tally.check(f"read {name}", compare(tool, "types.h5", name, rng, boxes=1))


def check_filters(tool, tally):
    rng = np.random.default_rng(2)
    names = []
    with h5py.File(tool.folder / "filters.h5", "w") as f:
        for i, filters in enumerate(FILTERS):
            for dtype in ("u1", "i2", "f4", ">f8"):
                name = f"{i}{dtype.strip('>')}"
                f.create_dataset(name, data=sample(dtype.strip(">"), (40, 30)).astype(dtype),
                                 chunks=(16, 16), **filters)  # fmt: skip
                names.append(name)
        for words, (number, values) in PLUGINS.items():
            if not h5py.h5z.filter_avail(number):
                print(f"skipped: HDF5 filter {number} (no plug-in)")
                continue
            f.create_dataset(words, data=sample("f4", (400, 300)), chunks=(100, 128),
                             compression=number, compression_opts=values)  # fmt: skip
            names.append(words)
    for name in names:
        tally.check(f"read filter {name}", compare(tool, "filters.h5", name, rng))
    says = tool.info("filters.h5:2f4")["codecs"]
    tally.check("filters in words", [says] if says != "shuffle, deflate 4, fletcher32" else [])


def make_odd(path):
    """Layouts, types and shapes that are not the usual ones."""
    a = sample("f4", (12, 10))
    with h5py.File(path, "w", userblock_size=512) as f:
        f.create_dataset("scalar", data=2.5)
        f.create_dataset("empty", shape=(0, 4), dtype="i4")
        f.create_dataset("half", data=a.astype("f2"), chunks=(5, 5))
        f.create_dataset("unwritten", shape=(3, 4), dtype="f8", fillvalue=-1.5)
        holes = f.create_dataset("holes", shape=(20, 20), dtype=">i2", chunks=(6, 6), fillvalue=-7,
                                 compression="gzip", maxshape=(None, 20))  # fmt: skip
        holes[8:9, 8:9] = 3
        f.create_dataset("offset", data=a.astype("i4"), chunks=(5, 5), scaleoffset=0)
        f.create_dataset("enum", data=[1, 0, 2], dtype=h5py.enum_dtype({"a": 0, "b": 1, "c": 2}))
        masked = f.create_dataset("masked", shape=(10,), dtype="i4", chunks=(5,), compression="gzip",
                                  shuffle=True)  # fmt: skip
        masked.id.write_direct_chunk((0,), np.arange(5, dtype="i4").tobytes(), filter_mask=3)
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((12, 10))
        made = h5py.h5d.create(f.id, b"compact", h5py.h5t.IEEE_F32LE, space, compact)
        made.write(space, space, np.ascontiguousarray(a))
        f.create_dataset("external", data=a, external=[(str(path) + ".raw", 0, a.nbytes)])
        virtual = h5py.VirtualLayout((12, 20), "f4")
        virtual[:, :10] = h5py.VirtualSource(str(path), "compact", (12, 10))
        f.create_virtual_dataset("virtual", virtual, fillvalue=9)
        bits = h5py.h5t.STD_I32LE.copy()
        bits.set_precision(12)
        made = h5py.h5d.create(f.id, b"bits", bits, h5py.h5s.create_simple((5,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(-2, 3, dtype="i4"))
        short = h5py.h5t.STD_I32BE.copy()
        short.set_precision(24)
        short.set_size(3)
        brain = h5py.h5t.IEEE_F32LE.copy()
        brain.set_fields(15, 7, 8, 0, 7)
        brain.set_size(2)
        brain.set_ebias(127)
        for name, kind in (("short", short), ("brain", brain)):
            for words in ("", "_gzip"):
                how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                how.set_chunk((5, 4))
                how.set_fill_value(np.array(3, "i4" if name == "short" else "f4"))
                if words:
                    how.set_shuffle()
                    how.set_deflate(1)
                made = h5py.h5d.create(f.id, (name + words).encode(), kind, h5py.h5s.create_simple((12, 10)), how)
                part = h5py.h5s.create_simple((12, 10))
                part.select_hyperslab((0, 0), (7, 10))
                made.write(h5py.h5s.create_simple((7, 10)), part, np.ascontiguousarray(a[:7].astype("i4" if name == "short" else "f4")))
        texts = np.zeros(40, [("v", h5py.string_dtype()), ("x", ">f4")])
        texts["v"], texts["x"] = "some", np.arange(40)
        f.create_dataset("texts", data=texts, chunks=(7,), compression=1)
        f["group/deep/x"] = a
        f["group/loop"] = f["group"]
        f["soft"] = h5py.SoftLink("/group/deep/x")


def check_odd(tool, tally):
    rng = np.random.default_rng(3)
    make_odd(tool.folder / "odd.h5")
    names = "scalar empty half unwritten holes offset enum masked compact external virtual bits".split()
    for name in names + ["group/deep/x", "soft"]:
        tally.check(f"read odd {name}", compare(tool, "odd.h5", name, rng))
    odd = ["short", "short_gzip", "brain", "brain_gzip"]  # NumPy has no such types
    names += [*odd, "texts", "texts.v", "texts.x"]
    for name in odd:
        want = np.zeros((12, 10), "i4" if "short" in name else "f4")
        with h5py.File(tool.folder / "odd.h5") as f:
            h5py.h5d.open(f.id, name.encode()).read(h5py.h5s.ALL, h5py.h5s.ALL, want)
        tally.check(f"read odd {name}", same(tool.read(f"odd.h5:{name}"), want, name))
    tally.check("a record with texts", same(tool.read("odd.h5:texts.x"), np.arange(40, dtype="f4"), "texts.x"))
    layouts = {n: tool.info(f"odd.h5:{n}")["layout"] for n in ("compact", "external", "virtual")}
    tally.check("layouts in words", [str(layouts)] if any(k != v for k, v in layouts.items()) else [])
    listed = [line.split("\t")[0] for line in tool.run("list", "odd.h5")[0].decode().splitlines()]
    want = sorted("/" + n for n in names) + ["/group/deep/x"]
    tally.check("list", [f"{listed}"] if sorted(listed) != sorted(want) else [])
    growable = tool.info("odd.h5:holes")["growable"]
    tally.check("unlimited dimensions", [growable] if growable != "1 0" else [])


def check_links(tool, tally):
    """Cells behind links to other files are those of the other files, wherever they lie in it."""
    rng = np.random.default_rng(7)
    a = sample("f8", (40, 30))
    other = tool.folder / "links" / "other.h5"
    other.parent.mkdir()
    make_odd(other)
    with h5py.File(other, "a") as f:
        f.create_dataset("group/chunks", data=a, chunks=(7, 9), maxshape=(None, 30))
        f.create_dataset("group/gzip", data=a, chunks=(7, 9), compression=1)
        f["record"] = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
        f["onwards"] = h5py.ExternalLink("third.h5", "/x")
    with h5py.File(other.with_name("third.h5"), "w") as f:
        f["x"] = a + 2
    names = "half holes offset masked compact external virtual bits group/deep/x group/chunks group/gzip soft onwards"
    with h5py.File(tool.folder / "links.h5", "w", userblock_size=4096) as f:
        for name in [*names.split(), "record"]:
            f[name.replace("/", "_")] = h5py.ExternalLink("links/other.h5", name)
        f["linked"] = h5py.ExternalLink("links/other.h5", "/group")
        f["all"] = h5py.ExternalLink("links/other.h5", "/")
        f["gone"] = h5py.ExternalLink("links/none.h5", "/x")
        f["pipe"] = h5py.ExternalLink("links/pipe.h5", "/x")
        f["mine"] = np.full((1000, 1000), 7.0)  # what would be read instead
        f["back"] = h5py.ExternalLink("links.h5", "/mine")
    places = [name.replace("/", "_") for name in names.split()] + ["linked/deep/x", "all/group/gzip", "back"]
    for place in places:
        tally.check(f"read linked {place}", compare(tool, "links.h5", place, rng))
    tally.check("a linked member", same(tool.read("links.h5:record.b"), np.array([2.5, 4.5]), "record.b"))

    os.mkfifo(other.with_name("pipe.h5"))
    for place, says in (("gone", "none.h5"), ("pipe", "pipe.h5")):
        said = tool.read(f"links.h5:{place}")
        tally.check(f"a link to nothing: {place}", [] if isinstance(said, str) and says in said else [str(said)])
    check_writes_through_links(tool, tally, other, a)


def check_writes_through_links(tool, tally, other, a):
    """More cells go to the file that has the others; nothing new is made in another file."""
    said = tool.run("append", "links.h5:linked/chunks", 0, 5, stdin=(a[:5] * 2).tobytes())[1]
    grown = np.concatenate([a, a[:5] * 2])
    wrong = [said] if said else same(tool.read("links.h5:linked/chunks"), grown, "grown")
    wrong += same(tool.read("links/other.h5:group/chunks"), grown, "grown, in its file")
    tally.check("append to what is linked", wrong)
    before = other.read_bytes()
    said = tool.write("links.h5:linked/new", a)
    tally.check("no new array behind a link", [] if "link to another file" in said else [said])
    tool.write("links.h5:here", a)
    said = tool.write("links.h5:gone/new", a)
    tally.check("nor behind a broken one", [] if "is no group" in said else [said])
    wrong = [] if before == other.read_bytes() else ["the linked file was changed"]
    with h5py.File(tool.folder / "links.h5") as f:
        wrong += same(f["here"][()], a, "here") + ([] if "new" not in f["linked"] else ["new"])
    tally.check("what is linked stays", wrong)


def check_partial(tool, tally):
    """Chunks that end beyond the array are stored as they are, and their masks do not show it."""
    dont_filter_partial_chunks = 2
    try:
        library = ctypes.CDLL("libhdf5_serial.so.103")
    except OSError:
        print("skipped: partial chunks (needs libhdf5_serial.so.103)")
        return
    a = sample("i4", (13, 11))
    with h5py.File(tool.folder / "partial.h5", "w", libver="latest") as f:
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_chunk((5, 4))
        how.set_shuffle()
        how.set_deflate(3)
        library.H5Pset_chunk_opts(ctypes.c_int64(how.id), dont_filter_partial_chunks)
        for name, order in ((b"little", h5py.h5t.STD_I32LE), (b"big", h5py.h5t.STD_I32BE)):
            made = h5py.h5d.create(f.id, name, order, h5py.h5s.create_simple(a.shape), how)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, a)
        stored = f["little"].id.get_storage_size()
        f.create_dataset("all", data=a, chunks=(5, 4), compression=3, shuffle=True)
        wrong = [] if stored > f["all"].id.get_storage_size() else ["all chunks are filtered"]
    for name in ("little", "big"):
        wrong += compare(tool, "partial.h5", name, np.random.default_rng(4))
    tally.check("partial chunks", wrong)


def check_refusals(tool, tally):
    with h5py.File(tool.folder / "no.h5", "w") as f:
        f["text"] = ["a", "b"]
        f["table"] = np.zeros(3, [("x", "f4"), ("name", "S3")])
        f["long"] = np.zeros(3, np.longdouble)
        f["nothing"] = h5py.Empty("f4")
        f["many"] = np.zeros((2, 2))
        f["group/x"] = np.zeros(3)
        f.create_dataset("strange", shape=(4,), dtype="f4", chunks=(4,))
    with h5py.File(tool.folder / "none.h5", "w"):
        pass
    (tool.folder / "cut.h5").write_bytes((tool.folder / "types.h5").read_bytes()[:3000])
    (tool.folder / "wrong.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 10)
    cases = [
        ("no.h5:text", "text of any length"),
        ("no.h5:table", "compound (x, name)"),
        ("no.h5:long", "f80"),
        ("no.h5:nothing", "nothing"),
        ("no.h5:group", "is a group"),
        ("no.h5:mony", "is it /many?"),
        ("no.h5:text/x", "has no array"),
        ("no.h5", "holds 7 arrays: /group/x f64[3], "),
        ("none.h5", "holds no arrays"),
        ("cut.h5:f4le_plain", "truncated file"),
        ("wrong.h5", "not readable as HDF5"),
        ("absent.h5", "No such file"),
        ("absent.h5:x", "No such file"),
    ]
    for place, says in cases:
        said = tool.run("read", place)[1]
        tally.check(f"refuse {place}", [] if says in said else [repr(said)])


def check_unknown_filter(tool, tally):
    """A filter that nobody has: named by its number."""
    with h5py.File(tool.folder / "filter.h5", "w") as f:
        f.create_dataset("x", data=np.zeros(100), chunks=(10,), compression="gzip")
    path = tool.folder / "filter.h5"
    found = path.read_bytes()
    # The message of the pipeline: version 1, one filter, ..., number 1, name "deflate".
    at = found.index(b"deflate\0") - 8
    path.write_bytes(found[:at] + (31999).to_bytes(2, "little") + found[at + 2 :])
    line = tool.read("filter.h5:x")
    good = isinstance(line, str) and "filter 31999" in line
    tally.check("an unknown filter has its number", [] if good else [str(line)])


# ---- Writing -------------------------------------------------------------------------------------


def check_written(tool, tally):
    for dtype in DTYPES:
        a = sample(dtype, (23, 17))
        for chunk, codecs in [(None, "none"), ((8, 8), "none"), ((8, 8), "shuffle deflate 4"), (None, "lzf")]:
            said = tool.write("written.h5:/g/x", a, chunk, codecs, threads=2)
            with h5py.File(tool.folder / "written.h5") as f:
                got = f["g/x"][()]
                wrong = same(got, a, said or "h5py")
                wrong += [] if got.dtype == a.dtype else [f"{got.dtype}"]
            wrong += same(tool.read("written.h5:g/x"), a, "arras")
            tally.check(f"write {dtype} {chunk} {codecs}", wrong)
            os.remove(tool.folder / "written.h5")


def check_codecs(tool, tally):
    """All codecs in one file; those that h5py has no plug-in for are read by Arras alone."""
    a = sample("f4", (60, 50))
    read_by_h5py = {"deflate 9": 1, "deflate 12": 1, "gzip": 1, "fletcher32": 1, "szip": 1, "lzf": 1,
                    "shuffle lzf": 1, "blosc": 32001, "lz4": 32004, "bitshuffle lz4": 32008,
                    "bitshuffle": 32008}  # fmt: skip
    for codecs in [*read_by_h5py, "zstd", "shuffle zstd 7", "zstd -1", "bitshuffle zstd"]:
        name = f"codecs.h5:/{codecs.replace(' ', '_')}"
        said = tool.write(name, a, (16, 20), codecs, threads=2)
        wrong = [said] if said else same(tool.read(name, threads=2), a, "arras")
        with h5py.File(tool.folder / "codecs.h5") as f:
            if not wrong and h5py.h5z.filter_avail(read_by_h5py.get(codecs, 99)):
                wrong = same(f[codecs.replace(" ", "_")][()], a, "h5py")
        tally.check(f"write {codecs}", wrong)
    said = tool.write("codecs.h5:/no", a, (16, 20), "crc32c")
    tally.check("codecs that HDF5 has not", [] if "HDF5 has no codec crc32c" in said else [said])


def check_shapes_written(tool, tally):
    cases = [((), None, "none"), ((), None, "deflate"), ((0, 3), None, "none"), ((0, 3), (2, 2), "lzf"),
             ((5,), (100,), "none"), ((3, 4), (1, 1), "deflate"), ((1,) * 20, None, "none")]  # fmt: skip
    for shape, chunk, codecs in cases:
        a = sample("i4", shape)
        said = tool.write("shapes.h5", a, chunk, codecs)
        wrong = [said] if said else same(tool.read("shapes.h5"), a, "arras")
        if not said:
            with h5py.File(tool.folder / "shapes.h5") as f:
                wrong += same(np.asarray(f["data"][()]), a, "h5py")
            os.remove(tool.folder / "shapes.h5")
        tally.check(f"write shape {shape}", wrong)


def check_sparse(tool, tally):
    """What is not written, or is the fill value, is not stored and reads as that."""
    part = np.zeros((8, 8), "f4")
    part[3, 3] = 5
    for chunk, more in [("8,8", ["grow=0"]), ("-", [])]:
        said = tool.run("write", "sparse.h5:x", "f32", "32,32", chunk, "none", "fill=2.5", "only=8:16,0:8",
                        *more, stdin=part.tobytes())[1]  # fmt: skip
        want = np.full((32, 32), 2.5, "f4")
        want[8:16, :8] = part
        wrong = [said] if said else same(tool.read("sparse.h5:x"), want, "arras")
        with h5py.File(tool.folder / "sparse.h5") as f:
            wrong += same(f["x"][()], want, "h5py")
            if more:
                wrong += [] if f["x"].maxshape == (None, 32) else [str(f["x"].maxshape)]
                wrong += [] if f["x"].id.get_storage_size() == 256 else ["chunks of fill are stored"]
        tally.check(f"sparse {chunk}", wrong)
        os.remove(tool.folder / "sparse.h5")


def leftovers(tool):
    return [p.name for p in tool.folder.iterdir() if p.name.startswith(".")]


def check_existing(tool, tally):
    """Datasets are added to files that are there; what is there stays."""
    a, b = sample("f8", (30, 20)), sample("i2", (7,))
    path = tool.folder / "old.h5"
    with h5py.File(path, "w") as f:
        f["a"] = a
        f["a"].attrs["note"] = "kept"
    os.chmod(path, 0o640)
    before = path.read_bytes()
    said = [tool.write("old.h5:a", b), tool.write("old.h5:a/b", b)]
    wrong = [] if "has /a already" in said[0] and "is no group" in said[1] else said
    wrong += [] if path.read_bytes() == before else ["a refusal changed the file"]
    tally.check("names that are taken", wrong)

    tool.write("old.h5:g/b", b, (3,), "deflate", "leave=1")
    wrong = [] if path.read_bytes() == before else ["an abandoned array changed the file"]
    tally.check("abandoned", wrong + leftovers(tool))

    said = tool.write("old.h5:g/b", b, (3,), "deflate")
    with h5py.File(path) as f:
        wrong = same(f["a"][()], a, "old") + same(f["g/b"][()], b, "new") + [said] * bool(said)
        wrong += [] if f["a"].attrs["note"] == "kept" else ["attribute"]
    wrong += [] if path.stat().st_mode & 0o777 == 0o640 else ["mode"]
    tally.check("added", wrong + leftovers(tool))

    (tool.folder / "text.h5").write_text("not HDF5")
    said = tool.write("text.h5:x", b)
    tally.check("no HDF5 file", [] if "file signature not found" in said else [said])
    tally.check("bad names", [n for n in ("x/", "a//b", "./a") if not tool.write(f"bad.h5:{n}", b)])
    said = tool.write("none/x.h5", b)
    tally.check("no such directory", [] if "No such file" in said else [said])


def check_killed(tool, tally):
    """A run that is killed leaves the old file as it was."""
    path = tool.folder / "killed.h5"
    tool.write("killed.h5:a", sample("f8", (30, 20)))
    before = path.read_bytes()
    args = [tool.program, "write", "killed.h5:b", "f64", "4000,1000", "100,100", "none"]
    wrong = []
    for i in range(10):
        p = subprocess.Popen(args, cwd=tool.folder, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        p.stdin.write(b"\1" * (3000 * i * 1000))
        time.sleep(0.002 * i)
        p.send_signal(signal.SIGKILL)
        p.wait()
        wrong += [] if path.read_bytes() == before else [f"changed in run {i}"]
    tally.check("killed", wrong)


# ---- Attributes and dimensions -------------------------------------------------------------------


def check_attributes(tool, tally):
    with h5py.File(tool.folder / "attrs.h5", "w") as f:
        x = f.create_dataset("x", data=sample("i2", (4, 5)))
        x.attrs["units"] = "m s-1"
        x.attrs["fixed"] = np.bytes_("two\nlines")
        x.attrs["scale_factor"] = np.float32(0.1)
        x.attrs["add_offset"] = 273.15
        x.attrs["_FillValue"] = np.int16(-999)
        x.attrs["flags"] = np.arange(3, dtype="u1")
        x.attrs["names"] = np.array(["a", "b"], dtype=h5py.string_dtype())
        x.attrs["big"] = np.arange(2000.0)
        x.attrs["none"] = h5py.Empty("f4")
        x.attrs["where"] = x.ref
        x.dims[0].label = "lat"
    info = tool.info("attrs.h5")
    want = {"units": "m s-1", "fixed": "two lines", "scale_factor": "0.1", "add_offset": "273.15",
            "_FillValue": "-999", "flags": "0, 1, 2", "names": "a, b", "axes": "'lat' ''"}  # fmt: skip
    wrong = [f"{k}: {info.get(k)!r}" for k, v in want.items() if info.get(k) != v]
    wrong += [] if info["big"].endswith("(2000 values)") else [info["big"]]
    tally.check("attributes", wrong)

    for dtype, kept in (("i2", True), ("f4", False)):
        tool.write("like.h5:y", sample(dtype, (4, 5)), None, "none", "like=attrs.h5")
        with h5py.File(tool.folder / "like.h5") as f:
            attrs = f["y"].attrs
            wrong = [] if attrs["units"] == "m s-1" and list(attrs["names"]) == ["a", "b"] else ["values"]
            wrong += [] if ("scale_factor" in attrs) == kept else ["scale of another type"]
            wrong += ["a reference"] if "where" in attrs else []
            wrong += [] if f["y"].dims[0][0].name == "/lat" else ["axis"]
        tally.check(f"attributes copied to {dtype}", wrong)
        os.remove(tool.folder / "like.h5")


def make_netcdf(path):
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("lat", 6)
        f.createDimension("side", 4)
        lat = f.createVariable("lat", "f8", ("lat",))
        lat[:] = np.linspace(-60, 60, 6)
        lat.units = "degrees_north"
        ssh = f.createVariable("ssh", "f4", ("time", "lat", "side"), zlib=True, fill_value=-1e30)
        ssh.set_auto_maskandscale(False)
        ssh[:] = sample("f4", (3, 6, 4))
        ssh.units = "m"


def check_netcdf(tool, tally):
    """Names of dimensions and coordinates go from file to file."""
    if not netCDF4:
        print("skipped: netCDF-4 (needs netCDF4)")
        return
    make_netcdf(tool.folder / "sea.nc")
    info = tool.info("sea.nc")
    want = {"format": "netCDF-4", "axes": "'time' 'lat' 'side'", "growable": "1 0 0", "units": "m"}
    tally.check("netCDF", [f"{k}: {info.get(k)}" for k, v in want.items() if info.get(k) != v])
    a = sample("f4", (3, 6, 4))
    tally.check("netCDF cells", same(tool.read("sea.nc:ssh"), a, "ssh"))
    tally.check("netCDF axis of a coordinate", [] if tool.info("sea.nc:lat")["axes"] == "'lat'" else ["lat"])

    said = tool.write("out.nc:anomaly", a * 2, (1, 6, 4), "shuffle deflate", "like=sea.nc:ssh", "grow=0")
    wrong = [said] if said else []
    with netCDF4.Dataset(tool.folder / "out.nc") as f:
        f.set_auto_maskandscale(False)
        v = f["anomaly"]
        wrong += [] if v.dimensions == ("time", "lat", "side") else [str(v.dimensions)]
        wrong += [] if v.units == "m" else ["units"]
        wrong += same(v[:], a * 2, "netCDF4")
        wrong += same(f["lat"][:], np.linspace(-60, 60, 6), "lat")
    tally.check("netCDF written", wrong)
    said = tool.write("out.nc:more", a, None, "none", "like=sea.nc:ssh")
    with netCDF4.Dataset(tool.folder / "out.nc") as f:
        wrong = [] if f["more"].dimensions == ("time", "lat", "side") and not said else [str(said)]
    tally.check("netCDF variable added", wrong)


# ---- Damage --------------------------------------------------------------------------------------


def check_damage(tool, tally, variants):
    """Some bytes of a small file are others: a result or one line, never a signal, never forever.

    What libhdf5 says at the end when it can't close what it opened is its own.
    """
    rng = random.Random(5)
    with h5py.File(tool.folder / "small.h5", "w") as f:
        f.create_dataset("x", data=sample("f4", (12, 10)), chunks=(5, 5), compression="gzip", shuffle=True)
        f.create_dataset("g/y", data=sample("i2", (30,)))
        f["x"].attrs["units"] = "metres"
        f["x"].attrs["names"] = np.array(["a", "b"], dtype=h5py.string_dtype())
        f["x"].attrs["numbers"] = np.arange(4.0)
        f["g/y"].dims[0].label = "n"
        f["s"] = np.arange(12.0)
        f["s"].make_scale("s")
        f["x"].dims[0].attach_scale(f["s"])
    whole = (tool.folder / "small.h5").read_bytes()
    wrong = []
    for i in range(variants):
        bytes_ = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 8])):
            bytes_[rng.randrange(len(bytes_))] = rng.choice([0, 255, 127, 1, rng.randrange(256)])
        if i % 10 == 0:
            del bytes_[rng.randrange(len(bytes_)) :]
        (tool.folder / "damaged.h5").write_bytes(bytes_)
        for args in (["info", "damaged.h5:x"], ["read", "damaged.h5:x", "0:12,0:10"],
                     ["read", "damaged.h5:g/y", "0:30"], ["list", "damaged.h5"]):  # fmt: skip
            try:
                tool.run(*args)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                if "infinite loop closing library" not in str(error):
                    wrong.append(f"variant {i}: {error}")
    tally.check(f"{variants} damaged files", wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--variants", type=int, default=150)
    args = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(args.tool, folder)
        for check in (check_types, check_filters, check_odd, check_links, check_partial, check_refusals,
                      check_unknown_filter, check_written, check_codecs, check_shapes_written,
                      check_sparse, check_existing, check_killed, check_attributes, check_netcdf):  # fmt: skip
            check(tool, tally)
        check_damage(tool, tally, args.variants)
    tally.finish()


main()
