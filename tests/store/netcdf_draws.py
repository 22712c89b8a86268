"""netcdf_draws.py --tool STORE_TOOL [--files N] -- random files of netCDF4 and xarray, in all five formats, read as they
are stored and unpacked: all types, unlimited axes (several, empty, of different lengths in use), groups, chunks, filters,
byte orders, packing of every combination; text, lists and records are refused in one line."""

import argparse
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
import h5py
import netCDF4
import numpy as np
import xarray
from store_kit import Tool, cells, cut, differences, random_box
from tally import Tally

OLD = "i1 i2 i4 f4 f8".split()
NEW = OLD + "u1 u2 u4 i8 u8".split()
FORMATS = {"NETCDF4": NEW, "NETCDF4_CLASSIC": OLD, "NETCDF3_CLASSIC": OLD, "NETCDF3_64BIT_OFFSET": OLD,
           "NETCDF3_64BIT_DATA": NEW}


def some(random, items, chance=0.5):
    return [item for item in items if random.random() < chance]


def make_axes(random, group, several):
    """name -> length; the first is unlimited, in netCDF-4 others may be too."""
    axes = {}
    for i, name in enumerate(["time", "y", "x", "z"]):
        unlimited = i == 0 or (several and random.random() < 0.3)
        axes[name] = int(random.integers(0 if unlimited else 1, 7))
        group.createDimension(name, None if unlimited else axes[name])
    return axes


def storage(random, dims, shape, is_new):
    if not is_new or not dims:
        return {}
    options = {"zlib": bool(random.integers(2)), "shuffle": bool(random.integers(2)), "fletcher32": bool(random.integers(2)),
               "endian": str(random.choice(["native", "little", "big"]))}
    if random.integers(2) and all(shape):
        options["chunksizes"] = [int(random.integers(1, n + 1)) for n in shape]
    return options


def packing(random, code):
    """Attributes of cells of this type; packed cells are integers, for which netCDF4 and xarray mean the same."""
    chosen = {}
    kind, dtype = np.dtype(code).kind, np.dtype(code)
    if random.integers(3) == 0:
        return chosen
    value = dtype.type(random.integers(0, 100))
    for name in some(random, ["_FillValue", "missing_value"]):
        chosen[name] = value
    if kind == "i" and dtype.itemsize < 4 and random.integers(3) == 0:
        chosen["_Unsigned"] = str(random.choice(["true", "false"]))
    if dtype.itemsize <= 4:
        real = random.choice([np.float32, np.float64])
        for name in some(random, ["scale_factor", "add_offset"]):
            chosen[name] = real(random.choice([0.5, -2, 0.01, 3]))
    chosen |= {name: dtype.type(random.integers(0, 100)) for name in some(random, ["valid_min", "valid_max"], 0.2)}
    if random.random() < 0.2:
        chosen["valid_range"] = np.array([0, 100], dtype)
    return chosen


def make_variable(random, group, name, axes, codes, is_new):
    """What was written: fewer records than there are leave the rest as the library fills it."""
    code = str(random.choice(codes))
    dims = [axis for axis in axes if random.random() < 0.6]
    shape = [axes[axis] for axis in dims]
    attributes = packing(random, code)
    fill = attributes.pop("_FillValue", None)
    variable = group.createVariable(name, code, dims, fill_value=fill, **storage(random, dims, shape, is_new))
    variable.setncatts({"units": "K", **attributes})
    variable.set_auto_maskandscale(False)
    used = [int(random.integers(0, n + 1)) if group.dimensions[axis].isunlimited() and axes[axis] else n
            for axis, n in zip(dims, shape)]
    values = cells(random, code, used)
    if fill is not None and values.size:
        values = np.where(random.random(values.shape) < 0.2, np.dtype(code).type(fill), values).astype(code)
    variable[tuple(slice(0, n) for n in used)] = values


def make_longest(group, axes):
    """A variable that makes unlimited axes as long as they are to be."""
    for name, n in axes.items():
        variable = group.createVariable(f"along_{name}", "f8", (name,))
        if n:
            variable[0:n] = np.arange(n)


def make_others(random, group, axes):
    """Of netCDF-4: what no array of numbers is."""
    group.createVariable("words", str, ("y",))[:] = np.array(["a", "bcd", "", "é", "f", "g"][: axes["y"]], object)
    colours = group.createEnumType("u1", "colours", {"red": 0, "blue": 1})
    lists = group.createVLType("i4", "lists")
    records = group.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "records")
    for name, type in (("colour", colours), ("list", lists), ("record", records)):
        group.createVariable(name, type, ("x",))


def make_file(random, path, format):
    codes, is_new = FORMATS[format], format.startswith("NETCDF4")
    with netCDF4.Dataset(path, "w", format=format) as file:
        groups = [file]
        if format == "NETCDF4":
            groups += [file.createGroup(name) for name in some(random, ["g", "g/deep", "h"])]
        for group in groups:
            own = make_axes(random, group, several=format == "NETCDF4")
            make_longest(group, own)
            for i in range(int(random.integers(1, 5))):
                make_variable(random, group, f"v{i}", own, codes, is_new)
            if format == "NETCDF4":
                make_others(random, group, own)
            group.createDimension("letters", 5)
            group.createVariable("text", "S1", ("x", "letters"))[:] = b"a"


def make_by_xarray(random, path, format):
    """Packed by xarray itself, with times, truth values and text."""
    n, axes = int(random.integers(1, 6)), ("time", "x")
    cells = np.where(random.random((n, 4)) < 0.2, np.nan, random.integers(-50, 50, (n, 4)) / 2)
    data = xarray.Dataset({name: (axes, cells.astype(code)) for name, code in (("a", "f4"), ("b", "f8"), ("c", "f8"))})
    data["yes"], data["words"] = (axes, cells > 0), (("x",), np.array(["a", "bc", "é", ""]))
    data["day"], data["one"] = ("time", np.datetime64("2001-01-01") + np.arange(n)), ((), 2.5)
    packed = {"dtype": "i2", "scale_factor": 0.5, "add_offset": float(random.integers(-9, 9)), "_FillValue": -32768}
    packed |= {"_Unsigned": "true", "_FillValue": 65535} if random.integers(2) and "CLASSIC" not in format else {}
    encoding = {"a": packed, "b": {"_FillValue": -999.0}, "day": {"dtype": "f8"}}
    data.to_netcdf(path, format=format, encoding=encoding, unlimited_dims=some(random, ["time"]), engine="netcdf4")


def check_refused(tally, tool, place, what):
    """Of no cells nothing is wrong."""
    out, said = tool.run("read", place)
    tally.check(f"{what} is refused", [] if said or out == b"" and "0" in tool.info(place)["shape"].split() else ["it is not"])


def as_stored(path, inside, want):
    """netCDF-4 shows fill values behind the end of a variable that is shorter than an unlimited axis; HDF5, and Arras, see it
    as long as it is stored."""
    with h5py.File(path) as file:
        cells = file[inside][()]
    return None if cells.shape == want.shape else cells


def check_variable(tally, tool, random, place, variable, decoded, what):
    variable.set_auto_maskandscale(False)
    want = np.asarray(variable[...])
    path, _, inside = place.partition(":")
    short = as_stored(tool.folder / path, inside, want) if variable.group().data_model.startswith("NETCDF4") else None
    if short is not None:
        want, decoded = short, None
    tally.check(what, differences(tool.read(place), want))
    box = random_box(random, want.shape)
    if want.ndim:
        tally.check(f"{what} {box}", differences(tool.read(place, box), want[cut(box)]))
    if decoded is not None:
        check_decoded(tally, tool.read(place, missing="nan"), decoded, what)


def check_decoded(tally, got, want, what):
    """The numbers of xarray, which may choose another type for them."""
    same = not isinstance(got, str) and got.shape == want.shape and np.allclose(
        got.astype("f8"), want.astype("f8"), rtol=1e-5, atol=1e-6, equal_nan=True)
    tally.check(f"{what} unpacked", [] if same else [f"{got if isinstance(got, str) else got.ravel()[:6]}, not {want.ravel()[:6]}"])


def groups_of(file, path=""):
    yield path, file
    for name, group in file.groups.items():
        yield from groups_of(group, f"{path}/{name}")


def check_file(tally, tool, random, name, format):
    path = tool.folder / name
    with netCDF4.Dataset(path) as file:
        for where, group in groups_of(file):
            # xarray knows no classes of types but those of NumPy.
            strange = [v for v in group.variables if v in ("colour", "list", "record")]
            with xarray.open_dataset(path, group=where or None, engine="netcdf4", decode_times=False, decode_coords=False,
                                     drop_variables=[*strange, "words", "text"]) as data:
                for variable in group.variables.values():
                    inside = f"{where}/{variable.name}" if where or format.startswith("NETCDF4") else variable.name
                    what = f"{name} ({format}) {inside} {variable.dtype}{variable.shape} { {k: variable.getncattr(k) for k in variable.ncattrs()} }"
                    if variable.name in ("words", "text", "list", "record"):
                        check_refused(tally, tool, f"{name}:{inside}", what)
                    else:  # enums are their numbers
                        decoded = data[variable.name].values if variable.name in data.variables else None
                        check_variable(tally, tool, random, f"{name}:{inside}", variable, decoded, what)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--files", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tally, random = Tally(), np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(arguments.tool, folder)
        for number in range(arguments.files):
            format = list(FORMATS)[number % len(FORMATS)]
            name = f"draw{number}.nc"
            make_file(random, tool.folder / name, format)
            check_file(tally, tool, random, name, format)
            name, format = f"xarray{number}.nc", format.replace("NETCDF3_64BIT_DATA", "NETCDF3_64BIT").replace("_OFFSET", "")
            make_by_xarray(random, tool.folder / name, format)
            check_file(tally, tool, random, name, format)
    tally.finish()


main()
