"""store_append.py --tool STORE_TOOL -- arrays of HDF5, netCDF-4 and Zarr that grow, against NumPy, h5py, netCDF4 and
zarr; attempts that fail leave them as they were."""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import h5py
import netCDF4
import numpy as np
import zarr
from store_kit import Tool, cells, differences
from tally import Tally

SHAPES = [((7, 9), (4, 5), 0), ((8, 9), (4, 5), 0), ((6, 7), (6, 3), 1), ((0, 5), (3, 5), 0), ((5,), (2,), 0)]


def read_peer(path, inside="x"):
    if path.suffix == ".zarr":
        return zarr.open(str(path), mode="r")[...]
    with h5py.File(path) as file:
        array = file[inside][...]
    return array.astype(array.dtype.newbyteorder("="))


def append(tool, place, more, axis, *options, **how):
    return tool.run("append", place, axis, more.shape[axis], *options, stdin=more.tobytes(), **how)[1]


def grow(tally, tool, what, place, now, axis):
    """Some steps of several lengths, each seen by us and by the format's own library."""
    random = np.random.default_rng(6)
    peer = tool.folder / place.split(":")[0]
    for extra in (1, 3, 0, 8):
        more = cells(random, now.dtype, [extra if d == axis else n for d, n in enumerate(now.shape)])
        said = append(tool, place, more, axis, threads=2)
        now = np.concatenate([now, more], axis)
        tally.check(f"{what}: {extra} more", [said] if said else differences(tool.read(place), now))
        if not said and "zstd" not in what and "v3" not in what:
            tally.check(f"{what}: {extra} more, its library", differences(read_peer(peer), now))
        before = tool.read(place)
        append(tool, place, more, axis, "leave")
        tally.check(f"{what}: abandoned", differences(tool.read(place), before))
    return now


def test_hdf5(tally, tool):
    random = np.random.default_rng(1)
    for number, (shape, chunk, axis) in enumerate(SHAPES):
        for codecs in ("none", "shuffle deflate 4", "zstd 3"):
            first, place = cells(random, "f4", shape), f"g{number}{codecs[0]}.h5:/x"
            said = tool.write(place, first, chunk, codecs, f"grow={axis}")
            tally.check(f"writes {place}", [said] if said else [])
            grow(tally, tool, f"HDF5 {shape} {codecs}", place, first, axis)
    with h5py.File(tool.folder / "big.h5", "w") as file:
        file.create_dataset("x", data=np.arange(5, dtype=">i4"), chunks=(3,), maxshape=(None,), fletcher32=True)
        file["y"] = np.arange(3)
    grow(tally, tool, "HDF5 big-endian", "big.h5:x", np.arange(5, dtype="i4"), 0)
    tally.check("what else is there", differences(tool.read("big.h5:y"), np.arange(3)))


def test_netcdf(tally, tool):
    path = tool.folder / "t.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("y", 4)
        file.createVariable("time", "f8", ("time",))[:] = [0, 1]
        file.createVariable("h", "f4", ("time", "y"), zlib=True)[:] = np.ones((2, 4))
    append(tool, "t.nc:h", np.full((3, 4), 2, "f4"), 0)
    append(tool, "t.nc:time", np.array([2.0, 3, 4]), 0)
    with netCDF4.Dataset(path) as file:
        good = np.array_equal(file["h"][2:], np.full((3, 4), 2)) and file["time"][:].tolist() == [0, 1, 2, 3, 4]
    tally.check("netCDF-4", [] if good else ["not what netCDF4 expects"])


def test_zarr(tally, tool):
    random = np.random.default_rng(1)
    for number, (shape, chunk, axis) in enumerate(SHAPES):
        first = cells(random, "f8", shape)
        path = tool.folder / f"two{number}.zarr"
        array = zarr.open(str(path), mode="w", shape=shape, chunks=chunk, dtype="f8", fill_value=np.nan)
        array[...] = first
        array.attrs["inner"] = {"shape": [1]}
        grow(tally, tool, f"Zarr v2 {shape}", path.name, first, axis)
        place = f"three{number}.zarr"
        said = tool.write(place, first, chunk, "zstd 1", f"like={path.name}")
        tally.check(f"writes {place}", [said] if said else [])
        now = grow(tally, tool, f"Zarr v3 {shape}", place, first, axis)
        meta = json.loads((tool.folder / place / "zarr.json").read_text())
        good = meta["shape"] == list(now.shape) and meta["attributes"]["inner"] == {"shape": [1]}
        tally.check(f"{place}: metadata", [] if good else [str(meta)])


def test_refusals(tally, tool):
    with h5py.File(tool.folder / "no.h5", "w") as file:
        file["flat"] = np.zeros((3, 3))
        file.create_dataset("fixed", data=np.zeros((3, 3)), chunks=(2, 2))
        file.create_dataset("table", data=np.zeros(3, [("x", "f4")]), chunks=(2,), maxshape=(None,))
    zarr.save_array(str(tool.folder / "no.zarr"), np.zeros((3, 3)))
    zarr.save_group(str(tool.folder / "all.zarr"), a=np.zeros(3))
    zarr.consolidate_metadata(str(tool.folder / "all.zarr"))
    np.save(tool.folder / "no.npy", np.zeros(3))
    for place, axis, extra, words in (
        ("no.h5:flat", 0, 1, "contiguous"),
        ("no.h5:fixed", 0, 1, "unlimited"),
        ("no.h5:table", 0, 1, "can't grow"),
        ("no.h5:none", 0, 1, "/none"),
        ("no.zarr", 2, 1, "axis 2"),
        ("no.zarr", 0, -1, "-1 more"),
        ("no.zarr", 0, 2**62, "too many"),
        ("all.zarr:a", 0, 1, "consolidated"),
        ("no.npy", 0, 1, "nothing can be appended to npy"),
        ("none.h5:x", 0, 1, "none.h5"),
    ):
        said = tool.run("append", place, axis, extra)[1]
        tally.check(f"refuses {place} {axis} {extra}", [] if words in said else [said])


def limited(tool, place, more, limit):
    """An append that may write files of so many bytes; a signal and status, or what was said."""

    def limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ran = subprocess.run([tool.program, "append", place, "0", str(more.shape[0])], input=more.tobytes(),
                         capture_output=True, cwd=tool.folder, preexec_fn=limits, timeout=600)
    return ran.returncode, ran.stderr.decode()


def test_no_room(tally, tool):
    """Files can't become longer than a limit: an error, the old cells as they were, nothing else left."""
    random = np.random.default_rng(9)
    first, more = cells(random, "f8", (10, 100)), cells(random, "f8", (100, 100))
    tool.write("room.h5:x", first, (8, 100), "none", "grow=0")
    tool.write("room.zarr", first, (8, 100), "none")
    for place, limit in (("room.h5:x", 20000), ("room.zarr", 1000)):
        names = sorted(os.walk(tool.folder))
        status, said = limited(tool, place, more, limit)
        tally.check(f"{place}: no room", [] if status == 1 and said.count("\n") == 1 else [f"{status}: {said}"])
        tally.check(f"{place}: as before", differences(tool.read(place), first))
        tally.check(f"{place}: nothing is left", [] if sorted(os.walk(tool.folder)) == names else ["files are"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    tally, folder = Tally(), tempfile.mkdtemp()
    try:
        tool = Tool(arguments.tool, folder)
        for test in (test_hdf5, test_netcdf, test_zarr, test_refusals, test_no_room):
            test(tally, tool)
    finally:
        shutil.rmtree(folder)
    tally.finish()


if __name__ == "__main__":
    main()
