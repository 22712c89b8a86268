"""others_open.py --command ARRAS [--draws N] -- what `arras run --attributes-from` writes is opened by netCDF (ncdump,
netCDF4), by xarray and by zarr-python, with the cells, the axes and the attributes that it should have: random sets of
results of any rank, type and name, of sources of every format, into one file or group."""

import base64
import json
import shutil
import struct
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True
from command_kit import Scratch, options

import netCDF4
import numpy as np
import xarray
import zarr
from tally import Tally

AXES = {"time": 2, "lat": 3, "lon": 4}
GAP = -999.5
# What is computed of t[time, lat, lon]; which axes it has of t's, None where they are none of these; the same by NumPy.
RESULTS = [
    ("[i,j,k] = t[i,j,k]*2", ("time", "lat", "lon"), lambda t: t * 2),
    ("[i,j,k] = i16(t[i,j,k])", ("time", "lat", "lon"), lambda t: t.astype("i2")),
    ("[i,j:2,k] = t[i,j,k]", ("time", None, "lon"), lambda t: t[:, :2]),
    ("[k,j,i] = t[i,j,k]", (None, "lat", None), lambda t: t.T),
    (" = f64(mean(t))", (), lambda t: t.mean(dtype="f8")),
    ("[k] = t[0,0,k]", (None,), lambda t: t[0, 0]),
    ("[j] = t[0,j,0] + 1", (None,), lambda t: t[0, :, 0] + 1),
    ("[i] = i32(i + sum[j,k] t[i,j,k])", (None,), lambda t: (np.arange(2) + t.sum((1, 2))).astype("i4")),
    ("[j,k] = max[i] t[i,j,k]", (None, None), lambda t: t.max(0)),
    ("[p:3,q:3] = u8(p + q)", (None, None), lambda t: np.add.outer(np.arange(3), np.arange(3)).astype("u1")),
    ("[p:3] = i32(0*p)", (None,), lambda t: np.zeros(3, "i4")),
    ("[i,j,k,l:2] = t[i,j,k] - f32(l)", (None,) * 4, lambda t: np.stack([t, t - 1], -1)),
]
NAMES = ["a", "b", "c", "lat", "lon", "time"]


def cells_of_t():
    """Small whole numbers, zeros too."""
    return (np.arange(24).reshape(2, 3, 4) % 7).astype("f4")


def write_sources(scratch):
    """One array, with coordinates and a value for what is missing that no cell has, as several programs write it."""
    t = xarray.DataArray(cells_of_t(), dims=list(AXES), attrs={"units": "K", "range": [1.5, 9]})
    data = xarray.Dataset({"t": t}, coords={name: (name, 10.0 * np.arange(n)) for name, n in AXES.items()})
    filled = {"t": {"_FillValue": np.float32(GAP)}}
    data.to_netcdf(scratch / "four.nc", encoding=filled, unlimited_dims=["time"])
    data.to_netcdf(scratch / "classic.nc", format="NETCDF3_64BIT", encoding=filled)
    data.to_zarr(scratch / "two.zarr", encoding=filled, consolidated=False)
    said = scratch.run("run", "t = x", "x=four.nc:t@raw", "-o", "t=three.zarr:t", "--attributes-from", "x")
    return [said.err] if said.status else []


def check_packed(scratch, tally):
    """xarray says in the fill value of version 2 what is missing, of packed cells and of others; 0 of cells that are not
    packed is what everybody else has there."""
    t = np.where(np.arange(24).reshape(2, 3, 4) % 5 == 0, np.nan, cells_of_t())
    encodings = {"packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -7}, "zero": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": 0},
                 "real": {"_FillValue": -1.0}, "whole": {"dtype": "i4", "_FillValue": -9}}
    data = xarray.Dataset({name: (list(AXES), t + 1) for name in encodings})
    data.to_zarr(scratch / "packed.zarr", encoding=encodings, consolidated=False)
    for name in encodings:
        said = scratch.run("run", "y = f64(x)", f"x=packed.zarr:{name}", "-o", "y=packed.npy", "-q")
        same = said.status == 0 and np.array_equal(np.load(scratch / "packed.npy"), t + 1, equal_nan=True)
        tally.check(f"{name} of xarray", [] if same else [said.err or "other cells"])


SOURCES = ["four.nc:t", "classic.nc:t", "two.zarr:/t", "three.zarr:/t"]


def draw(random):
    """A source, and some results: (name, axes, cells)."""
    count = int(random.integers(1, 6))
    names = random.permutation(NAMES)[:count]
    chosen = [RESULTS[i] for i in random.integers(0, len(RESULTS), count)]
    return SOURCES[random.integers(len(SOURCES))], list(zip(names, chosen))


def run(scratch, sink, source, results, raw):
    program = "; ".join(name + text for name, (text, _, _) in results)
    outputs = [word for name, _ in results for word in ("-o", f"{name}={sink}:{name}")]
    said = scratch.run("run", program, f"t={source}{'@raw' if raw else ''}", *outputs, "--attributes-from", "t", "-q")
    return [said.err] if said.status or said.err else []


def wanted_axes(name, axes, shape):
    """A line called as an axis of t is that axis."""
    return (name,) if len(shape) == 1 and AXES.get(name) == shape[0] else axes


def taken_names(results):
    """Names of axes that results have which are not lines of this length."""
    shapes = {name: np.shape(numpy(cells_of_t())) for name, (_, _, numpy) in results}
    return {name for name, shape in shapes.items() if name in AXES and shape != (AXES[name],)}


def axes_complaints(results, got):
    shapes, taken, wrong = {name: np.shape(numpy(cells_of_t())) for name, (_, _, numpy) in results}, taken_names(results), []
    for name, (_, axes, _) in results:
        want = wanted_axes(name, axes, shapes[name])
        if len(got[name]) != len(want) or len(set(got[name])) != len(want) or any("phony" in axis for axis in got[name]):
            wrong.append(f"{name} has the axes {got[name]}")
        wrong += [f"{name} has {g}, not {w}" for g, w in zip(got[name], want) if w and w not in taken and g != w]
        wrong += [f"{name} of lengths {shapes[name]} has {g}" for g, w, n in zip(got[name], want, shapes[name])
                  if g in AXES and g not in taken and AXES[g] != n]
    return wrong


def cells_complaints(results, read):
    wrong = []
    for name, (_, _, numpy) in results:
        got, want = np.asarray(read(name)), np.asarray(numpy(cells_of_t()))
        if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
            wrong.append(f"{name}: {got.dtype}{got.shape} instead of {want.dtype}{want.shape}")
    return wrong


def fill_complaints(results, raw, fill_of):
    """Cells as they are stored keep what says which are missing, if the type is the same; no others have it."""
    wrong = []
    for name, (_, _, numpy) in results:
        got, same = fill_of(name), raw and np.asarray(numpy(cells_of_t())).dtype == np.float32
        if (got is not None) != same or (same and (got != GAP or np.asarray(got).dtype not in ("f4", "f8"))):
            wrong.append(f"{name}: _FillValue is {got!r}")
    return wrong


def netcdf_complaints(scratch, sink, results, raw):
    path = scratch / sink
    dumped = subprocess.run(["ncdump", path], capture_output=True, text=True)
    wrong = [dumped.stderr] if dumped.returncode or dumped.stderr else []
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        wrong += cells_complaints(results, lambda name: file[name][...])
        wrong += axes_complaints(results, {name: file[name].dimensions for name, _ in results})
        wrong += fill_complaints(results, raw, lambda name: getattr(file[name], "_FillValue", None))
        wrong += [f"{name} has no units" for name, _ in results if getattr(file[name], "units", None) != "K"]
        wrong += [f"{name}: a _FillValue of another type" for name, _ in results
                  if "_FillValue" in file[name].ncattrs() and file[name].getncattr("_FillValue").dtype != file[name].dtype]
    with xarray.open_dataset(path, engine="netcdf4", mask_and_scale=False, decode_times=False) as data:
        wrong += cells_complaints(results, lambda name: data[name].values)
    return wrong


def zarr2_complaints(scratch, sink, results, raw):
    group = zarr.open_group(str(scratch / sink), mode="r")
    wrong = cells_complaints(results, lambda name: group[name][...])
    with xarray.open_zarr(str(scratch / sink), consolidated=False, mask_and_scale=False, decode_times=False) as data:
        wrong += cells_complaints(results, lambda name: data[name].values)
        wrong += axes_complaints(results, {name: data[name].dims for name, _ in results})
        wrong += fill_complaints(results, raw, lambda name: group[name].attrs.get("_FillValue"))
    with xarray.open_zarr(str(scratch / sink), consolidated=False, decode_times=False) as data:
        wrong += [f"{name}: what is there is missing" for name, _ in results
                  if data[name].dtype.kind == "f" and np.isnan(data[name].values).any()]
    return wrong


def zarr3_complaints(scratch, sink, results, raw):
    """What xarray does with version 3, which not every xarray knows."""
    meta = {name: json.loads((scratch / sink / name / "zarr.json").read_text()) for name, _ in results}
    wrong = axes_complaints(results, {name: m.get("dimension_names") or () for name, m in meta.items()})

    def fill_of(name):
        stored = meta[name]["attributes"].get("_FillValue")
        return stored if stored is None else struct.unpack("<d", base64.standard_b64decode(stored))[0]

    lengths = {}
    for name, m in meta.items():
        for axis, n in zip(m.get("dimension_names") or (), m["shape"]):
            if lengths.setdefault(axis, n) != n:
                wrong.append(f"{axis} has {lengths[axis]} cells and {n}")
    return wrong + fill_complaints(results, raw, fill_of)


def prepare(scratch, sink):
    if (scratch / sink).is_dir():
        shutil.rmtree(scratch / sink)
    else:
        (scratch / sink).unlink(missing_ok=True)
    if sink == "two_out.zarr":
        zarr.open_group(str(scratch / sink), mode="w")


def main():
    arguments = options(__doc__, ("draws", 12))
    warnings.simplefilter("ignore")
    tally, random = Tally(), np.random.default_rng(23)
    looks = {"out.nc": netcdf_complaints, "out.h5": netcdf_complaints, "two_out.zarr": zarr2_complaints,
             "three_out.zarr": zarr3_complaints}
    with Scratch(arguments.command) as scratch:
        tally.check("sources", write_sources(scratch))
        check_packed(scratch, tally)
        for number in range(arguments.draws):
            source, results = draw(random)
            raw = bool(random.integers(2))
            for sink, complaints in looks.items():
                if "zarr" in sink and taken_names(results):
                    continue  # for xarray an axis and what is called so are one thing; a file of HDF5 has room for both
                prepare(scratch, sink)
                what = f"{number}: {sink} of {source}{'@raw' if raw else ''}: " + "; ".join(n + text for n, (text, _, _) in results)
                tally.check(what, run(scratch, sink, source, results, raw) or complaints(scratch, sink, results, raw))
    tally.finish()


main()
