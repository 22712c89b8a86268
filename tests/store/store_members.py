"""store_members.py --tool STORE_TOOL -- members of records and arrays of a group as arrays of their own, against h5py."""

import argparse
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import h5py
import numpy as np
import zarr
from store_kit import Tool, cut, differences, random_box
from tally import Tally

RECORD = np.dtype(
    [
        ("id", "<i8"),
        ("x", "<f8"),
        ("mass", ">f4"),
        ("alive", "?"),
        ("small", "<i2"),
        ("wave", "<c8"),
        ("tail.end", "u1"),
        ("label", "S3"),
        ("spin", [("up", "<f4"), ("down", ">i4")]),
    ]
)
MEMBERS = ["id", "x", "mass", "alive", "small", "wave", "tail.end"]
SHAPE, CHUNK = (23, 9), (8, 4)


def records():
    random = np.random.default_rng(2)
    cells = np.zeros(SHAPE, RECORD)
    for name in MEMBERS + ["label"]:
        cells[name] = random.integers(0, 2 if name == "alive" else 100, SHAPE)
    for name in ("up", "down"):
        cells["spin"][name] = random.integers(-100, 100, SHAPE)
    return cells


def write_files(folder, cells):
    with h5py.File(folder / "p.h5", "w") as file:
        file.create_dataset("flat", data=cells)
        file.create_dataset("chunked", data=cells, chunks=CHUNK)
        file.create_dataset("packed", data=cells, chunks=CHUNK, compression="gzip", shuffle=True, fletcher32=True)
        file.create_dataset("a.b/c.d", data=cells, chunks=CHUNK, compression="lzf")
        holes = file.create_dataset("holes", SHAPE, RECORD, chunks=CHUNK)
        holes[:8, :4] = cells[:8, :4]
        file.create_group("group")
        for name in ("x", "mass"):
            file["group"][name] = cells[name]
        file["group/inner"] = cells[:, 0]
        file["plain.name"] = cells["x"]


def test_members(tally, tool, cells):
    random = np.random.default_rng(4)
    for dataset in ("flat", "chunked", "packed", "a.b/c.d"):
        for name in MEMBERS:
            place, want = f"p.h5:/{dataset}.{name}", cells[name]
            tally.check(place, differences(tool.read(place, threads=2), want))
            box = random_box(random, SHAPE)
            tally.check(f"{place} {box}", differences(tool.read(place, box), want[cut(box)]))
        for name in ("up", "down"):
            tally.check(f"{dataset} in spin {name}",
                        differences(tool.read(f"p.h5:/{dataset}.spin.{name}"), cells["spin"][name]))
    want = np.zeros(SHAPE, RECORD)
    want[:8, :4] = cells[:8, :4]
    tally.check("chunks that are not stored", differences(tool.read("p.h5:/holes.mass"), want["mass"]))


def test_groups(tally, tool, cells):
    tally.check("of a group", differences(tool.read("p.h5:/group.x"), cells["x"]))
    tally.check("of records in a group", differences(tool.read("p.h5:/group.inner.x"), cells["x"][:, 0]))
    tally.check("a dot in a name", differences(tool.read("p.h5:/plain.name"), cells["x"]))
    zarr.save_group(str(tool.folder / "g.zarr"), x=cells["x"], small=cells["small"])
    tally.check("of a group of Zarr", differences(tool.read("g.zarr:/.x"), cells["x"]))
    group = zarr.open_group(str(tool.folder / "d.zarr"), mode="w")
    group.create_group("ball").array("y", cells["small"])
    tally.check("of a group in a group of Zarr", differences(tool.read("d.zarr:ball.y"), cells["small"]))


def test_others(tally, tool):
    """What is listed, and what is refused."""
    out = tool.run("list", "p.h5:/chunked")[0].decode()
    lines = [f"/chunked.{name}\t{word}[23, 9]" for name, word in (("id", "i64"), ("mass", "f32"), ("label", "text"))]
    tally.check("members are listed", [line for line in lines if line not in out])
    for place, words in (
        ("p.h5:/chunked.none", "there is no member none; the members are id, x, mass"),
        ("p.h5:/chunked.label", "text, are not numbers"),
        ("p.h5:/chunked.spin.left", "there is no member spin.left"),
        ("p.h5:/chunked.id.x", "there is no member id.x"),
        ("p.h5:/group.none", "/group.none"),
        ("p.h5:/group/x.y", "there is no member y"),
        ("g.zarr:/.none", "none"),
    ):
        info = tool.info(place)
        said = tool.run("read", place)[1]
        tally.check(f"refuses {place}", [] if words in said or words in info.get("error", "") else [said])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    tally, folder = Tally(), tempfile.mkdtemp()
    try:
        tool = Tool(arguments.tool, folder)
        cells = records()
        write_files(tool.folder, cells)
        test_members(tally, tool, cells)
        test_groups(tally, tool, cells)
        test_others(tally, tool)
    finally:
        shutil.rmtree(folder)
    tally.finish()


if __name__ == "__main__":
    main()
