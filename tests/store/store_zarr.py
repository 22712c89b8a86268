"""store_zarr.py --tool STORE_TOOL -- Zarr v2 and v3 as Arras reads and writes them: against zarr-python (2 or 3,
whichever is there), and for v3 against a writer of its own that follows the specification."""

import argparse
import itertools
import json
import shutil
import struct
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import numcodecs
import numpy as np
import zarr
from store_kit import ARRAS, CODES, Tool, cells, cut, differences, random_box
from tally import Tally

IS_3 = int(zarr.__version__.split(".")[0]) >= 3
V2 = {"zarr_format": 2} if IS_3 else {}

# ---- A writer of version 3, straight from the specification -----------------------------------


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return struct.pack("<I", value ^ 0xFFFFFFFF)


def encode(codecs, array):
    """The bytes of one chunk."""
    data = array
    for codec in codecs:
        name, given = codec["name"], codec.get("configuration", {})
        if name == "transpose":
            data = data.transpose(given["order"])
        elif name == "bytes":
            order = "<" if given.get("endian", "little") == "little" else ">"
            data = np.ascontiguousarray(data).astype(data.dtype.newbyteorder(order)).tobytes()
        elif name == "gzip":
            data = numcodecs.GZip(given["level"]).encode(data)
        elif name == "zstd":
            data = numcodecs.Zstd(given["level"]).encode(data)
        elif name == "blosc":
            shuffle = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}[given["shuffle"]]
            items = np.frombuffer(data, f"V{given['typesize']}")
            data = numcodecs.Blosc(given["cname"], given["clevel"], shuffle, given["blocksize"]).encode(items)
        elif name == "crc32c":
            data = bytes(data) + crc32c(data)
        elif name == "sharding_indexed":
            data = encode_shard(given, data)
        else:
            raise ValueError(name)
    return bytes(data)


def encode_shard(given, array):
    inner = given["chunk_shape"]
    counts = [n // k for n, k in zip(array.shape, inner)]
    index = np.full([*counts, 2], 2**64 - 1, "u8")
    first = given.get("index_location", "end") == "start"
    at = len(encode(given["index_codecs"], index)) if first else 0
    body = b""
    # Backwards: readers must not count on any order.
    for place in reversed(list(np.ndindex(*counts))):
        part = array[tuple(slice(i * k, (i + 1) * k) for i, k in zip(place, inner))]
        if not part.any():
            continue
        data = encode(given["codecs"], part)
        index[place] = at + len(body), len(data)
        body += data
    stored = encode(given["index_codecs"], index)
    return stored + body if first else body + stored


def write_v3(path, array, chunk, codecs, keys=None, fill=0, **more):
    """Chunks of zeros are left out."""
    path.mkdir(parents=True)
    keys = keys or {"name": "default"}
    name = array.dtype.name
    meta = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.shape,
        "data_type": name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": keys,
        "fill_value": fill,
        "codecs": codecs,
        **more,
    }
    (path / "zarr.json").write_text(json.dumps(meta))
    separator = keys.get("configuration", {}).get("separator", "/" if keys["name"] == "default" else ".")
    grid = [-(-n // k) for n, k in zip(array.shape, chunk)]
    padded = np.zeros([n * k for n, k in zip(grid, chunk)], array.dtype)
    padded[tuple(slice(0, n) for n in array.shape)] = array
    for place in np.ndindex(*grid):
        part = padded[tuple(slice(i * k, (i + 1) * k) for i, k in zip(place, chunk))]
        if not part.any():
            continue
        parts = (["c"] if keys["name"] == "default" else []) + [str(i) for i in place]
        file = path / (separator.join(parts) or "0")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(codecs, part))


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
CRC = {"name": "crc32c"}


def blosc(cname, shuffle, size):
    given = {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": size, "blocksize": 0}
    return {"name": "blosc", "configuration": given}


def transpose(*order):
    return {"name": "transpose", "configuration": {"order": order}}


def shards(inner, codecs, **more):
    given = {"chunk_shape": inner, "codecs": codecs, "index_codecs": [LITTLE, CRC], **more}
    return {"name": "sharding_indexed", "configuration": given}


# ---- Reading ----------------------------------------------------------------------------------


def holey(random, dtype, shape):
    """Cells with chunks of zeros among them, which are not stored."""
    array = cells(random, dtype, shape).copy()
    if array.ndim:
        array[: shape[0] // 2] = 0
    return array


def check_read(tally, tool, random, what, place, want):
    tally.check(what, differences(tool.read(place), want))
    box = random_box(random, want.shape)
    if want.ndim:
        tally.check(f"{what}, box {box}", differences(tool.read(place, box, threads=3), want[cut(box)]))


def make_v2(path, array, chunks, **options):
    made = zarr.open(str(path), mode="w", shape=array.shape, chunks=chunks, dtype=array.dtype, **options, **V2)
    made[...] = array
    return made


def test_v2(tally, tool, random):
    compressors = [
        None,
        numcodecs.Zlib(3),
        numcodecs.GZip(3),
        numcodecs.Zstd(3),
        numcodecs.LZ4(),
        numcodecs.Blosc("lz4", 5, 1),
        numcodecs.Blosc("zstd", 3, 2),
        numcodecs.Blosc("blosclz", 5, 0),
    ]
    for number, code in enumerate(CODES):
        for order, prefix in itertools.product("CF", "<>"):
            dtype = np.dtype(prefix + code)
            array = holey(random, dtype, (7, 12, 5))
            path = tool.folder / f"v2_{code}_{order}{ord(prefix)}.zarr"
            compressor = compressors[(number + ord(order)) % len(compressors)]
            make_v2(path, array, (3, 5, 2), order=order, compressor=compressor)
            check_read(tally, tool, random, f"v2 {dtype.str} {order} {compressor}", path.name, array)
    for separator, compressor in itertools.product("./", compressors):
        array = holey(random, "<f8", (9, 8))
        path = tool.folder / f"v2_s{ord(separator)}_{compressors.index(compressor)}.zarr"
        make_v2(path, array, (4, 4), compressor=compressor, dimension_separator=separator,
                filters=[numcodecs.Shuffle(8)])
        check_read(tally, tool, random, f"v2 '{separator}' {compressor} shuffle", path.name, array)
    for shape in [(), (0,), (3, 0), (1,), (5,)]:
        array = cells(random, "i4", shape)
        make_v2(tool.folder / f"v2_r{shape}.zarr", array, tuple(max(1, n) for n in shape) or None)
        check_read(tally, tool, random, f"v2 of shape {shape}", f"v2_r{shape}.zarr", array)


def test_fill_v2(tally, tool):
    fills = [
        ("f8", "NaN", np.nan),
        ("f4", "Infinity", np.inf),
        ("f4", "-Infinity", -np.inf),
        ("f4", -0.5, -0.5),
        ("i2", None, 0),
        ("i8", -9223372036854775808, -(2**63)),
        ("u8", 18446744073709551615, 2**64 - 1),
        ("b1", True, True),
        ("c16", [1.5, "NaN"], complex(1.5, np.nan)),
        (">f4", "P4AAAA==", 1.0),
        ("<f4", "AACAPw==", 1.0),
    ]
    path = tool.folder / "fill2.zarr"
    path.mkdir()
    for code, fill, want in fills:
        dtype = np.dtype(code)
        meta = dict(zarr_format=2, shape=[3], chunks=[2], dtype=dtype.str, compressor=None, filters=None, order="C",
                    fill_value=fill)
        (path / ".zarray").write_text(json.dumps(meta))
        tally.check(f"v2 fill value {fill}", differences(tool.read(path.name), np.full(3, want, dtype)))
    for code, fill in [("i1", 128), ("u1", -1), ("i4", 1.5), ("f4", "nan"), ("i4", "NaN"), ("b1", 2), ("c8", [1, 2, 3]),
                       ("f4", {}), ("i8", 9223372036854775808), ("u8", 18446744073709551616)]:
        meta.update(dtype=np.dtype(code).str, fill_value=fill)
        (path / ".zarray").write_text(json.dumps(meta))
        said = tool.info(path.name).get("error", "accepted")
        tally.check(f"v2 fill value {fill} for {code}", [] if "fill value" in said else [said])


def test_v3(tally, tool, random):
    pipelines = [
        [LITTLE],
        [BIG],
        [LITTLE, GZIP],
        [BIG, ZSTD],
        [LITTLE, CRC],
        [LITTLE, ZSTD, CRC],
        [transpose(2, 0, 1), LITTLE],
        [transpose(1, 2, 0), transpose(2, 1, 0), BIG, GZIP],
        [shards([2, 2, 3], [LITTLE])],
        [shards([4, 1, 6], [LITTLE, GZIP, CRC])],
        [shards([1, 4, 2], [transpose(2, 1, 0), BIG, ZSTD], index_location="start")],
        [shards([4, 4, 6], [LITTLE], index_codecs=[BIG])],
    ]
    for code in CODES:
        size = np.dtype(code).itemsize
        own = [[LITTLE, blosc("lz4", "shuffle", size)], [shards([2, 4, 3], [BIG, blosc("zstd", "bitshuffle", size)])]]
        for number, codecs in enumerate(pipelines + own):
            if code not in ("i2", "f8") and (number + CODES.index(code)) % 3:
                continue
            array = holey(random, code, (9, 7, 13))
            path = tool.folder / f"v3_{code}_{number}.zarr"
            write_v3(path, array, [4, 4, 6], codecs, fill=False if code == "b1" else 0)
            names = " ".join(codec["name"] for codec in codecs)
            check_read(tally, tool, random, f"v3 {code} {names} ({number})", path.name, array)
    keys = [
        {"name": "default", "configuration": {"separator": "."}},
        {"name": "v2"},
        {"name": "v2", "configuration": {"separator": "/"}},
    ]
    for number, encoding in enumerate(keys):
        for shape in [(5, 6), ()]:
            array = cells(random, "f4", shape) + np.float32(1000)
            path = tool.folder / f"v3_keys_{number}_{len(shape)}.zarr"
            write_v3(path, array, [2, 3][: len(shape)], [LITTLE], encoding, dimension_names=["y", None][: len(shape)])
            check_read(tally, tool, random, f"v3 keys {encoding}", path.name, array)
    tally.check("names of axes", [] if tool.info("v3_keys_0_2.zarr")["axes"] == "'y' ''" else ["not those"])


def test_fill_v3(tally, tool):
    fills = [
        ("f8", "NaN", np.nan),
        ("f4", "0x7fc00000", np.nan),
        ("f4", "0x3f800000", 1.0),
        ("f8", "0xbff0000000000000", -1.0),
        ("f8", "-Infinity", -np.inf),
        ("f4", -0.0, -0.0),
        ("i1", -128, -128),
        ("u8", 2**64 - 1, 2**64 - 1),
        ("b1", True, True),
        ("c8", [1, "Infinity"], complex(1, np.inf)),
        ("c16", ["0x3ff0000000000000", "NaN"], complex(1, np.nan)),
    ]
    for number, (code, fill, want) in enumerate(fills):
        path = tool.folder / f"fill3_{number}.zarr"
        write_v3(path, np.zeros(5, code), [2], [LITTLE], fill=fill)
        tally.check(f"v3 fill value {fill}", differences(tool.read(path.name), np.full(5, want, code)))


def test_python_v3(tally, tool, random):
    """What zarr-python 3 writes."""
    for code, sharded in itertools.product(CODES, (False, True)):
        array = holey(random, code, (10, 9))
        path = tool.folder / f"py3_{code}_{sharded}.zarr"
        made = zarr.create_array(str(path), shape=array.shape, chunks=(2, 3), shards=(4, 6) if sharded else None,
                                 dtype=array.dtype, dimension_names=["y", "x"])
        made[...] = array
        made.attrs["units"] = "m"
        check_read(tally, tool, random, f"zarr-python {code}, sharded {sharded}", path.name, array)
        info = tool.info(path.name)
        tally.check("names and attributes", [] if (info["axes"], info["units"]) == ("'y' 'x'", "m") else [str(info)])


# ---- Writing ----------------------------------------------------------------------------------


def decode_v3(path):
    """What was written, by the specification; chunks of the default grid, without shards."""
    meta = json.loads((path / "zarr.json").read_text())
    shape, chunk = meta["shape"], meta["chunk_grid"]["configuration"]["chunk_shape"]
    dtype = np.dtype(meta["data_type"])
    fill = meta["fill_value"]
    if isinstance(fill, list):
        fill = complex(*map(float, fill))
    grid = [-(-n // k) for n, k in zip(shape, chunk)]
    out = np.full([n * k for n, k in zip(grid, chunk)], float(fill) if isinstance(fill, str) else fill, dtype)
    for place in np.ndindex(*grid):
        file = path / "/".join(["c", *map(str, place)])
        if not file.exists():
            continue
        data = file.read_bytes()
        for codec in reversed(meta["codecs"]):
            name = codec["name"]
            if name == "crc32c":
                assert crc32c(data[:-4]) == data[-4:]
                data = data[:-4]
            elif name != "bytes":
                data = {"gzip": numcodecs.GZip(), "zstd": numcodecs.Zstd(), "blosc": numcodecs.Blosc()}[name].decode(data)
        out[tuple(slice(i * k, (i + 1) * k) for i, k in zip(place, chunk))] = np.frombuffer(data, dtype).reshape(chunk)
    return out[tuple(slice(0, n) for n in shape)]


def zarr_read(path, inside):
    return zarr.open(str(path), mode="r")[inside][...]


def test_write(tally, tool, random):
    codecs = ["-", "none", "zstd 5", "gzip 3", "deflate 4", "blosc lz4 5", "blosc zstd 3"]
    group = tool.folder / "group2.zarr"
    zarr.open_group(str(group), mode="w", **V2)
    for number, (code, codec) in enumerate(itertools.product(CODES, codecs)):
        array = holey(random, code, (11, 6))
        chunk = [(4, 3), (11, 6), (20, 1)][number % 3]
        said = tool.write(f"new_{number}.zarr:/deep/a", array, chunk, codec, threads=2)
        path = tool.folder / f"new_{number}.zarr"
        what = f"written as v3: {code} {codec}"
        tally.check(what, [said] if said else differences(decode_v3(path / "deep/a"), array))
        if not said and IS_3:
            tally.check(f"{what}, read by zarr-python", differences(zarr_read(path, "deep/a"), array))
        said = tool.write(f"group2.zarr:b{number}/a", array, chunk, codec, threads=2)
        tally.check(f"written as v2: {code} {codec}", [said] if said else differences(zarr_read(group, f"b{number}/a"), array))
    array = holey(random, "f4", (300, 17))
    for codec in ["shuffle deflate 4", "lz4", "shuffle zstd 3"]:
        said = tool.write(f"group2.zarr:{codec.replace(' ', '_')}", array, (64, 8), codec)
        got = said or differences(zarr_read(group, codec.replace(" ", "_")), array)
        tally.check(f"written as v2: {codec}", [got] if said else got)
    said = tool.write("shuffled.zarr", array, (64, 8), "shuffle deflate 4")
    tally.check("v3 has no shuffle", [] if "blosc" in said else [said or "accepted"])
    for fill in ("-1.5", "nan", "inf"):
        said = tool.write(f"filled_{fill}.zarr", np.full((5, 5), float(fill)), (2, 2), "none", f"fill={fill}")
        path = tool.folder / f"filled_{fill}.zarr"
        chunks = list(path.glob("c/*/*"))
        tally.check(f"chunks of the fill value {fill} are not stored", [said] if said else [str(c) for c in chunks])
        if not said:
            tally.check(f"fill value {fill}", differences(decode_v3(path), np.full((5, 5), float(fill))))
    said = tool.write("scalar.zarr", np.array(2.5), None, "none")
    tally.check("written: no axes", [said] if said else differences(tool.read("scalar.zarr"), np.array(2.5)))


def test_attributes(tally, tool):
    attributes = {"units": "m s-1", "count": 3, "list": [1, 2.5], "text": "5", "nothing": float("nan")}
    path = tool.folder / "like2.zarr"
    made = make_v2(path, np.zeros((2, 2)), (2, 2))
    (path / ".zattrs").write_text(json.dumps({**attributes, "_ARRAY_DIMENSIONS": ["y", "x"]}))
    said = tool.write("like3.zarr", np.ones((2, 2)), None, "-", "like=like2.zarr")
    meta = json.loads((tool.folder / "like3.zarr/zarr.json").read_text()) if not said else {}
    want = {**attributes, "nothing": "NaN"}
    tally.check("attributes are copied", [] if meta.get("attributes") == want else [said or str(meta)])
    tally.check("names are copied", [] if meta.get("dimension_names") == ["y", "x"] else [said or str(meta)])
    zarr.open_group(str(tool.folder / "back2.zarr"), mode="w", **V2)
    said = tool.write("back2.zarr:a", np.ones((2, 2)), None, "-", "like=like3.zarr")
    text = json.loads((tool.folder / "back2.zarr/a/.zattrs").read_text()) if not said else {}
    tally.check("and back", [] if text == {**want, "_ARRAY_DIMENSIONS": ["y", "x"]} else [said or str(text)])


def test_whole_or_not(tally, tool):
    """Nothing is left of what was abandoned, and nothing is written over."""
    array = np.arange(12.0).reshape(3, 4)
    before = sorted(p.name for p in tool.folder.iterdir())
    tool.write("gone.zarr:a/b", array, (2, 2), "none", "leave=1")
    after = sorted(p.name for p in tool.folder.iterdir())
    tally.check("abandoned", [] if before == after else [str(set(after) - set(before))])
    for place in ("new_0.zarr", "new_0.zarr:deep", "new_0.zarr:deep/a", "new_0.zarr:deep/a/b"):
        said = tool.write(place, array)
        tally.check(f"written over {place}", [] if "already" in said else [said or "accepted"])
    said = tool.write("new_0.zarr:other", array)
    tally.check("beside", [said] if said else differences(tool.read("new_0.zarr:other"), array))
    (tool.folder / "plain.zarr").mkdir()
    said = tool.write("plain.zarr:a", array)
    tally.check("into a directory that is no group", [] if "no group" in said else [said or "accepted"])
    said = tool.write("not/there.zarr", array)
    tally.check("no directory", [] if "cannot write" in said else [said or "accepted"])


# ---- Groups, malformed files ------------------------------------------------------------------


def test_groups(tally, tool):
    root = zarr.open_group(str(tool.folder / "tree.zarr"), mode="w", **V2)
    make = root.create_array if IS_3 else root.create_dataset
    for name in ("a", "g/b", "g/h/c10", "g/h/c9"):
        make(name, shape=(4, 5), chunks=(2, 2), dtype="f4")
    out, said = tool.run("list", "tree.zarr")
    lines = [f"/{name}\tf32[4, 5]\tZarr v2" for name in ("a", "g/b", "g/h/c9", "g/h/c10")]
    tally.check("list", [] if out.decode().splitlines() == lines else [out.decode(), said])
    said = tool.read("tree.zarr")
    tally.check("which of them", [] if isinstance(said, str) and "4 arrays" in said and "/g/b" in said else [str(said)])
    got = tool.read("tree.zarr:/g/h/c9")
    tally.check("one of them", differences(got, np.zeros((4, 5), "f4")))
    for inside in ("..", "g/../a", "a/..", "../tree.zarr/a", ".", "g/x", "g", "/etc/passwd"):
        said = tool.read(f"tree.zarr:{inside}")
        tally.check(f"inside {inside}", [] if isinstance(said, str) else ["accepted"])


def damaged_metadata(meta):
    """The same with one thing changed."""
    others = [None, -1, 0, 1, 2**62, 1.5, "x", "", [], {}, [[]], [2**61] * 3, [0, 0], [-1, 2], True, "../../x", [None], ["x"]]

    def places(value, path=()):
        yield path
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
        for key, item in items:
            yield from places(item, (*path, key))

    for path in places(meta):
        for other in others if path else []:
            copy = json.loads(json.dumps(meta))
            node = copy
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = other
            yield copy


def test_damage(tally, tool, random):
    array = cells(random, "i4", (6, 8)) | 1
    write_v3(tool.folder / "bad3.zarr", array, [4, 4], [shards([2, 2], [transpose(1, 0), LITTLE, ZSTD, CRC])])
    make_v2(tool.folder / "bad2.zarr", array, (4, 4), order="F", compressor=numcodecs.Blosc("lz4"))
    for name, file in (("bad3.zarr", "zarr.json"), ("bad2.zarr", ".zarray")):
        path = tool.folder / name / file
        good = path.read_text()
        silent = []
        for number, meta in enumerate(damaged_metadata(json.loads(good))):
            path.write_text(json.dumps(meta))
            if number % 4 == 0:
                tool.run("read", name, "0:1,0:1")  # one cell: a shape may have become any
        for end in range(0, len(good) - 1, 29):
            path.write_text(good[:end])
            silent += [] if tool.run("info", name)[1] else [f"cut off at {end}"]
        path.write_text(good)
        tally.check(f"{name}: damaged metadata", silent)
    test_damaged_chunks(tally, tool, random, array)


def test_damaged_chunks(tally, tool, random, array):
    for name, key, checked in (("bad3.zarr", "c/0/0", True), ("bad2.zarr", "0.0", False)):
        path = tool.folder / name / key
        good = path.read_bytes()
        silent = []
        for end in range(0, len(good), 5):
            path.write_bytes(good[:end])
            got = tool.read(name)
            silent += [] if isinstance(got, str) and "chunk" in got else [f"cut off at {end}: {got}"]
        for _ in range(60):
            at, bit = int(random.integers(0, len(good))), 1 << int(random.integers(0, 8))
            path.write_bytes(good[:at] + bytes([good[at] ^ bit]) + good[at + 1 :])
            got = tool.read(name)
            if checked and not isinstance(got, str) and differences(got, array):
                silent.append(f"byte {at} changed, and nobody said so")
        path.write_bytes(good)
        tally.check(f"{name}: damaged chunks", silent)
        path.unlink()
        path.mkdir()
        said = tool.read(name)
        tally.check(f"{name}: a directory in place of a chunk", [] if isinstance(said, str) else ["accepted"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tally, random = Tally(), np.random.default_rng(arguments.seed)
    folder = tempfile.mkdtemp()
    try:
        tool = Tool(arguments.tool, folder)
        test_v2(tally, tool, random)
        test_fill_v2(tally, tool)
        test_v3(tally, tool, random)
        test_fill_v3(tally, tool)
        if IS_3:
            test_python_v3(tally, tool, random)
        test_write(tally, tool, random)
        test_attributes(tally, tool)
        test_whole_or_not(tally, tool)
        test_groups(tally, tool)
        test_damage(tally, tool, random)
    finally:
        shutil.rmtree(folder)
    tally.finish()


if __name__ == "__main__":
    main()
