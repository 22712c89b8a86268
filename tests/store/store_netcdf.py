"""store_netcdf.py --tool STORE_TOOL -- netCDF classic files (CDF-1, CDF-2, CDF-5) as Arras reads them, against the
netCDF library, and damaged ones."""

import argparse
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
import netCDF4
import numpy as np
from store_kit import Tool, cells, cut, differences, random_box
from tally import Tally

FORMATS = {"NETCDF3_CLASSIC": 1, "NETCDF3_64BIT_OFFSET": 2, "NETCDF3_64BIT_DATA": 5}
OLD = "i1 i2 i4 f4 f8".split()
NEW = OLD + "u1 u2 u4 i8 u8".split()


def make(path, format, variables, records=3):
    """A file with variables name -> (type, dimensions); what was written, by name."""
    random = np.random.default_rng(len(variables))
    written = {}
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("time", None)
        for name, length in (("y", 5), ("x", 7)):
            file.createDimension(name, length)
        file.title = "a title"
        for name, (code, axes) in variables.items():
            file.createVariable(name, code, axes)
        for name, (code, axes) in variables.items():
            variable = file[name]
            variable.set_auto_maskandscale(False)
            shape = [records if axis == "time" else len(file.dimensions[axis]) for axis in axes]
            written[name] = cells(random, code, shape) if code != "S1" else None
            if code != "S1":
                variable[...] = written[name]
    return written


def check_file(tally, tool, name, written, what):
    random = np.random.default_rng(1)
    for variable, want in written.items():
        if want is None:
            continue
        place = f"{name}:{variable}"
        tally.check(f"{what} {variable}", differences(tool.read(place), want))
        for _ in range(2 if want.ndim else 0):
            box = random_box(random, want.shape)
            tally.check(f"{what} {variable} {box}", differences(tool.read(place, box), want[cut(box)]))


def test_formats(tally, tool):
    for format, version in FORMATS.items():
        codes = NEW if version == 5 else OLD
        variables = {f"fixed_{code}": (code, ("y", "x")) for code in codes}
        variables |= {f"record_{code}": (code, ("time", "y")) for code in codes}
        variables |= {f"deep_{code}": (code, ("time", "y", "x")) for code in codes[:2]}
        variables |= {"time": ("f8", ("time",)), "scalar": ("i4", ()), "text": ("S1", ("x",))}
        name = f"all_{version}.nc"
        check_file(tally, tool, name, make(tool.folder / name, format, variables), f"CDF-{version}")
        out, said = tool.run("list", name)
        lines = out.decode().splitlines()
        complaints = [] if len(lines) == len(variables) and "record_f4\tf32[3, 5]\tnetCDF classic" in lines else lines
        tally.check(f"CDF-{version}: list", complaints)
        said = tool.read(f"{name}:text")
        tally.check(f"CDF-{version}: text", [] if isinstance(said, str) else ["accepted"])
    # A record of a single variable is not filled up to a multiple of 4 bytes.
    for code, axes in (("i1", ("time", "y")), ("i2", ("time", "x")), ("i1", ("time",)), ("f8", ("time", "x"))):
        name = f"single_{code}_{len(axes)}.nc"
        written = make(tool.folder / name, "NETCDF3_CLASSIC", {"v": (code, axes), "fixed": ("i1", ("x",))}, records=9)
        check_file(tally, tool, name, written, f"one record variable of {code}")


def test_records(tally, tool):
    """Records that are not counted, and none at all."""
    written = make(tool.folder / "stream.nc", "NETCDF3_CLASSIC", {"a": ("i2", ("time", "y")), "b": ("f8", ("time",))})
    data = (tool.folder / "stream.nc").read_bytes()
    (tool.folder / "stream.nc").write_bytes(data[:4] + b"\xff" * 4 + data[8:])
    check_file(tally, tool, "stream.nc", written, "records that are not counted")
    make(tool.folder / "none.nc", "NETCDF3_CLASSIC", {"a": ("i2", ("time", "y"))}, records=0)
    tally.check("no records", differences(tool.read("none.nc:a"), np.zeros((0, 5), "i2")))
    (tool.folder / "stream.nc").write_bytes(data[:4] + struct.pack(">I", 2**30) + data[8:])
    said = tool.read("stream.nc:a")
    tally.check("more records than there are", [] if isinstance(said, str) and "cut off" in said else [str(said)])


def test_attributes(tally, tool):
    path = tool.folder / "named.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("lat", 3)
        variable = file.createVariable("lat", "f4", ("lat",))
        variable.units = "degrees_north"
        variable = file.createVariable("t", "i2", ("lat",), fill_value=-9)
        variable.set_auto_maskandscale(False)
        variable[:] = [1, -9, 3]
        variable.setncatts({"scale_factor": 0.25, "valid_range": np.array([1, 5], "i2"), "note": "two\nlines"})
    info = tool.info("named.nc")
    want = {"axes": "'lat'", "fill": "f7ff", "scale_factor": "0.25", "valid_range": "[1, 5]", "note": "two lines",
            "_FillValue": "-9", "stored": "big-endian i16", "format": "netCDF classic"}
    wrong = [f"{key}: {info.get(key)} instead of {value}" for key, value in want.items() if info.get(key) != value]
    tally.check("attributes; the only variable that holds no coordinates", wrong)
    said = tool.info("named.nc:x").get("error", "")
    tally.check("no such variable", [] if "lat, t" in said else [said])


def test_large(tally, tool):
    """Rows with gaps between them, and pieces of more than what is read at once."""
    with netCDF4.Dataset(tool.folder / "large.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name, length in (("time", None), ("y", 700), ("x", 900)):
            file.createDimension(name, length)
        for name in "ab":
            file.createVariable(name, "f4", ("time", "y", "x"))
        want = np.arange(3 * 700 * 900, dtype="f4").reshape(3, 700, 900)
        file["a"][:] = want
        file["b"][:] = -want
    for box in (None, [(0, 3), (0, 700), (4, 5)], [(1, 3), (3, 690), (100, 800)], [(2, 3), (699, 700), (0, 900)],
                [(0, 3), (350, 351), (450, 452)]):
        part = cut(box) if box else ...
        tally.check(f"large, {box}", differences(tool.read("large.nc:b", box), -want[part]))


def test_damage(tally, tool):
    make(tool.folder / "bad.nc", "NETCDF3_CLASSIC", {"a": ("i2", ("time", "y")), "b": ("f8", ("x",))})
    path = tool.folder / "bad.nc"
    good = path.read_bytes()
    silent = []
    for end in range(0, len(good), 9):
        path.write_bytes(good[:end])
        for variable in "ab":
            silent += [] if isinstance(tool.read(f"bad.nc:{variable}"), str) or end > 200 else [f"cut off at {end}"]
    random = np.random.default_rng(5)
    for _ in range(250):
        at, value = int(random.integers(0, min(len(good), 300))), int(random.choice([0, 1, 127, 128, 255]))
        path.write_bytes(good[:at] + bytes([value]) + good[at + 1 :])
        tool.run("list", "bad.nc")
        tool.run("read", "bad.nc:a", "0:1,0:1")
    tally.check("damaged files", silent)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    tally, folder = Tally(), tempfile.mkdtemp()
    try:
        tool = Tool(arguments.tool, folder)
        test_formats(tally, tool)
        test_records(tally, tool)
        test_attributes(tally, tool)
        test_large(tally, tool)
        test_damage(tally, tool)
    finally:
        shutil.rmtree(folder)
    tally.finish()


if __name__ == "__main__":
    main()
