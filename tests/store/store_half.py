"""store_half.py --tool STORE_TOOL -- reals of 16 bits: read as f32 in every format, order of bytes and codec, and written
on request, against NumPy, h5py and zarr."""

import argparse
import json
import sys
import tempfile

sys.dont_write_bytecode = True
import h5py
import numpy as np
import zarr
from store_kit import Tool, cut, differences, random_box
from tally import Tally

ALL = np.arange(1 << 16, dtype="u2").view("f2")


def wide(halves):
    """The f32 that NumPy makes of it, in this machine's order; signals of a NaN stay."""
    return np.asarray(halves).astype("f4")


def same(got, halves):
    """But for bits of what is no number, which processors change."""
    want = wide(halves)
    if isinstance(got, str) or got.shape != want.shape or got.dtype != want.dtype:
        return differences(got, want)
    nan = np.isnan(want)
    wrong = [] if np.array_equal(np.isnan(got), nan) else ["other cells are NaN"]
    return wrong + differences(np.where(nan, 0, got), np.where(nan, 0, want))


def compare(tool, tally, place, want):
    tally.check(place, same(tool.read(place, threads=2), want))
    rng = np.random.default_rng(len(place))
    for _ in range(3 if want.ndim else 0):
        box = random_box(rng, want.shape)
        tally.check(f"{place} {box}", same(tool.read(place, box), want[cut(box)]))


def sample(shape=(23, 17)):
    rng = np.random.default_rng(1)
    return rng.permutation(ALL)[: np.prod(shape)].reshape(shape)


# ---- Reading -------------------------------------------------------------------------------------


def check_all_values(tool, tally):
    np.save(tool.folder / "all.npy", ALL)
    np.save(tool.folder / "all_big.npy", ALL.astype(">f2"))
    for name in ("all.npy", "all_big.npy"):
        got = tool.read(name)
        tally.check(f"every half in {name}", same(got, ALL))
        # Those that are no numbers, bit by bit: sign, 1s, and what was in the mantissa.
        bits = got.view("u4")
        kept = (bits >> 31 << 15) | 0x7C00 | (bits >> 13 & 0x3FF)
        nan = np.isnan(ALL)
        tally.check(f"bits of what is no number in {name}", [] if np.array_equal(kept[nan], ALL.view("u2")[nan]) else ["other bits"])


def check_npy_and_raw(tool, tally):
    a = sample()
    for order in "<>":
        np.save(tool.folder / f"c{order}.npy", a.astype(f"{order}f2"))
        np.save(tool.folder / f"f{order}.npy", np.asfortranarray(a.astype(f"{order}f2")))
        (tool.folder / "a.bin").write_bytes(b"head" + a.astype(f"{order}f2").tobytes())
        compare(tool, tally, f"c{order}.npy", a)
        compare(tool, tally, f"f{order}.npy", a)
        compare(tool, tally, f"a.bin:{order}f16[23,17]+4", a)
    np.save(tool.folder / "scalar.npy", np.float16(1.5))
    np.save(tool.folder / "empty.npy", np.zeros((0, 3), "f2"))
    compare(tool, tally, "scalar.npy", np.float16(1.5))
    compare(tool, tally, "empty.npy", np.zeros((0, 3), "f2"))


def check_hdf5(tool, tally):
    a = sample()
    ways = {
        "flat": {},
        "chunks": dict(chunks=(5, 4)),
        "gzip": dict(chunks=(5, 4), compression=1, shuffle=True, fletcher32=True),
        "lzf": dict(chunks=(5, 4), compression="lzf"),
        "shuffled": dict(chunks=(7, 17), compression="lzf", shuffle=True),
        "szip": dict(chunks=(8, 16), compression="szip"),
    }
    with h5py.File(tool.folder / "half.h5", "w") as f:
        for order in "<>":
            for name, how in ways.items():
                f.create_dataset(order + name, data=a.astype(f"{order}f2"), **how)
            holes = f.create_dataset(f"{order}holes", (23, 17), f"{order}f2", chunks=(5, 4), fillvalue=-0.1,
                                     compression="lzf")  # fmt: skip
            holes[10:12, 3:5] = a[10:12, 3:5]
            f.create_dataset(f"{order}none", (4, 3), f"{order}f2", fillvalue=2.5)
            record = np.zeros(40, [("n", "i1"), ("x", f"{order}f2"), ("y", "f8")])
            record["x"] = a.ravel()[:40]
            f[f"{order}records"] = record
            f.create_dataset(f"{order}lists", data=record, chunks=(7,), compression="lzf")
        names = list(f)
        cells = {name: f[name][()] for name in names}
    for name in names:
        records = cells[name].dtype.names
        compare(tool, tally, f"half.h5:{name}" + (".x" if records else ""), cells[name]["x"] if records else cells[name])


def check_complex(tool, tally):
    """Pairs of halves, which h5py has no type for."""
    parts = sample((23, 2))
    half = h5py.h5t.IEEE_F16LE
    for order, part in (("<", half), (">", h5py.h5t.IEEE_F16BE)):
        pair = h5py.h5t.create(h5py.h5t.COMPOUND, 4)
        pair.insert(b"r", 0, part)
        pair.insert(b"i", 2, part)
        with h5py.File(tool.folder / "pairs.h5", "a") as f:
            for name, chunk in (("flat", None), ("chunks", (5,))):
                how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                if chunk:
                    how.set_chunk(chunk)
                    how.set_shuffle()
                made = h5py.h5d.create(f.id, f"{order}{name}".encode(), pair, h5py.h5s.create_simple((23,)), how)
                made.write(h5py.h5s.ALL, h5py.h5s.ALL, parts.astype(f"{order}f2"), mtype=pair)
        for name in ("flat", "chunks"):
            got = tool.read(f"pairs.h5:{order}{name}")
            tally.check(f"complex {order}{name}", [got] if isinstance(got, str) else same(got.view("f4").reshape(-1, 2), parts))


def check_packed(tool, tally):
    with h5py.File(tool.folder / "packed.h5", "w") as f:
        f.create_dataset("x", data=np.array([1, 2, -999, 4], "f2"), chunks=(3,), compression="lzf")
        f["x"].attrs["_FillValue"] = np.float16(-999)
        f["x"].attrs["scale_factor"] = np.float32(0.5)
    got = tool.read("packed.h5:x", missing="nan")
    want = np.array([0.5, 1, np.nan, 2], "f4")
    good = not isinstance(got, str) and np.array_equal(got.astype("f4"), want, equal_nan=True)
    tally.check("packed halves", [] if good else [str(got)])


def check_zarr(tool, tally):
    a = sample()
    codecs = {"none": None, "zlib": zarr.Zlib(1), "blosc": zarr.Blosc("lz4", 5, 1), "lz4": zarr.LZ4()}
    for order in "<>":
        for layout in "CF":
            for name, codec in codecs.items():
                place = f"{order}{layout}{name}.zarr"
                array = zarr.open(str(tool.folder / place), "w", shape=a.shape, chunks=(5, 4), dtype=f"{order}f2",
                                  compressor=codec, order=layout, fill_value=0.1)  # fmt: skip
                array[:18] = a[:18]
                compare(tool, tally, place, array[...])
    for fill in ("0.1", '"NaN"', '"0x3c01"', '"-Infinity"'):
        folder = tool.folder / "v3.zarr"
        folder.mkdir(exist_ok=True)
        meta = {"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "float16",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 3]}},
                "chunk_key_encoding": {"name": "default"}, "fill_value": json.loads(fill), "attributes": {},
                "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
                           {"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip"}]}  # fmt: skip
        (folder / "zarr.json").write_text(json.dumps(meta))
        value = {'"NaN"': np.nan, '"0x3c01"': np.uint16(0x3C01).view("f2"), '"-Infinity"': -np.inf}.get(fill, 0.1)
        tally.check(f"fill {fill}", same(tool.read("v3.zarr"), np.full((4, 6), value, "f2")))


# ---- Writing -------------------------------------------------------------------------------------


def hard_cases():
    """f32 of any bits; and all that lie half way between two halves, and beside that."""
    rng = np.random.default_rng(2)
    middle = wide(ALL[np.isfinite(ALL)]).view("u4")
    return np.concatenate([
        np.frombuffer(rng.bytes(4 << 16), "u4"), middle, middle + 0x1000, middle + 0xFFF, middle + 0x1001,
        rng.integers(0x33000000, 0x38800000, 1 << 16, dtype="u4"),
        np.array([0x477FEFFF, 0x477FF000, 0x477FF001, 0x7F800001, 0xFF800001, 0x7FC00000, 0x33000000, 0x33000001], "u4"),
    ]).view("f4")  # fmt: skip


def check_rounding(tool, tally):
    values = hard_cases()
    with np.errstate(all="ignore"):
        want = values.astype("f2")
    said = tool.write("round.npy", values, None, "float16")
    got = np.load(tool.folder / "round.npy")
    nan = np.isnan(want)
    wrong = [said] if said else []
    wrong += [] if got.dtype == "f2" and np.array_equal(np.isnan(got), nan) else [f"{got.dtype}, other NaN"]
    differ = (got.view("u2") != want.view("u2")) & ~nan
    wrong += [f"{values[differ][:4]} became {got[differ][:4]}, not {want[differ][:4]}"] if differ.any() else []
    tally.check("rounded as NumPy does", wrong)


def check_written(tool, tally):
    a = sample()
    want = a.astype("f2")
    for codecs in ("float16", "float16 shuffle lzf", "float16 deflate 4", "float16 shuffle zstd 3", "float16 blosc lz4 5",
                   "float16 bitshuffle lz4", "float16 fletcher32", "float16 szip"):  # fmt: skip
        for chunk in (None, (7, 5)):
            name = f"out.h5:/{codecs.replace(' ', '_')}{chunk is None}"
            said = tool.write(name, wide(a), chunk, codecs, "fill=0.1", threads=2)
            tally.check(f"writes {name}", [said] if said else same(tool.read(name, threads=2), want))
    with h5py.File(tool.folder / "out.h5") as f:
        for name in ("float16True", "float16_shuffle_lzfFalse", "float16_deflate_4True", "float16_szipFalse"):
            wrong = [] if f[name].dtype == "<f2" and f[name].fillvalue == np.float16(0.1) else [str(f[name].dtype)]
            tally.check(f"h5py reads {name}", wrong + same(wide(f[name][()]), want))
    for version in ("v2", "v3"):
        for codecs in ("float16", "float16 zstd 3", "float16 blosc zstd 5", "float16 gzip 4"):
            name = f"{codecs.replace(' ', '_')}_{version}.zarr"
            said = tool.write(name, wide(a), (7, 5), codecs, "fill=0.1", f"version={version[1]}")
            wrong = [said] if said else same(tool.read(name), want)
            if version == "v2" and not said:
                array = zarr.open(str(tool.folder / name), "r")
                wrong += [] if array.dtype == "<f2" else [str(array.dtype)]
                wrong += same(wide(array[...]), want)
            tally.check(f"writes {name}", wrong)
    for place, cells, chunk, codecs, says in [
        ("no.h5:x", np.zeros((2, 2)), None, "float16", "not cells of 8 bytes"),
        ("no.h5:x", np.zeros((2, 2), "i4"), None, "float16", "float16 stores cells of f32, and these are i32"),
        ("no.npy", np.zeros((2, 2), "i4"), None, "float16", "float16 stores cells of f32, and these are i32"),
        ("no.zarr", np.zeros((2, 2), "u4"), None, "float16", "float16 stores cells of f32, and these are u32"),
        ("no.h5:x", np.zeros((2, 2), "f4"), None, "shuffle float16", "so it is first"),
        ("no.npy", np.zeros((2, 2), "f4"), None, "float16 zstd", "there is float16"),
    ]:  # fmt: skip
        said = tool.write(place, cells, chunk, codecs)
        tally.check(f"refuses {place} {codecs}", [] if says in said else [repr(said)])


def check_sparse(tool, tally):
    """Chunks that are not written are the fill value, which is a half as well."""
    part = wide(sample((8, 8)))
    want = np.full((16, 16), 0.1, "f2")
    want[8:, :8] = part
    for place, chunk in (("sparse.h5:x", "8,8"), ("sparse.h5:flat", "-"), ("sparse.zarr", "8,8"), ("sparse.npy", "-")):
        said = tool.run("write", place, "f32", "16,16", chunk, "float16", "fill=0.1", "only=8:16,0:8",
                        stdin=part.tobytes())[1]  # fmt: skip
        tally.check(f"writes a part of {place}", [said] if said else same(tool.read(place), want))


def check_appended(tool, tally):
    a = sample((24, 6))
    with h5py.File(tool.folder / "grow.h5", "w") as f:
        f.create_dataset("x", data=a[:10].astype(">f2"), chunks=(4, 6), maxshape=(None, 6), shuffle=True)
    zarr.open(str(tool.folder / "grow.zarr"), "w", shape=(10, 6), chunks=(4, 6), dtype="f2")[:] = a[:10]
    for place in ("grow.h5:x", "grow.zarr"):
        said = tool.run("append", place, 0, 14, stdin=wide(a[10:]).tobytes())[1]
        tally.check(f"appends to {place}", [said] if said else same(tool.read(place), a))
    with h5py.File(tool.folder / "grow.h5") as f:
        tally.check("it stays what it was", [] if f["x"].dtype == ">f2" else [str(f["x"].dtype)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        tool = Tool(args.tool, folder)
        for check in (check_all_values, check_npy_and_raw, check_hdf5, check_complex, check_packed, check_zarr,
                      check_rounding, check_written, check_sparse, check_appended):  # fmt: skip
            check(tool, tally)
    tally.finish()


main()
