"""store_packed.py --tool STORE_TOOL -- packed and missing cells (scale_factor, add_offset, _FillValue, missing_value,
_Unsigned) in netCDF, HDF5 and Zarr, against NumPy and the netCDF library."""

import argparse
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import h5py
import netCDF4
import numpy as np
import zarr
from store_kit import Tool, cut, differences, random_box
from tally import Tally

SHAPE, CHUNK = (37, 53), (10, 16)
f4, f8, i1, i2, i4 = np.float32, np.float64, np.int8, np.int16, np.int32

# Type of the cells as stored, attributes, type of the cells as they are read.
CASES = [
    ("i2", {"scale_factor": f4(0.01), "add_offset": f4(273.15), "_FillValue": i2(-32767)}, "f4"),
    ("i2", {"scale_factor": f8(0.01), "add_offset": f8(273.15), "_FillValue": i2(-32767)}, "f8"),
    ("i2", {"scale_factor": f4(0.5), "add_offset": f8(1)}, "f8"),
    ("i2", {"add_offset": f4(-3)}, "f4"),
    ("i1", {"scale_factor": f8(2)}, "f8"),
    ("i1", {"missing_value": np.array([-1, 5], i1)}, "f4"),
    ("i2", {"_FillValue": i2(7), "missing_value": i2(9)}, "f4"),
    ("i4", {"_FillValue": i4(-999)}, "f8"),
    ("i4", {"scale_factor": f4(0.25)}, "f8"),
    ("i2", {"missing_value": f8(3.5)}, "f4"),
    ("i2", {"missing_value": f8(1e9)}, "f4"),
    ("f4", {"_FillValue": f4(-999)}, "f4"),
    ("f4", {"missing_value": f8(1.1)}, "f4"),
    ("f4", {"scale_factor": f4(3)}, "f4"),
    ("f4", {"scale_factor": f8(3)}, "f8"),
    ("f8", {"scale_factor": f4(3), "_FillValue": f8(np.nan)}, "f8"),
    ("f8", {"missing_value": f8(2)}, "f8"),
    ("i1", {"_Unsigned": "true"}, "u1"),
    ("i1", {"_Unsigned": "true", "_FillValue": i1(-1), "scale_factor": f4(0.5)}, "f4"),
    ("i2", {"_Unsigned": "true", "_FillValue": i2(-2)}, "f4"),
    ("i2", {"valid_range": np.array([0, 5], i2)}, "i2"),
    ("i2", {"units": "m"}, "i2"),
]


def stored_cells(code, attributes):
    """Numbers of all sizes, those that mean missing among them."""
    random = np.random.default_rng(3)
    dtype = np.dtype(code)
    if dtype.kind == "f":
        cells = (random.integers(-1000, 1000, SHAPE) / 8).astype(dtype)
        cells[0, 0] = -0.0
    else:
        cells = np.frombuffer(random.bytes(SHAPE[0] * SHAPE[1] * dtype.itemsize), dtype).reshape(SHAPE).copy()
    for name in ("_FillValue", "missing_value"):
        for value in np.ravel(attributes.get(name, [])):
            if dtype.kind == "f" or float(value) == int(value) and abs(value) < 2**15:
                cells[random.random(SHAPE) < 0.1] = value
    return cells


def unpacked(cells, attributes, code, gap):
    """What CF says, in NumPy."""
    dtype = np.dtype(code)
    if attributes.get("_Unsigned") == "true":
        cells = cells.view(cells.dtype.str.replace("i", "u"))
    if dtype == cells.dtype and dtype.kind != "f":
        return cells
    missing = np.zeros(cells.shape, bool)
    for name in ("_FillValue", "missing_value"):
        for value in np.ravel(attributes.get(name, [])):
            if value.dtype.itemsize == cells.itemsize and cells.dtype.kind == "u":
                value = value.view(cells.dtype)
            with np.errstate(invalid="ignore"):
                same = value.astype(cells.dtype)
            if cells.dtype.kind == "f" or same == value:
                missing |= (cells == same) | ((cells != cells) & (value != value))
    result = cells.astype(dtype)
    if "scale_factor" in attributes:
        result = result * dtype.type(attributes["scale_factor"])
    if "add_offset" in attributes:
        result = result + dtype.type(attributes["add_offset"])
    result[missing] = gap
    return result


def write_netcdf(path, format, cells, attributes, **how):
    rest = {name: value for name, value in attributes.items() if name != "_FillValue"}
    with netCDF4.Dataset(path, "w", format=format) as file:
        for name, length in zip("yx", cells.shape):
            file.createDimension(name, length)
        variable = file.createVariable("v", cells.dtype, ("y", "x"), fill_value=attributes.get("_FillValue"), **how)
        variable.setncatts(rest)
        variable.set_auto_maskandscale(False)
        variable[...] = cells


def write_hdf5(path, cells, attributes, **how):
    with h5py.File(path, "w") as file:
        file.create_dataset("v", data=cells, **how).attrs.update(attributes)


def write_files(folder, cells, attributes):
    write_netcdf(folder / "old.nc", "NETCDF3_CLASSIC", cells, attributes)
    write_netcdf(folder / "flat.nc4", "NETCDF4", cells, attributes, contiguous=True)
    write_netcdf(folder / "chunks.nc4", "NETCDF4", cells, attributes, chunksizes=CHUNK, zlib=True)
    write_hdf5(folder / "flat.h5", cells, attributes)
    write_hdf5(folder / "chunks.h5", cells.astype(cells.dtype.newbyteorder(">")), attributes, chunks=CHUNK)
    return ["old.nc:v", "flat.nc4:v", "chunks.nc4:v", "flat.h5:v", "chunks.h5:v"]


def test_cases(tally, tool):
    random = np.random.default_rng(1)
    for number, (code, attributes, read) in enumerate(CASES):
        cells = stored_cells(code, attributes)
        want = unpacked(cells, attributes, read, np.nan)
        for place in write_files(tool.folder, cells, attributes):
            what = f"case {number} {place}"
            tally.check(f"{what} raw", differences(tool.read(place), cells))
            tally.check(f"{what} nan", differences(tool.read(place, missing="nan", threads=3), want))
            box = random_box(random, SHAPE)
            tally.check(f"{what} {box}", differences(tool.read(place, box, missing="nan"), want[cut(box)]))
            filled = unpacked(cells, attributes, read, -5.5)
            tally.check(f"{what} replaced", differences(tool.read(place, missing=-5.5), filled))


def test_peer(tally, tool):
    """The same numbers as the netCDF library, where both follow the same rules."""
    for number in (0, 11, 18):
        code, attributes, read = CASES[number]
        cells = stored_cells(code, attributes)
        write_netcdf(tool.folder / "peer.nc", "NETCDF3_CLASSIC", cells, attributes)
        with netCDF4.Dataset(tool.folder / "peer.nc") as file:
            want = np.ma.filled(file["v"][...].astype(read), np.nan)
        tally.check(f"as netCDF4 reads case {number}", differences(tool.read("peer.nc:v", missing="nan"), want))


def test_unwritten(tally, tool):
    """Chunks that are not stored are missing too."""
    with h5py.File(tool.folder / "hole.h5", "w") as file:
        v = file.create_dataset("v", SHAPE, "i2", chunks=CHUNK, fillvalue=-1)
        v.attrs.update({"_FillValue": i2(-1), "scale_factor": f4(0.5)})
        v[:10, :16] = 8
    want = np.full(SHAPE, np.nan, "f4")
    want[:10, :16] = 4
    tally.check("chunks that are not stored", differences(tool.read("hole.h5:v", missing="nan"), want))
    tally.check("their fill value", [] if tool.info("hole.h5:v", "nan")["fill"] == "0000c07f" else ["it is no NaN"])


def test_zarr(tally, tool):
    """Numbers of JSON have no types: factors are f64."""
    cells = stored_cells("i2", CASES[0][1])
    attributes = {"scale_factor": 0.01, "add_offset": 5, "_FillValue": -32767}
    array = zarr.open(str(tool.folder / "p.zarr"), mode="w", shape=SHAPE, chunks=CHUNK, dtype="i2")
    array[...] = cells
    array.attrs.update(attributes)
    want = np.where(cells == -32767, np.nan, cells * 0.01 + 5)
    tally.check("Zarr", differences(tool.read("p.zarr", missing="nan", threads=2), want))
    reals = np.where(cells % 3 == 0, np.nan, cells / 7)
    for fill in (float("nan"), "NaN", "AAAAAAAA+H8="):
        array = zarr.open(str(tool.folder / "r.zarr"), mode="w", shape=SHAPE, chunks=CHUNK, dtype="f8")
        array[...] = reals
        array.attrs["_FillValue"] = fill
        want = np.where(np.isnan(reals), 2.0, reals)
        tally.check(f"Zarr, _FillValue {fill}", differences(tool.read("r.zarr", missing=2), want))


def test_directory(tally, tool):
    """Files that are packed alike are one array; others are refused, but for the numbers as they are."""
    (tool.folder / "days").mkdir()
    cells = stored_cells("i2", CASES[0][1])
    for day, offset in enumerate((1, 1)):
        write_hdf5(tool.folder / "days" / f"d{day}.h5", cells, {"add_offset": f4(offset)})
    want = np.concatenate([cells, cells]).astype("f4") + f4(1)
    tally.check("a directory", differences(tool.read("days", missing="nan"), want))
    write_hdf5(tool.folder / "days" / "d2.h5", cells, {"add_offset": f4(2)})
    said = tool.read("days", missing="nan")
    tally.check("files packed differently", [] if isinstance(said, str) and "d2.h5" in said else [said])
    tally.check("as they are", differences(tool.read("days"), np.concatenate([cells] * 3)))


def test_nonsense(tally, tool):
    """Attributes of the wrong kind say nothing; too many factors are refused."""
    cells = stored_cells("i2", {})
    write_hdf5(tool.folder / "n.h5", cells, {"scale_factor": "2", "_FillValue": "none", "_Unsigned": 1})
    tally.check("text for numbers", differences(tool.read("n.h5:v", missing="nan"), cells))
    write_hdf5(tool.folder / "n.h5", cells, {"scale_factor": np.array([1.0, 2.0])})
    said = tool.read("n.h5:v", missing="nan")
    tally.check("two factors", [] if isinstance(said, str) and "scale_factor" in said else [said])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    tally, folder = Tally(), tempfile.mkdtemp()
    try:
        tool = Tool(arguments.tool, folder)
        for test in (test_cases, test_peer, test_unwritten, test_zarr, test_directory, test_nonsense):
            test(tally, tool)
    finally:
        shutil.rmtree(folder)
    tally.finish()


if __name__ == "__main__":
    main()
